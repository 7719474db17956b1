"""The arguments of generated functions: their shapes, and the sizes that are read off them."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Num, Size, Tensor, Term, Var, mul, walk
from symres.language.program import Axis, Program
from symres.numeric.layout import Layout
from symres.numeric.names import identifier
from symres.numeric.nodes import Node
from symres.numeric.sizes import solve

_ABSENT = object()


@dataclass(frozen=True)
class Parameter:
    """An argument of the generated function: its name in Python, the tensor it is, and the NumPy axes it comes with."""

    name: str
    tensor: Tensor
    axes: tuple[Axis, ...]
    default: Any = _ABSENT

    def __str__(self) -> str:
        return self.name if self.default is _ABSENT else f"{self.name}={self.default!r}"


def parameters_of(program: Program, defaults: Mapping[str, Any] | None = None) -> list[Parameter]:
    """The arguments of a traced function, in order."""
    given = dict(defaults or {})
    # Python allows a default only where every later argument has one.
    trailing = set(itertools.takewhile(given.__contains__, reversed(program.inputs)))
    return [
        Parameter(
            identifier(name),
            tensor,
            program.axes.get(name, tuple((dim,) for dim in tensor.dims)),
            given[name] if name in trailing else _ABSENT,
        )
        for name, tensor in program.inputs.items()
    ]


def shape_text(axes: Sequence[Axis]) -> str:
    """A shape for people to read, grouped axes as products."""
    lengths = ["·".join(_dim(dim) for dim in axis) or "1" for axis in axes]
    return f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})" if lengths else "scalar"


def _dim(dim: Term) -> str:
    return dim.name if isinstance(dim, Size) else str(dim.value) if isinstance(dim, Num) else repr(dim)


def given_layout(parameter: Parameter, node: Node) -> Layout:
    """The layout in which an argument arrives: axes of length 1 stay, grouped axes are split at the start."""
    rest = iter(node.labels)
    layout: list[Var | None] = []
    grouped = any(len(axis) > 1 for axis in parameter.axes)
    for axis in parameter.axes:
        layout += [next(rest) for _ in axis] if axis else [] if grouped else [None]
    return tuple(layout)


def size_names(parameters: Sequence[Parameter]) -> set[str]:
    """The names of the sizes that the shapes mention."""
    dims = [dim for p in parameters for axis in p.axes for dim in axis]
    return {node.name for dim in dims for node in walk(dim) if isinstance(node, Size)}


def read_sizes(
    parameters: Sequence[Parameter],
    needed: Sequence[Size],
    name: Callable[[Size], str],
    text: Callable[[Term], str],
) -> list[str]:
    """Statements that give the needed sizes their values.

    Args:
        parameters: the arguments, whose shapes tell the sizes.
        needed: the sizes that are used.
        name: the variable of a size.
        text: the source of a term over sizes.

    Raises:
        Unsupported: if the shapes of the arguments do not tell a size.
    """
    lines, known = _plain_reads(parameters, needed, name)
    missing = [size for size in needed if size not in known]
    lengths = [(f"{p.name}.shape[{k}]", mul(*axis)) for p in parameters for k, axis in enumerate(p.axes)]
    while missing:
        found = next(
            (
                (size, source, *solution)
                for size in missing
                for source, length in lengths
                if (solution := solve(length, size, known)) is not None
            ),
            None,
        )
        if found is None:
            raise Unsupported(f"the shapes of the arguments do not tell the size {missing[0].name}")
        size, source, factor, rest = found
        source = source if rest == Num(0) else f"({source} - {text(rest)})"
        lines.append(f"{name(size)} = {source}" if factor == Num(1) else f"{name(size)} = {source} // {text(factor)}")
        known.add(size)
        missing.remove(size)
    return lines


def _plain_reads(
    parameters: Sequence[Parameter], needed: Sequence[Size], name: Callable[[Size], str]
) -> tuple[list[str], set[Size]]:
    """The sizes that are the length of an axis, each read off the first argument that has it."""
    lines: list[str] = []
    known: set[Size] = set()
    for p in parameters:
        at = {
            k: axis[0]
            for k, axis in enumerate(p.axes)
            if len(axis) == 1 and isinstance(axis[0], Size) and axis[0] in needed and axis[0] not in known
        }
        at = {k: size for k, size in at.items() if size not in list(at.values())[: list(at).index(k)]}
        if len(at) > 1:
            names = ", ".join(name(at[k]) if k in at else "_" for k in range(len(p.axes)))
            lines.append(f"{names} = {p.name}.shape")
        else:
            lines += [f"{name(size)} = {p.name}.shape[{k}]" for k, size in at.items()]
        known |= set(at.values())
    return lines, known


def defaults_of(function: Callable[..., Any] | None) -> dict[str, float]:
    """The default values of a function's arguments that are numbers: a symbol in the proof, a default in the code."""
    if function is None:
        return {}
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if isinstance(parameter.default, float)}
