"""Arrays made from nothing: constants, the identity, ranges, triangles, and copies of given values."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import ONE, ZERO, Num, Tensor, Term, add, mul, neg
from symres.language.program import Axis
from symres.trace.array import Array, as_array
from symres.trace.axes import axis_of, by_axis, flat, not_empty, variables
from symres.trace.dtypes import kind_of
from symres.trace.indexterms import floor_quotient
from symres.trace.kinds import astype
from symres.trace.registry import call, numpy_function
from symres.trace.shaping import sizes_of
from symres.trace.sizes import integer_term, is_integer_like
from symres.trace.tidy import bracket, equal_indices

UNINITIALISED = Tensor("uninitialised", ())
"""The entries of ``np.empty``: a gradient that contains it reads memory that was never written."""


def axes_of(shape: Any) -> tuple[Axis, ...]:
    """The axes of an array of a given shape."""
    sizes = [integer_term(size) for size in sizes_of(shape)]
    for size in sizes:
        not_empty(size)
    return tuple(map(axis_of, sizes))


def filled(axes: tuple[Axis, ...], body: Term, kind: str) -> Array:
    """An array with equal entries; without axes it is an array in NumPy, not a scalar."""
    result = Array.result(axes, [var for axis in axes for var in variables(axis)], body, kind)
    result.scalar = False
    return result


def _constant(name: str, body: Term) -> None:
    def make(*sizes: Any, shape: Any = None, dtype: Any = None) -> Array:
        if len(sizes) == 2 and not is_integer_like(sizes[1]):
            shape, dtype = sizes
        elif shape is None:
            shape = sizes[0] if len(sizes) == 1 else sizes
        return filled(axes_of(shape), body, kind_of(dtype))

    def like(array: Any, dtype: Any = None, *, shape: Any = None) -> Array:
        array = as_array(array)
        axes = array.axes if shape is None else axes_of(shape)
        return filled(axes, body, array.kind if dtype is None else kind_of(dtype))

    def new(array: Array, *sizes: Any, dtype: Any = None) -> Array:
        return make(*sizes, dtype=dtype)

    numpy_function(name)(make)
    numpy_function(f"new_{name}", method=True)(new)
    numpy_function(f"{name}_like")(like)


for _name, _body in {"zeros": ZERO, "ones": ONE, "empty": UNINITIALISED()}.items():
    _constant(_name, _body)


@numpy_function("full")
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    """``np.full``."""
    value = as_array(fill_value)
    result: Array = call("copy", call("broadcast_to", value, tuple(sizes_of(shape))))
    return result if dtype is None else astype(result, dtype)


@numpy_function("full_like")
def full_like(array: Any, fill_value: Any, dtype: Any = None) -> Array:
    """``np.full_like``."""
    array = as_array(array)
    value = as_array(fill_value)
    result: Array = call("copy", call("multiply", call("ones_like", array, "int"), value))
    return astype(result, array.kind if dtype is None else dtype)


@numpy_function("eye")
def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Array:
    """``np.eye``: [j = i + k]."""
    axes = axes_of((N, N if M is None else M))
    names = [var for axis in axes for var in variables(axis)]
    (row, column) = (flat(axis, own) for axis, own in zip(axes, by_axis(axes, names), strict=True))
    return Array.result(axes, names, equal_indices(add(row, integer_term(k)), column), kind_of(dtype))


@numpy_function("identity")
def identity(n: Any, dtype: Any = None) -> Array:
    """``np.identity``."""
    return eye(n, dtype=dtype)


@numpy_function("diag")
def diag(array: Any, k: int = 0) -> Array:
    """``np.diag``: the diagonal matrix of a vector, the diagonal of a matrix."""
    array = as_array(array)
    if k:
        raise Unsupported("np.diag with an offset")
    if array.ndim == 1:
        result: Array = call("multiply", eye(array.shape[0], dtype="int"), array)
        return result
    diagonal: Array = call("diagonal", array)
    return diagonal


@numpy_function("diagflat")
def diagflat(array: Any) -> Array:
    """``np.diagflat``."""
    return diag(call("ravel", array))


@numpy_function("arange")
def arange(*bounds: Any, dtype: Any = None) -> Array:
    """``np.arange`` of integers: the index itself."""
    if not 1 <= len(bounds) <= 3 or not all(map(is_integer_like, bounds)):
        raise Unsupported("np.arange of numbers that are not integers")
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    first, last, stride = map(integer_term, (start, stop, step))
    if isinstance(stride, Num) and stride.value < 0:
        first, last, sign = neg(first), neg(last), Num(-1)
    else:
        sign = ONE
    size = floor_quotient(add(last, neg(first), mul(sign, stride), -1), mul(sign, stride))
    axis = axis_of(size)
    names = variables(axis)
    body = mul(sign, add(first, mul(sign, stride, flat(axis, names))))
    result = Array.result((axis,), names, body, "int")
    return result if dtype is None else astype(result, dtype)


@numpy_function("linspace")
def linspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True) -> Any:
    """``np.linspace``."""
    steps = num - 1 if endpoint else num
    return call("add", start, call("true_divide", call("multiply", arange(num), call("subtract", stop, start)), steps))


def _triangle(rows: Any, columns: Any, k: Any, lower: bool, kind: str) -> Array:
    axes = axes_of((rows, columns))
    names = [var for axis in axes for var in variables(axis)]
    row, column = (flat(axis, own) for axis, own in zip(axes, by_axis(axes, names), strict=True))
    offset = row - column + integer_term(k)
    return Array.result(axes, names, bracket(">=", offset if lower else neg(offset)), kind)


@numpy_function("tri")
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Array:
    """``np.tri``: [j <= i + k]."""
    return _triangle(N, N if M is None else M, k, True, kind_of(dtype))


def _of_matrix(array: Any, k: Any, lower: bool) -> Array:
    array = as_array(array)
    mask = _triangle(array.shape[-2], array.shape[-1], k, lower, "bool")
    result: Array = call("multiply", array, mask)
    return result


@numpy_function("tril", method=True)
def tril(array: Any, k: Any = 0) -> Array:
    """``np.tril``: entries above the k-th diagonal become 0."""
    return _of_matrix(array, k, True)


@numpy_function("triu", method=True)
def triu(array: Any, k: Any = 0) -> Array:
    """``np.triu``: entries below the k-th diagonal become 0."""
    return _of_matrix(array, k, False)


@numpy_function("array", "tensor")
def array(values: Any, dtype: Any = None, copy: Any = True, ndmin: int = 0) -> Array:
    """``np.array``: a new array."""
    made = as_array(values)
    result: Array = call("copy", made) if copy or made is not values else made
    result.scalar = False
    if dtype is not None and kind_of(dtype) != result.kind:
        result = astype(result, dtype)
    while result.ndim < ndmin:
        result = result[None]
    return result


@numpy_function("asarray", "asanyarray", "as_tensor", "from_numpy")
def asarray(values: Any, dtype: Any = None) -> Array:
    """``np.asarray``: the array itself where it has that kind already."""
    made = as_array(values)
    return made if dtype is None or kind_of(dtype) == made.kind else astype(made, dtype)
