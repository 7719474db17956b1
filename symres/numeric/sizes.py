"""Symbolic sizes, read off the shapes of concrete arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from symres.errors import UsageError
from symres.kernel.terms import Add, Mul, Size, Term, add, mul, walk
from symres.language.program import Program
from symres.numeric.evaluate import Evaluation


def sizes_of(program: Program, arrays: Mapping[str, Any]) -> dict[str, int]:
    """The symbolic sizes, read off the shapes of the arrays.

    Raises:
        UsageError: if a shape does not fit, or leaves a size open.
    """
    lengths: list[tuple[str, Term, int]] = []
    for name, tensor in program.inputs.items():
        axes = program.axes.get(name, tuple((dim,) for dim in tensor.dims))
        shape = np.shape(arrays[name])
        if len(shape) != len(axes):
            raise UsageError(f"{name} has {len(axes)} axes, its array has the shape {shape}")
        lengths += [(name, mul(*axis), length) for axis, length in zip(axes, shape, strict=True)]
    wanted = {node for _, term, _ in lengths for node in walk(term) if isinstance(node, Size)}
    known: dict[Size, int] = {}
    while missing := sorted(wanted - set(known), key=lambda size: size.name):
        found = next(
            (
                (size, name, length, *solution)
                for size in missing
                for name, term, length in lengths
                if (solution := solve(term, size, known)) is not None
            ),
            None,
        )
        if found is None:
            raise UsageError(f"the shapes do not tell the size {missing[0].name}")
        size, name, length, factor, rest = found
        count, offset = (_integer(term, known) for term in (factor, rest))
        if count == 0 or (length - offset) % count:
            raise UsageError(f"an axis of {name} has the length {length}, which {count} does not divide")
        known[size] = (length - offset) // count
    for name, term, length in lengths:
        if (expected := _integer(term, known)) != length:
            raise UsageError(f"an axis of {name} has the length {length}, {expected} was expected")
    return {size.name: value for size, value in known.items()}


def _integer(term: Term, known: Mapping[Size, int]) -> int:
    return Evaluation({}, {size.name: value for size, value in known.items()}).integer(term)


def solve(length: Term, size: Size, known: Collection[Size]) -> tuple[Term, Term] | None:
    """Factor and rest of ``length = factor * size + rest`` over known sizes; None where it is not of that form."""

    def is_known(term: Term) -> bool:
        return all(not isinstance(node, Size) or node in known for node in walk(term))

    parts = length.args if isinstance(length, Add) else (length,)
    moving = [part for part in parts if not is_known(part)]
    if len(moving) != 1:
        return None
    factors = list(moving[0].args) if isinstance(moving[0], Mul) else [moving[0]]
    if factors.count(size) != 1:
        return None
    factors.remove(size)
    factor = mul(*factors)
    return (factor, add(*(part for part in parts if part is not moving[0]))) if is_known(factor) else None
