"""Arrays of indices over several axes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from symres.trace.array import Array, as_array
from symres.trace.registry import call, numpy_function
from symres.trace.shaping import sizes_of


@numpy_function("meshgrid")
def meshgrid(*vectors: Any, indexing: str = "xy") -> list[Any]:
    """``np.meshgrid``."""
    made = ix_(*vectors)
    shape = [vector.shape[k] for k, vector in enumerate(made)]
    grids = [call("copy", call("broadcast_to", vector, shape)) for vector in made]
    return [call("swapaxes", grid, 0, 1) for grid in grids] if indexing == "xy" and len(grids) > 1 else grids


@numpy_function("ix_")
def ix_(*vectors: Any) -> tuple[Array, ...]:
    """``np.ix_``: vectors along axes of their own."""
    made = [as_array(vector) for vector in vectors]
    return tuple(vector[(*(None,) * k, slice(None), *(None,) * (len(made) - 1 - k))] for k, vector in enumerate(made))


@numpy_function("indices")
def indices(dimensions: Any) -> list[Any]:
    """``np.indices``, as a list of the index arrays."""
    return meshgrid(*(call("arange", size) for size in sizes_of(dimensions)), indexing="ij")


@numpy_function("ndindex")
def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """``np.ndindex`` over sizes that are numbers."""
    sizes = sizes_of(shape[0]) if len(shape) == 1 else list(shape)
    return iter(itertools.product(*(range(size) for size in sizes)))
