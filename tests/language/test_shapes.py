"""Shape strings: what is accepted, and errors that point at the place."""

from __future__ import annotations

import pytest

from symres.errors import UsageError
from symres.kernel.terms import Num, Size
from symres.language.shapes import Shape, annotated_shape, parse_shape, parse_shapes

B, D, H, E = Size("B"), Size("D"), Size("H"), Size("E")


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("B D", Shape(((B,), (D,)))),
        ("", Shape()),
        ("B 3 1", Shape(((B,), (Num(3),), ()))),
        ("H*E 2*D", Shape(((H, E), (Num(2), D)))),
        ("B int D", Shape(((B,),), "int", D)),
        ("B int 10", Shape(((B,),), "int", Num(10))),
        ("int D", Shape((), "int", D)),
        ("B D bool", Shape(((B,), (D,)), "bool")),
        ("positive", Shape((), "positive")),
        ("int", Shape((), "size")),
        ("int = D", Shape((), "size", D)),
    ],
)
def test_shapes(text: str, shape: Shape) -> None:
    assert parse_shape(text) == shape
    assert parse_shape(str(shape)) == shape


def test_a_whole_string() -> None:
    shapes = parse_shapes("x: B D, gamma: D,\n s: , p.W: D H")
    assert {name: str(shape) for name, shape in shapes.items()} == {"x": "B D", "gamma": "D", "s": "", "p.W": "D H"}
    assert parse_shapes(None) == {}
    assert parse_shapes({"x": "B D"}) == {"x": shapes["x"]}


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("x: B D, gamma D", "'gamma D' has no colon", 8),
        ("x: B, x: D", "'x' is given twice", 6),
        ("x: B-1 D", "'B-1' in the shape of 'x' is no length", 3),
        ("x: N 0", "'0' in the shape of 'x' is no length", 5),
        ("x: B, y: N int", "the integers of 'y' need a bound", 11),
        ("x: N bool D", "'D' stands after the kind of 'x'", 10),
        ("2x: N", "'2x' is not the name of an argument", 0),
        ("x: __import__('os')", "is no length", 3),
    ],
)
def test_errors_point_at_the_place(text: str, message: str, column: int) -> None:
    with pytest.raises(UsageError) as caught:
        parse_shapes(text)
    assert message in caught.value.message
    shown, mark = caught.value.remedy.splitlines()[:2]
    assert shown == f"  {text}"
    assert mark.index("^") == column + 2


class Jaxtyping:
    """What jaxtyping's annotations look like from outside."""

    dim_str = "B D"
    __name__ = "Float[Array, 'B D']"


@pytest.mark.parametrize(
    ("annotation", "shape"),
    [
        ("B D", "B D"),
        ("", ""),
        ("D", "D"),
        ("'B 3 D'", "B 3 D"),
        ('Float[Array, "B D"]', "B D"),
        ("jt.Bool[np.ndarray, 'B']", "B bool"),
        ("N int C", "N int C"),
        (Jaxtyping(), "B D"),
        ("np.ndarray", None),
        ("float", None),
        ("int", None),
        ("Tensor", None),
        ("Optional[np.ndarray]", None),
        (float, None),
    ],
)
def test_annotations(annotation: object, shape: str | None) -> None:
    found = annotated_shape(annotation, "x")
    assert (None if found is None else str(found)) == shape


def test_integers_without_a_bound_are_refused() -> None:
    with pytest.raises(UsageError, match="gives no bound"):
        annotated_shape('Int[Array, "B"]', "y")
