"""Shapes that nobody gave: found from the code, and such that the trace agrees with NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from symres.errors import UsageError
from symres.trace.run import trace, trace_pair
from symres.trace.signals import NeedsConcreteSizes
from tests.trace.checking import check, example

ROWS: list[tuple[str, str | None, dict[str, Any] | None, str]] = [
    ("layers:normalise", "layers:normalise_back", None, "x: N D, gamma: D, beta: D"),
    ("layers:batchnorm", "layers:batchnorm_back", {"bn_param": {"mode": "train"}}, "x: N D, gamma: D, beta: D"),
    ("layers:Dense", None, None, "x: N n_in, W: n_in n_out, b: n_out, n_in: int, n_out: int"),
    ("layers:Square", None, None, "x: N D, w: D"),
    ("layers:gelu", "layers:gelu_back", None, "x: N D"),
    ("layers:dense", "layers:dense_back", None, "x: N D, w: D M"),
    ("layers:onehot_loss", None, None, "x: N D, y: N int D"),
    ("layers:heads", "layers:heads_back", None, "x: B T H*M, H: int"),
    ("loops:affine", "loops:affine_back", None, "x: N D, w: D M, b: M"),
    ("loops:conv1d", "loops:conv1d_back", None, "x: N C W, w: F C K, b: F"),
    ("loops:embedding", "loops:embedding_back", None, "ids: N int C, W: C D"),
    ("loops:softmax_rows", "loops:softmax_rows_back", None, "x: N D"),
]


@pytest.mark.parametrize(("forward", "backward", "values", "shapes"), ROWS)
def test_shapes_are_inferred(forward: str, backward: str | None, values: dict[str, Any] | None, shapes: str) -> None:
    pair = example(forward), example(backward) if backward else None
    assert trace_pair(*pair, set=values).shapes == shapes


def test_given_shapes_stay() -> None:
    traced = check(example("layers:BatchNorm"), shapes="x: A B")
    assert "gamma: B" in traced.shapes
    assert "dim: int = B" in traced.shapes


def test_a_recurrence_tells_its_shapes() -> None:
    with pytest.raises(NeedsConcreteSizes) as caught:
        trace_pair(example("recurrent:rnn"), example("recurrent:rnn_back"))
    assert caught.value.shapes == "x: T N D, h0: N M, wx: D M, wh: M M"


def test_a_docstring_is_a_hint_only(tmp_path: Path) -> None:
    file = tmp_path / "layer.py"
    file.write_text('''def f(a, b):
    """
    a: array of shape (P, Q, R)
    b: array of shape (P,)   (which is false)
    """
    P, Q, R = a.shape
    return a.reshape(P, Q * R) @ b
''')
    program = trace(f"{file}:f")
    assert [repr(dim) for dim in program.inputs["a"].dims] == ["P", "Q", "R"]
    assert [repr(dim) for dim in program.inputs["b"].dims] == ["Q", "R"]


def test_what_cannot_be_inferred_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "layer.py"
    file.write_text("def f(x, mode):\n    return x if mode == 'id' else -x\n")
    with pytest.raises(UsageError, match="no shape is given for the argument 'mode'"):
        trace(f"{file}:f")
    assert trace(f"{file}:f", set={"mode": "id"}).outputs
