"""Copies, and arrays of another data type: booleans, integers and real numbers are told apart, precision is not."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.trace.array import Array, as_array
from symres.trace.dtypes import DType, kind_of
from symres.trace.elementwise import elementwise
from symres.trace.indexterms import is_integer
from symres.trace.registry import call, numpy_function
from symres.trace.rules import nonzero


@numpy_function("copy", "clone", method=("copy", "clone"))
def copy(array: Any) -> Array:
    """A new array with the same entries."""
    array = as_array(array)
    return Array.from_value(array.value, array.kind, array.scalar)


@numpy_function("ascontiguousarray", method=("contiguous",))
def contiguous(array: Any) -> Array:
    """``np.ascontiguousarray``: the array itself where its entries are in order in memory, else a copy."""
    array = as_array(array)
    return array if array.index == array.buffer.value.vars else copy(array)


@numpy_function("asfortranarray")
def fortran(array: Any) -> Array:
    """``np.asfortranarray``: a copy in another order of memory; a vector is in every order."""
    array = as_array(array)
    return array if array.ndim < 2 else copy(array)


_SAME = ("detach", "cpu", "numpy", "requires_grad_", "cuda", "block_until_ready")


@numpy_function("same", method=_SAME)
def same_array(array: Array, *others: Any, **more: Any) -> Array:
    """What changes where or how an array is kept, not its entries."""
    return array


@numpy_function("to", "type_as", method=True)
def to(array: Array, *targets: Any, **more: Any) -> Array:
    """``x.to(…)`` of PyTorch: devices are ignored, data types and those of other arrays are not."""
    for target in targets:
        if isinstance(target, (Array, DType)):
            return astype(array, target.kind)
    return array


@numpy_function("numel", method=True)
def numel(array: Array) -> Any:
    """``x.numel()``."""
    return call("prod", array.shape)


@numpy_function("dim", method=("dim", "ndimension"))
def dim(array: Array) -> int:
    """``x.dim()``."""
    return array.ndim


@numpy_function("item", method=True)
def item(array: Array) -> Array:
    """``x.item()``: the one entry as a scalar."""
    if array.vars:
        raise Unsupported("item() of an array with more than one entry")
    return Array.result((), (), array.value.body, array.kind)


@numpy_function("astype", "cast", method=("astype", "type"))
def astype(array: Any, dtype: Any = None, copy: Any = True) -> Array:
    """``x.astype``: precision is ignored; numbers become booleans by ``!= 0``; rounding is refused."""
    source, kind = as_array(array), kind_of(dtype)
    if kind == source.kind and copy is False:
        return source
    if kind == "bool" and source.kind != "bool":
        return elementwise(nonzero, source, kind="bool")
    if kind == "int" and source.kind == "float" and not is_integer(source.value.body):
        raise Unsupported("numbers are rounded to integers by astype")
    return Array.from_value(source.value, kind, source.scalar)


for _name, _kind in {"float": "float", "double": "float", "half": "float", "long": "int", "bool": "bool"}.items():
    numpy_function(f"as_{_name}", method=(_name,))(lambda array, _kind=_kind: astype(array, _kind))
