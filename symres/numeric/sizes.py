"""Symbolic sizes, read off the shapes of concrete arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symres.errors import UsageError
from symres.kernel.terms import Size
from symres.language.program import Program
from symres.numeric.evaluate import Evaluation


def sizes_of(program: Program, arrays: Mapping[str, Any]) -> dict[str, int]:
    """The symbolic sizes, read off the shapes of the arrays.

    Raises:
        UsageError: if a shape does not fit, or leaves a size open.
    """
    sizes: dict[str, int] = {}
    pending = []
    for name, tensor in program.inputs.items():
        axes = program.axes.get(name, tuple((dim,) for dim in tensor.dims))
        shape = np.shape(arrays[name])
        if len(shape) != len(axes):
            raise UsageError(f"{name} has {len(axes)} axes, its array has the shape {shape}")
        pending += [(name, axis, length) for axis, length in zip(axes, shape, strict=True)]
    progress = True
    while pending and progress:
        rest = []
        for name, axis, length in pending:
            known, unknown = 1, []
            for dim in axis:
                if isinstance(dim, Size) and dim.name not in sizes:
                    unknown.append(dim.name)
                else:
                    known *= Evaluation({}, sizes).integer(dim)
            if not unknown and known != length:
                raise UsageError(f"an axis of {name} has the length {length}, {known} was expected")
            if len(unknown) == 1:
                if known == 0 or length % known:
                    raise UsageError(f"an axis of {name} has the length {length}, which {known} does not divide")
                sizes[unknown[0]] = length // known
            elif unknown:
                rest.append((name, axis, length))
        progress, pending = len(rest) < len(pending), rest
    if pending:
        raise UsageError(f"the shapes do not tell the sizes of {pending[0][0]}")
    return sizes
