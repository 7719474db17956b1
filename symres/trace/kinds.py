"""Copies, and arrays of another data type: booleans, integers and real numbers are told apart, precision is not."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.trace.array import KINDS, Array, as_array
from symres.trace.elementwise import elementwise
from symres.trace.indexterms import is_integer
from symres.trace.registry import numpy_function
from symres.trace.rules import nonzero


@numpy_function("copy", "ascontiguousarray", "clone", method=("copy", "clone", "contiguous"))
def copy(array: Any) -> Array:
    """A new array with the same entries."""
    array = as_array(array)
    return Array.from_value(array.value, array.kind, array.scalar)


_SAME = ("detach", "cpu", "numpy", "item", "to", "type_as", "requires_grad_", "cuda", "block_until_ready")


@numpy_function("same", method=_SAME)
def same_array(array: Array, *others: Any, **more: Any) -> Array:
    """What changes where or how an array is kept, not its entries."""
    return array


def kind_of(dtype: Any) -> str:
    """The kind of a data type given by a type, a name or a NumPy dtype."""
    if dtype is None:
        return "float"
    if isinstance(dtype, str) and dtype in KINDS:
        return dtype
    text = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    text = text.rsplit(".", 1)[-1].lower()
    for kind, starts in {
        "bool": ("bool",),
        "int": ("int", "uint", "long"),
        "float": ("float", "double", "half", "f"),
    }.items():
        if text.startswith(starts):
            return kind
    raise Unsupported(f"the data type {dtype!r}")


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
