"""Stand-ins for Python's built-in functions where they meet symbolic sizes and arrays."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any

from symres.errors import Unsupported
from symres.trace import quotients
from symres.trace.array import Array, as_array
from symres.trace.registry import call, numpy_function
from symres.trace.signals import NeedsConcreteSizes
from symres.trace.sizes import Dim, integer, is_integer_like, truncated

_NUMBERS = (int, float)


@numpy_function("convert")
def convert(value: Any, kind: str) -> Any:
    """``np.float64(x)`` and the like, of a number or an array."""
    if isinstance(value, Array) and value.axes:
        return call("astype", value, kind)
    return {"float": to_float, "int": to_int, "bool": bool}[kind](value)


def to_float(value: Any = 0.0) -> Any:
    """``float(x)``: a symbolic size or scalar stays what it is, as a real number."""
    if isinstance(value, Dim):
        return call("astype", as_array(value), "float")
    if isinstance(value, Array):
        if value.vars:
            raise Unsupported("float() of an array with more than one entry")
        return call("astype", value, "float").squeeze() if value.axes else call("astype", value, "float")
    return builtins.float(value)


def to_int(value: Any = 0, *base: Any) -> Any:
    """``int(x)``: exact for integers and quotients of sizes."""
    return builtins.int(value, *base) if base else truncated(value)


def length(value: Any) -> Any:
    """``len(x)``."""
    if isinstance(value, Array):
        if not value.axes:
            raise TypeError("len() of unsized object")
        return value.shape[0]
    return builtins.len(value)


def largest(*values: Any, **kwargs: Any) -> Any:
    """``max``, of sizes too where it is decided for all sizes."""
    if builtins.len(values) == 1 and isinstance(values[0], Array):
        return call("max", values[0])
    if any(isinstance(value, Array) for value in values):
        return functools.reduce(lambda a, b: call("maximum", a, b), values)
    if any(isinstance(value, Dim) for value in values):
        return functools.reduce(lambda a, b: b if _at_most(a, b) else a, values)
    return builtins.max(*values, **kwargs)


def _at_most(a: Any, b: Any) -> bool:
    """``a <= b`` of sizes, where one of the two directions is decided."""
    try:
        return bool(a <= b)
    except NeedsConcreteSizes:
        return not b <= a


def smallest(*values: Any, **kwargs: Any) -> Any:
    """``min``."""
    if builtins.len(values) == 1 and isinstance(values[0], Array):
        return call("min", values[0])
    if any(isinstance(value, Array) for value in values):
        return functools.reduce(lambda a, b: call("minimum", a, b), values)
    if any(isinstance(value, Dim) for value in values):
        return functools.reduce(lambda a, b: a if _at_most(a, b) else b, values)
    return builtins.min(*values, **kwargs)


def total(values: Any, start: Any = 0) -> Any:
    """``sum``: over the first axis of an array."""
    if isinstance(values, Array):
        return call("add", start, call("sum", values, 0)) if start != 0 else call("sum", values, 0)
    return builtins.sum(values, start)


def absolute(value: Any) -> Any:
    """``abs``."""
    return call("absolute", value) if not isinstance(value, _NUMBERS) else builtins.abs(value)


def floor(value: Any) -> Any:
    """``math.floor`` of integers and of quotients of sizes."""
    return math.floor(value) if isinstance(value, _NUMBERS) else truncated(value)


def ceil(value: Any) -> Any:
    """``math.ceil`` of integers and of quotients of sizes."""
    if isinstance(value, _NUMBERS):
        return math.ceil(value)
    term = getattr(value, "scalar_term", None)
    return value if term is None else integer(quotients.floor(term, upwards=True))


def is_instance(value: Any, classes: Any) -> bool:
    """``isinstance``: symbolic sizes are ints, symbolic scalars are floats or ints."""
    wanted = classes if isinstance(classes, tuple) else (classes,)
    names = {getattr(one, "__name__", "") for one in wanted}
    if isinstance(value, Dim):
        return bool(names & {"int", "Integral", "Number", "integer"})
    if isinstance(value, Array):
        scalar = {"float": {"float", "floating", "Number", "generic"}, "int": {"int", "integer", "Integral", "generic"}}
        if value.scalar and names & scalar.get(value.kind, set()):
            return True
        if names & {"ndarray", "Tensor", "Array"}:
            return True
    real = tuple(one for one in wanted if isinstance(one, type) or hasattr(one, "__instancecheck__"))
    return builtins.isinstance(value, real)


def rounded(value: Any, digits: Any = None) -> Any:
    """``round`` of plain numbers."""
    if is_integer_like(value):
        return value
    if isinstance(value, Array):
        raise Unsupported("round() of a number that depends on sizes or data")
    return builtins.round(value, digits)


BUILTINS: dict[str, Any] = {
    "float": to_float, "int": to_int, "len": length, "max": largest, "min": smallest, "sum": total, "abs": absolute,
    "isinstance": is_instance, "round": rounded,
}  # fmt: skip
"""What the names mean in traced code."""
