"""Windows into an array by strides: entry (…, i, …, k) is ``array[…, s·i + k, …]``."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import ZERO, Num, Size, Term, Var, add, mul
from symres.trace.array import Array, as_array
from symres.trace.axes import axis_of, by_axis, flat, not_empty, unflat, variables
from symres.trace.indexterms import nonnegative
from symres.trace.polynomials import from_polynomial, index, polynomial, same
from symres.trace.reductions import axis_numbers
from symres.trace.registry import numpy_function
from symres.trace.shaping import sizes_of
from symres.trace.signals import notes
from symres.trace.sizes import Dim, integer_term
from symres.trace.tidy import at

_STRIDE = "stride of axis "


@numpy_function("lib.stride_tricks.sliding_window_view", "sliding_window_view")
def sliding_window_view(array: Any, window_shape: Any, axis: Any = None) -> Array:
    """``sliding_window_view``: read-only, as in NumPy by default."""
    array = as_array(array)
    windows = sizes_of(window_shape)
    places = axis_numbers(tuple(range(len(windows))) if axis is None else axis, array.ndim)
    value = array.value
    axes = list(value.axes)
    groups = by_axis(value.axes, value.vars)
    reading: dict[Var, Term] = {}
    for place, window in zip(places, windows, strict=True):
        inner = axis_of(integer_term(window))
        count = index(add(integer_term(array.shape[place]), 1, mul(-1, integer_term(window))))
        not_empty(count)
        outer = axis_of(count) if isinstance(count, Num) else (count,)
        starts, offsets = variables(outer), variables(inner)
        position = index(add(flat(outer, starts), flat(inner, offsets)))
        reading |= dict(zip(groups[place], unflat(axes[place], position), strict=True))
        axes[place], groups[place] = outer, starts
        axes.append(inner)
        groups.append(offsets)
    return Array.result(axes, [var for group in groups for var in group], at(value.body, reading), array.kind)


@numpy_function("strides")
def strides_of(array: Array) -> tuple[Any, ...]:
    """``x.strides``: a symbol for each axis, to be multiplied and handed to ``as_strided``."""
    return tuple(Dim(Size(f"{_STRIDE}{k}")) for k in range(array.ndim))


@numpy_function("lib.stride_tricks.as_strided", "as_strided")
def as_strided(array: Any, shape: Any = None, strides: Any = None, *, writeable: Any = True) -> Array:
    """``as_strided`` with strides made of the array's own: entry (u…) is ``array[Σ_k c_k u_k, …]``; for reading only.

    Raises:
        Unsupported: for strides that are numbers.
    """
    array = as_array(array)
    if shape is None or strides is None:
        raise Unsupported("as_strided without shape and strides")
    axes = [axis_of(integer_term(size)) for size in sizes_of(shape)]
    groups = [variables(axis) for axis in axes]
    positions: list[Term] = [ZERO] * array.ndim
    for axis, group, stride in zip(axes, groups, sizes_of(strides), strict=True):
        steps = integer_term(stride)
        parts = [_multiple(steps, _symbol(k)) for k in range(array.ndim)]
        known = add(*(mul(part, _symbol(k)) for k, part in enumerate(parts)))
        if not same(steps, known):
            raise Unsupported("as_strided with strides that are not multiples of the array's own")
        for k, part in enumerate(parts):
            positions[k] = index(add(positions[k], mul(part, flat(axis, group))))
    value = array.value
    reading: dict[Var, Term] = {}
    for own, group, position in zip(value.axes, by_axis(value.axes, value.vars), positions, strict=True):
        last = index(flat(own, [var.dim - 1 for var in group]) - position)
        if not nonnegative(last):
            notes().fact(last, f"{position!r} lies inside its axis")
        reading |= dict(zip(group, unflat(own, position), strict=True))
    return Array.result(axes, [var for group in groups for var in group], at(value.body, reading), array.kind)


def _symbol(k: int) -> Size:
    return Size(f"{_STRIDE}{k}")


def _multiple(steps: Term, symbol: Size) -> Term:
    """How often a stride counts in a step."""
    found = {tuple(a for a in m if a is not symbol): c for m, c in polynomial(steps).items() if m.count(symbol) == 1}
    return from_polynomial(found)
