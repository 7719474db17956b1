"""Sums, means, variances, extrema and norms over axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from symres.errors import Unsupported
from symres.kernel.terms import ONE, Maximum, Num, Term, Var, add, mul, neg, power
from symres.language.program import Axis
from symres.trace import rules
from symres.trace.array import Array, as_array
from symres.trace.axes import by_axis, flat, length, variables
from symres.trace.elementwise import elementwise
from symres.trace.masked import Masked
from symres.trace.registry import call, numpy_function
from symres.trace.signals import NeedsConcreteSizes, notes
from symres.trace.sizes import integer_term, is_integer_like
from symres.trace.tidy import at, bracket, complement, depends_by_case, summed


def axis_numbers(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes meant by ``axis=``: all for ``None``, negative ones counted from the last.

    Raises:
        Unsupported: for an axis that the array does not have.
    """
    if axis is None:
        return tuple(range(ndim))
    numbers = [int(k) for k in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if any(not -ndim <= k < ndim for k in numbers):
        raise Unsupported(f"axis {axis} of an array with {ndim} axes")
    return tuple(k % ndim for k in numbers)


def reduced(array: Array, axis: Any, keepdims: Any, rule: Any, kind: str = "") -> Array:
    """Reduce over axes; ``rule(variables, body)`` binds the variables of those axes."""
    over = axis_numbers(axis, array.ndim)
    value = array.value
    groups = by_axis(value.axes, value.vars)
    bound = tuple(var for k in over for var in groups[k])
    axes: list[Axis] = []
    names: list[Var] = []
    for k, own in enumerate(value.axes):
        if k not in over:
            axes.append(own)
            names += groups[k]
        elif keepdims:
            axes.append(())
    # The result gets variables of its own: bound ones must not be shared with arrays that are still in use.
    fresh = {var: var.fresh() for var in (*bound, *names)}
    body = rule([fresh[var] for var in bound], at(value.body, dict(fresh)))
    return Array.result(axes, [fresh[var] for var in names], body, kind or array.kind)


def _restricted(array: Any, where: Any) -> Array:
    restricted: Array = as_array(array)
    return restricted if where is True or where is None else as_array(call("multiply", restricted, where))


@numpy_function("sum", "nansum", method=("sum",))
def sum_of(array: Any, axis: Any = None, keepdims: Any = False, *, initial: Any = None, where: Any = True) -> Any:
    """``np.sum``."""
    if isinstance(array, Masked):
        return array.sum()
    array = _restricted(array, where)
    result = reduced(array, axis, keepdims, summed, "int" if array.kind == "bool" else "")
    return result if initial is None else call("add", result, initial)


def count(array: Array, axis: Any) -> Term:
    """The number of entries that a reduction runs over."""
    return length(tuple(dim for k in axis_numbers(axis, array.ndim) for dim in array.axes[k]))


@numpy_function("mean", "average", "nanmean", method=("mean",))
def mean(array: Any, axis: Any = None, weights: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """``np.mean`` and ``np.average``."""
    if isinstance(array, Masked):
        return array.mean()
    array = as_array(array)
    if weights is not None:
        return _weighted(array, axis, as_array(weights), keepdims)
    if where is not True:
        total = call("sum", call("multiply", call("ones_like", array), where), axis, keepdims=keepdims)
        return call("true_divide", call("sum", call("multiply", array, where), axis, keepdims=keepdims), total)
    scale = power(count(array, axis), -1)
    return reduced(array, axis, keepdims, lambda bound, body: mul(scale, summed(bound, body)), "float")


def _weighted(array: Array, axis: Any, weights: Array, keepdims: Any) -> Any:
    if weights.ndim == 1 and array.ndim > 1:
        (place,) = axis_numbers(axis, array.ndim)
        weights = weights[(slice(None), *(None,) * (array.ndim - 1 - place))]
    total = call("sum", call("multiply", call("ones_like", array), weights), axis, keepdims=keepdims)
    return call("true_divide", call("sum", call("multiply", array, weights), axis, keepdims=keepdims), total)


@numpy_function("var", "nanvar", method=("var",))
def variance(
    array: Any, axis: Any = None, ddof: Any = None, keepdims: Any = False, *, correction: Any = None,
    unbiased: Any = None, mean: Any = None,
) -> Array:  # fmt: skip
    """``np.var``: the mean squared deviation, over N − ddof; PyTorch's ddof is 1 where none is given."""
    array = as_array(array)
    centre = call("mean", array, axis, keepdims=True) if mean is None else mean
    squares = elementwise(lambda a, b: power(add(a, neg(b)), 2), array, centre, kind="float")
    spellings = (ddof, correction, None if unbiased is None else int(unbiased), int(notes().torch))
    below = next(value for value in spellings if value is not None)
    scale = power(add(count(array, axis), neg(integer_term(below))), -1)
    return reduced(squares, axis, keepdims, lambda bound, body: mul(scale, summed(bound, body)), "float")


@numpy_function("std", "nanstd", method=("std",))
def deviation(array: Any, axis: Any = None, ddof: Any = None, keepdims: Any = False, **others: Any) -> Any:
    """``np.std``."""
    return call("sqrt", call("var", array, axis, ddof, keepdims, **others))


def _largest(bound: Sequence[Var], body: Term) -> Term:
    for var in reversed(bound):
        if isinstance(var.dim, Num) and depends_by_case(body, var):
            parts = [at(body, {var: Num(k)}) for k in range(int(var.dim.value))]
            body = parts[0]
            for part in parts[1:]:
                body = rules.larger(body, part)
        elif var in body.free:
            body = Maximum(var, body)
    return body


class NotAnIndex:
    """Where an extremum is attained, which depends on data: any use of it is refused."""

    def __getattr__(self, name: str) -> Any:
        raise Unsupported("which entry is the largest depends on data")


class Extremum(NamedTuple):
    """What PyTorch's ``max`` and ``min`` over one axis return."""

    values: Array
    indices: NotAnIndex


@numpy_function("max", "nanmax", method=("max",))
def largest(array: Any, axis: Any = None, keepdims: Any = False, *, initial: Any = None) -> Any:
    """``np.max``."""
    result = reduced(as_array(array), axis, keepdims, _largest)
    if notes().torch and axis is not None:
        return Extremum(result, NotAnIndex())
    return result if initial is None else call("maximum", result, initial)


@numpy_function("min", "nanmin", method=("min",))
def smallest(array: Any, axis: Any = None, keepdims: Any = False, *, initial: Any = None) -> Any:
    """``np.min``, as the negative of the maximum of the negative."""
    result = reduced(as_array(array), axis, keepdims, lambda bound, body: neg(_largest(bound, neg(body))))
    if notes().torch and axis is not None:
        return Extremum(result, NotAnIndex())
    return result if initial is None else call("minimum", result, initial)


@numpy_function("amax", method=True)
def amax(array: Any, axis: Any = None, keepdims: Any = False) -> Array:
    """``np.amax`` and ``torch.amax``: the values alone."""
    return reduced(as_array(array), axis, keepdims, _largest)


@numpy_function("amin", method=True)
def amin(array: Any, axis: Any = None, keepdims: Any = False) -> Array:
    """``np.amin`` and ``torch.amin``."""
    return reduced(as_array(array), axis, keepdims, lambda bound, body: neg(_largest(bound, neg(body))))


def _products(bound: Sequence[Var], body: Term) -> Term:
    for var in reversed(bound):
        if var not in body.free:
            if isinstance(var.dim, Num):
                body = power(body, var.dim.value)
            elif body is not ONE:
                raise NeedsConcreteSizes("a product over a symbolic size")
        elif isinstance(var.dim, Num):
            body = mul(*(at(body, {var: Num(k)}) for k in range(int(var.dim.value))))
        else:
            raise NeedsConcreteSizes("a product over a symbolic size")
    return body


@numpy_function("prod", method=True)
def product_of(array: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.prod``; of a shape it is the number of entries."""
    if isinstance(array, (tuple, list)) and axis is None and all(map(is_integer_like, array)):
        total: Any = 1
        for size in array:
            total = total * size
        return total
    if is_integer_like(array):
        return array
    return reduced(as_array(array), axis, keepdims, _products)


@numpy_function("any", method=True)
def any_of(array: Any, axis: Any = None, keepdims: Any = False) -> Array:
    """``np.any``, for a number of entries."""
    none = reduced(call("logical_not", array), axis, keepdims, _products)
    return elementwise(complement, none, kind="bool")


@numpy_function("all", method=True)
def all_of(array: Any, axis: Any = None, keepdims: Any = False) -> Array:
    """``np.all``, for a number of entries."""
    return reduced(elementwise(rules.nonzero, array, kind="bool"), axis, keepdims, _products)


@numpy_function("count_nonzero")
def count_nonzero(array: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.count_nonzero``."""
    return call("sum", elementwise(rules.nonzero, array, kind="bool"), axis, keepdims=keepdims)


@numpy_function("cumsum", method=True)
def cumulative_sum(array: Any, axis: Any = None) -> Array:
    """``np.cumsum``: Σ_u [u <= i] x(u)."""
    array = as_array(array)
    if axis is None:
        array, axis = call("ravel", array), 0
    (place,) = axis_numbers(axis, array.ndim)
    value = array.value
    groups = by_axis(value.axes, value.vars)
    own = groups[place]
    bound = variables(value.axes[place])
    below = bracket(">=", flat(value.axes[place], own) - flat(value.axes[place], bound))
    body = summed(bound, mul(below, at(value.body, dict(zip(own, bound, strict=True)))))
    return Array.result(value.axes, value.vars, body, "int" if array.kind == "bool" else array.kind)


@numpy_function("cumprod", method=True)
def cumulative_product(array: Any, axis: Any = None) -> Any:
    """``np.cumprod`` over a number of entries."""
    array = as_array(array)
    if axis is None:
        array, axis = call("ravel", array), 0
    (place,) = axis_numbers(axis, array.ndim)
    before = (slice(None),) * place
    parts = [array[(*before, 0)]]
    for k in range(1, len(call("swapaxes", array, 0, place))):
        parts.append(call("multiply", parts[-1], array[(*before, k)]))
    return call("stack", parts, place)


@numpy_function("diff")
def diff(array: Any, n: int = 1, axis: int = -1) -> Any:
    """``np.diff``."""
    array = as_array(array)
    before = (slice(None),) * (axis % array.ndim)
    for _ in range(n):
        array = call("subtract", array[(*before, slice(1, None))], array[(*before, slice(None, -1))])
    return array
