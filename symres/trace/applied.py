"""Functions applied to every entry or every slice: the function is run once, on an entry with free indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symres.errors import Unsupported
from symres.trace.array import Array, as_array
from symres.trace.axes import by_axis
from symres.trace.elementwise import broadcast
from symres.trace.reductions import axis_numbers
from symres.trace.registry import call, numpy_function


@numpy_function("vectorize")
def vectorize(function: Callable[..., Any], otypes: Any = None, **others: Any) -> Callable[..., Any]:
    """``np.vectorize``: entry by entry.

    Raises:
        Unsupported: if the function branches on the entry.
    """

    def vectorised(*operands: Any) -> Any:
        arrays = [as_array(operand) for operand in operands]
        axes, names, bodies = broadcast(arrays)
        entries = [Array.result((), (), body, array.kind) for body, array in zip(bodies, arrays, strict=True)]
        result = as_array(function(*entries))
        return Array.result(axes, names, result.value.body, result.kind)

    return vectorised


@numpy_function("apply_along_axis")
def apply_along_axis(function: Callable[..., Any], axis: int, array: Any, *others: Any) -> Array:
    """``np.apply_along_axis``: on every slice along one axis."""
    array = as_array(array)
    (place,) = axis_numbers(axis, array.ndim)
    value = array.value
    groups = by_axis(value.axes, value.vars)
    line = Array.result((value.axes[place],), groups[place], value.body, array.kind)
    result = as_array(function(line, *others))
    made = result.value
    axes = (*value.axes[:place], *made.axes, *value.axes[place + 1 :])
    names = [*(v for g in groups[:place] for v in g), *made.vars, *(v for g in groups[place + 1 :] for v in g)]
    return Array.result(axes, names, made.body, result.kind)


@numpy_function("select")
def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    """``np.select``: the choice of the first condition that holds."""
    result = default
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = call("where", condition, choice, result)
    return result


@numpy_function("piecewise")
def piecewise(array: Any, conditions: Sequence[Any], functions: Sequence[Any]) -> Any:
    """``np.piecewise``, with one function or value for each condition, and one more for the rest."""
    values = [function(array) if callable(function) else function for function in functions]
    if len(values) not in (len(conditions), len(conditions) + 1):
        raise Unsupported("np.piecewise with other numbers of conditions and functions")
    rest = values[len(conditions)] if len(values) > len(conditions) else call("zeros_like", array)
    result = rest
    # The last condition that holds wins in np.piecewise.
    for condition, value in zip(conditions, values, strict=False):
        result = call("where", condition, value, result)
    return result
