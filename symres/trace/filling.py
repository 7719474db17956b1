"""Functions that change an array they are given."""

from __future__ import annotations

from typing import Any

from symres.trace.array import Array, as_array
from symres.trace.elementwise import assign
from symres.trace.kinds import copy
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
    def inplace(array: Array, *others: Any, **more: Any) -> Array:
        assign(array, as_array(call(ufunc, array, *others, **more)))
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


class Updates:
    """``x.at``: an index gives a place, whose methods return a changed copy."""

    def __init__(self, array: Array, key: Any = ...) -> None:
        self.array, self.key = array, key

    def __getitem__(self, key: Any) -> Updates:
        return Updates(self.array, key)

    def set(self, value: Any) -> Array:
        """A copy with the value at the place."""
        result = copy(self.array)
        result[self.key] = value
        return result

    def add(self, value: Any) -> Array:
        """A copy with the value added, as often as an index is repeated."""
        result = copy(self.array)
        call("add.at", result, self.key, value)
        return result

    def multiply(self, value: Any) -> Array:
        """A copy with the place multiplied."""
        return self.set(call("multiply", self.array[self.key], value))

    mul = multiply


numpy_function("updates")(Updates)
