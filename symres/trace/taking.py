"""Functions that take or put entries at arrays of indices along an axis."""

from __future__ import annotations

from typing import Any

from symres.trace.array import Array, as_array
from symres.trace.registry import call, numpy_function
from symres.trace.sizes import is_integer_like


@numpy_function("take", method=True)
def take(array: Array, indices: Any, axis: Any = None) -> Any:
    """``np.take``."""
    if axis is None:
        return call("ravel", array)[as_array(indices)]
    place = axis if axis >= 0 else axis + array.ndim
    return array[(*(slice(None),) * place, as_array(indices) if not is_integer_like(indices) else indices)]


@numpy_function("take_along_axis")
def take_along_axis(array: Array, indices: Any, axis: Any) -> Any:
    """``np.take_along_axis``: one index for each position of the other axes."""
    return array[_along(array, as_array(indices), axis)]


@numpy_function("put_along_axis")
def put_along_axis(array: Array, indices: Any, values: Any, axis: Any) -> None:
    """``np.put_along_axis``."""
    array[_along(array, as_array(indices), axis)] = values


def _along(array: Array, indices: Array, axis: int) -> tuple[Any, ...]:
    place = axis % array.ndim
    key: list[Any] = []
    for k, size in enumerate(indices.shape):
        if k == place:
            key.append(indices)
        else:
            key.append(call("arange", size)[(*(None,) * k, slice(None), *(None,) * (array.ndim - 1 - k))])
    return tuple(key)
