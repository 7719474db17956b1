"""Shapes as people write them: ``"x: B T D, gamma: D, y: B int C, mask: B T bool, eps: positive"``.

A shape lists the lengths of the axes, outermost first: a name is a symbolic size, a number a fixed length, ``H*E`` an
axis of length H·E. A word for the kind of the entries may follow: ``positive``, ``nonnegative``, ``bool``, or ``int C``
for integers in [0, C). The empty shape is a scalar; ``int`` by itself is an integer that is not known, a size, and
``int = D`` one that is the size D. The text is parsed, never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from symres.errors import UsageError
from symres.kernel.terms import ONE, Num, Size, Tensor, Term, mul
from symres.language.program import Axis

KINDS = ("positive", "nonnegative", "bool", "int", "real")
_WORD = re.compile(r"\S+")
_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")
_SIZE = re.compile(r"[^\W\d]\w*")
_EXAMPLE = 'Write shapes as in "x: B T D, gamma: D, y: B int C, mask: B T bool".'
_TYPES = frozenset(
    {"float", "int", "bool", "str", "tuple", "dict", "list", "object", "complex", "callable", "None", "ndarray"}
    | {"Any", "Array", "ArrayLike", "NDArray", "Tensor", "Callable", "Optional", "Union", "Self"}
)


@dataclass(frozen=True)
class Shape:
    """The axes of an argument, and what its entries are (see :class:`~symres.kernel.terms.Tensor` for the kinds).

    ``kind`` ``size`` is an integer argument that stands for a symbolic size: its own, or the one that ``bound`` gives.
    """

    axes: tuple[Axis, ...] = ()
    kind: str = "real"
    bound: Term | None = None

    @property
    def dims(self) -> tuple[Term, ...]:
        """The atomic sizes."""
        return tuple(atom for axis in self.axes for atom in axis)

    def tensor(self, name: str) -> Tensor:
        """The tensor symbol of an argument of this shape."""
        return Tensor(name, self.dims, self.kind, self.bound)

    def read(self, rule: Callable[[Term], tuple[Term, ...]]) -> Shape:
        """The shape with each atomic size replaced by those of which it is the product; lengths of 1 are dropped."""

        def atoms(term: Term) -> tuple[Term, ...]:
            return tuple(atom for atom in rule(term) if atom is not ONE)

        axes = tuple(tuple(new for atom in axis for new in atoms(atom)) for axis in self.axes)
        return replace(self, axes=axes, bound=None if self.bound is None else mul(*rule(self.bound)))

    def __str__(self) -> str:
        words = ["*".join(repr(atom) for atom in axis) or "1" for axis in self.axes]
        if self.kind in ("int", "size"):
            sign = ["="] if self.kind == "size" else []
            words += ["int"] if self.bound is None else ["int", *sign, repr(self.bound)]
        elif self.kind != "real":
            words.append(self.kind)
        return " ".join(words)


def parse_shapes(shapes: str | Mapping[str, str | Shape] | None) -> dict[str, Shape]:
    """The shape of each argument, from one text ``"x: B D, gamma: D"`` or a mapping of names to shapes.

    Raises:
        UsageError: naming the argument and pointing at the place in the text.
    """
    if shapes is None:
        return {}
    if not isinstance(shapes, str):
        return {name: one if isinstance(one, Shape) else parse_shape(one, name) for name, one in shapes.items()}
    found: dict[str, Shape] = {}
    position = 0
    for part in re.split(r"([,;\n])", shapes):
        if part.strip(" \t,;\n"):
            name, colon, rest = part.partition(":")
            at = position + len(name) - len(name.lstrip())
            name = name.strip()
            if not colon:
                _fail(f"{part.strip()!r} has no colon between name and shape", shapes, at)
            if not _NAME.fullmatch(name):
                _fail(f"{name!r} is not the name of an argument", shapes, at)
            if name in found:
                _fail(f"the argument {name!r} is given twice", shapes, at)
            found[name] = parse_shape(rest, name, shapes, position + part.index(":") + 1)
        position += len(part)
    return found


def parse_shape(text: str, name: str = "", whole: str | None = None, offset: int = 0) -> Shape:
    """One shape; ``whole`` and ``offset`` say where it stands, for the message.

    Raises:
        UsageError: for a word that is no length and no kind.
    """
    whole = text if whole is None else whole
    words = [(found.group(), offset + found.start()) for found in _WORD.finditer(text)]
    lengths = next((k for k, (word, _) in enumerate(words) if word in KINDS), len(words))
    axes = tuple(_axis(word, name, whole, at) for word, at in words[:lengths])
    if lengths == len(words):
        return Shape(axes)
    (kind, at), rest = words[lengths], words[lengths + 1 :]
    bound = None
    if kind == "int" and not axes and [word for word, _ in rest[:1]] == ["="] and len(rest) > 1:
        return Shape((), "size", mul(*_axis(rest[1][0], name, whole, rest[1][1])))
    if kind == "int" and rest:
        bound = mul(*_axis(rest[0][0], name, whole, rest[0][1]))
        rest = rest[1:]
    elif kind == "int":
        if axes:
            _fail(f"the integers of {name!r} need a bound", whole, at, "Write N int C for integers in [0, C).")
        kind = "size"
    if rest:
        _fail(f"{rest[0][0]!r} stands after the kind of {name!r}", whole, rest[0][1])
    return Shape(axes, kind, bound)


def _axis(word: str, name: str, whole: str, at: int) -> Axis:
    atoms: list[Term] = []
    for factor in word.split("*"):
        if factor.isdecimal() and int(factor) > 0:
            atoms += [Num(int(factor))] if int(factor) > 1 else []
        elif _SIZE.fullmatch(factor):
            atoms.append(Size(factor))
        else:
            what = f"{word!r} in the shape of {name!r}" if name else repr(word)
            _fail(f"{what} is no length", whole, at, f"A length is a name, a number, or a product H*E. {_EXAMPLE}")
    return tuple(atoms)


def _fail(message: str, whole: str, at: int, remedy: str = _EXAMPLE) -> NoReturn:
    """Raise an error that repeats the text with a mark under the place."""
    line_start = whole.rfind("\n", 0, at) + 1
    line = whole[line_start:].split("\n", 1)[0]
    raise UsageError(message, remedy=f"  {line}\n  {' ' * (at - line_start)}^\n{remedy}")


# ---------------------------------------------------------------- annotations

_SUBSCRIPT = re.compile(r"""(?:\w+\.)*(\w+)\[.*,\s*(["'])(.*?)\2\s*\]""", re.DOTALL)
_KIND_OF_TYPE = {"Bool": "bool", "Int": "int", "Integer": "int", "UInt": "int", "Int32": "int", "Int64": "int"}
_PLAIN_WORD = re.compile(r"\d+|[A-Z][A-Z0-9_]*|[A-Za-z]\w{0,2}|[\w*]+\*[\w*]+")


def annotated_shape(annotation: Any, name: str = "") -> Shape | None:
    """The shape in an annotation: ``x: "B D"``, or jaxtyping's ``Float[Array, "B D"]`` as an object or as text.

    Returns:
        ``None`` for an annotation that speaks of something else.

    Raises:
        UsageError: for a jaxtyping shape with axes that symres does not know, such as ``*batch``.
    """
    dims = getattr(annotation, "dim_str", None)
    if isinstance(dims, str):
        return _typed(getattr(annotation, "__name__", "").split("[")[0], dims, name)
    if not isinstance(annotation, str):
        return None
    text = annotation.strip()
    if not text:
        return Shape()
    found = _SUBSCRIPT.fullmatch(text)
    if found is not None:
        return _typed(found.group(1), found.group(3), name)
    if len(text) >= 2 and text[0] in "\"'" and text[-1] == text[0]:
        return parse_shape(text[1:-1], name)
    words = text.split()
    if any(word in _TYPES and word not in KINDS for word in words) or words in (["int"], ["bool"]):
        return None
    if all(_PLAIN_WORD.fullmatch(word) or word in KINDS for word in words):
        return parse_shape(text, name)
    return None


def _typed(head: str, dims: str, name: str) -> Shape:
    """A jaxtyping shape; the bound of its integers is not in it."""
    shape = parse_shape(dims, name)
    kind = _KIND_OF_TYPE.get(head)
    if kind == "int":
        raise UsageError(
            f"the annotation of {name!r} gives no bound for its integers", remedy=f'Pass shapes="{name}: {dims} int C".'
        )
    return replace(shape, kind=kind) if kind else shape
