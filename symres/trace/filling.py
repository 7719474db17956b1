"""Functions that change an array they are given."""

from __future__ import annotations

from typing import Any

from symres.trace.array import Array, as_array
from symres.trace.elementwise import assign
from symres.trace.registry import call, numpy_function


@numpy_function("fill", method=("fill", "fill_"))
def fill(array: Array, value: Any) -> Array:
    """``x.fill(v)``."""
    assign(array, as_array(value))
    return array


@numpy_function("zero_", method=True)
def zero(array: Array) -> Array:
    """``x.zero_()`` of PyTorch."""
    return fill(array, 0)


@numpy_function("copyto")
def copyto(target: Array, source: Any, where: Any = True) -> None:
    """``np.copyto``."""
    assign(target, as_array(source if where is True else call("where", where, source, target)))


@numpy_function("putmask", "place")
def putmask(target: Array, mask: Any, values: Any) -> None:
    """``np.putmask`` with one value or an array of the target's shape."""
    assign(target, as_array(call("where", mask, values, target)))


@numpy_function("fill_diagonal")
def fill_diagonal(array: Array, value: Any) -> None:
    """``np.fill_diagonal`` of a square matrix."""
    where = call("arange", array.shape[0])
    array[where, where] = value


def _enter_torch(name: str, ufunc: str) -> None:
    def inplace(array: Array, *others: Any) -> Array:
        assign(array, as_array(call(ufunc, array, *others)))
        return array

    numpy_function(name, method=True)(inplace)


_TORCH = {
    "add_": "add", "sub_": "subtract", "mul_": "multiply", "div_": "true_divide", "relu_": "relu", "exp_": "exp",
    "copy_": "second", "masked_fill_": "masked_fill", "clamp_": "clip",
}  # fmt: skip
for _name, _ufunc in _TORCH.items():
    _enter_torch(_name, _ufunc)


@numpy_function("second")
def second(_: Any, value: Any) -> Any:
    """The second of two values."""
    return value
