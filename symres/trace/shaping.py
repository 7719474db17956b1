"""Other shapes of the same entries: reshape, transpose, broadcasting, repetition. Views where NumPy gives views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Num, Term, Var, mul
from symres.language.program import Axis, Value
from symres.trace.alignment import align_right, unify
from symres.trace.array import Array, as_array
from symres.trace.axes import axis_of, by_axis, flat, free_length, moved, regroup, shown
from symres.trace.axes import variables as fresh_variables
from symres.trace.kinds import copy
from symres.trace.polynomials import coefficient, same
from symres.trace.reductions import axis_numbers
from symres.trace.registry import numpy_function
from symres.trace.signals import ShapeMismatch, notes
from symres.trace.sizes import integer_term, is_integer_like
from symres.trace.tidy import at


def sizes_of(shape: Any) -> list[Any]:
    """The entries of a shape given as an integer or a sequence."""
    if is_integer_like(shape):
        return [shape]
    if isinstance(shape, Array):
        raise Unsupported("a shape that is an array")
    return list(shape)


def _shape_arguments(shape: Sequence[Any]) -> list[Any]:
    return sizes_of(shape[0]) if len(shape) == 1 else list(shape)


def _view(array: Array, axes: Sequence[Axis], names: Sequence[Var], index: Sequence[Term] | None = None) -> Array:
    return Array(array.buffer, axes, names, array.index if index is None else index, array.scalar and not axes)


@numpy_function("reshape", method=("reshape", "view"))
def reshape(array: Any, *sizes: Any, newshape: Any = None, shape: Any = None) -> Array:
    """``np.reshape``: a view, or a copy where the entries are not in order in memory.

    Raises:
        Refine: if a size symbol must be split.
        ShapeMismatch: if the number of entries differs.
    """
    array = as_array(array)
    given = sizes_of(newshape or shape) if newshape or shape else _shape_arguments(sizes)
    wanted = [integer_term(size) for size in given]
    free = [k for k, size in enumerate(wanted) if size is Num(-1)]
    if len(free) > 1:
        raise Unsupported("a reshape with more than one -1")
    if free:
        (k,) = free
        wanted[k] = free_length(array.axes, wanted[:k], wanted[k + 1 :])
    groups, reading = regroup(array.axes, array.vars, wanted)
    axes = [tuple(var.dim for var in group) for group in groups]
    names = [var for group in groups for var in group]
    view = _view(array, axes, names, moved(reading, array.index))
    return view if _in_order(view, groups) else copy(view)


def _in_order(array: Array, groups: Sequence[Sequence[Var]]) -> bool:
    """Whether atoms that share an axis lie in memory one after the other, so that NumPy gives a view."""
    offset = flat(tuple(var.dim for var in array.buffer.value.vars), array.index)
    strides = {var: coefficient(offset, var) for group in groups for var in group}
    for group in groups:
        for outer, inner in pairwise(group):
            stride, step = strides[outer], strides[inner]
            if stride is None or step is None or not same(stride, mul(step, inner.dim)):
                return False
    return None not in strides.values()


@numpy_function("ravel", method=True)
def ravel(array: Any) -> Array:
    """``np.ravel``: one axis, a view where possible."""
    return reshape(array, -1)


@numpy_function("flatten", method=("flatten",))
def flatten(array: Any, start: int = 0, stop: int = -1) -> Array:
    """``x.flatten()``: one axis, always a copy; torch's form joins the axes from ``start`` to ``stop``."""
    array = as_array(array)
    first, last = axis_numbers((start, stop), max(array.ndim, 1))
    return copy(reshape(array, (*array.shape[:first], -1, *array.shape[last + 1 :])))


def permuted(array: Array, order: Sequence[int]) -> Array:
    """The view with the axes in another order."""
    groups = by_axis(array.axes, array.vars)
    if sorted(order) != list(range(array.ndim)):
        raise Unsupported(f"a transpose by {tuple(order)} of an array with {array.ndim} axes")
    return _view(array, [array.axes[k] for k in order], [var for k in order for var in groups[k]])


@numpy_function("transpose")
def transpose(array: Any, axes: Any = None) -> Array:
    """``np.transpose``."""
    array = as_array(array)
    order = tuple(reversed(range(array.ndim))) if axes is None else axis_numbers(axes, array.ndim)
    return permuted(array, order)


@numpy_function("transpose_method", method=("transpose", "permute"))
def transpose_method(array: Array, *axes: Any) -> Array:
    """``x.transpose(…)``, of two axes as PyTorch has it where the array has more."""
    if len(axes) == 2 and (array.ndim > 2 or notes().torch):
        return swapaxes(array, *axes)
    if len(axes) == 1 and (axes[0] is None or not is_integer_like(axes[0])):
        return transpose(array, axes[0])
    return transpose(array, axes or None)


@numpy_function("permute_dims", "permute")
def permute(array: Any, axes: Any) -> Array:
    """``np.permute_dims``."""
    return transpose(array, axes)


@numpy_function("t", method=("t",))
def matrix_transpose(array: Any) -> Array:
    """``x.t()``."""
    return transpose(array)


@numpy_function("swapaxes", "swapdims", method=("swapaxes", "swapdims"))
def swapaxes(array: Any, axis1: Any, axis2: Any) -> Array:
    """``np.swapaxes``."""
    array = as_array(array)
    first, second = axis_numbers((axis1, axis2), array.ndim)
    order = list(range(array.ndim))
    order[first], order[second] = second, first
    return permuted(array, order)


@numpy_function("moveaxis", "movedim", method=("movedim",))
def moveaxis(array: Any, source: Any, destination: Any) -> Array:
    """``np.moveaxis``."""
    array = as_array(array)
    sources, targets = axis_numbers(source, array.ndim), axis_numbers(destination, array.ndim)
    order = [k for k in range(array.ndim) if k not in sources]
    for target, moving in sorted(zip(targets, sources, strict=True)):
        order.insert(target, moving)
    return permuted(array, order)


@numpy_function("rollaxis")
def rollaxis(array: Any, axis: int, start: int = 0) -> Array:
    """``np.rollaxis``."""
    array = as_array(array)
    (moving,) = axis_numbers(axis, array.ndim)
    return moveaxis(array, moving, start - 1 if moving < start else start)


@numpy_function("expand_dims", "unsqueeze", method=("unsqueeze", "expand_dims"))
def expand_dims(array: Any, axis: Any) -> Array:
    """``np.expand_dims``."""
    array = as_array(array)
    places = axis if isinstance(axis, (tuple, list)) else (axis,)
    new = set(axis_numbers(places, array.ndim + len(places)))
    old = iter(array.axes)
    axes = [() if k in new else next(old) for k in range(array.ndim + len(places))]
    return _view(array, axes, array.vars)


@numpy_function("squeeze", method=True)
def squeeze(array: Any, axis: Any = None) -> Array:
    """``np.squeeze``: axes of length 1 go; an axis of symbolic length is taken to be longer."""
    array = as_array(array)
    if axis is None:
        return _view(array, [own for own in array.axes if own], array.vars)
    places = axis_numbers(axis, array.ndim)
    if any(array.axes[k] for k in places):
        raise ShapeMismatch(f"squeeze of axis {axis} of an array of shape {shown(array.axes)}")
    return _view(array, [own for k, own in enumerate(array.axes) if k not in places], array.vars)


@numpy_function("atleast_1d")
def atleast_1d(array: Any) -> Array:
    """``np.atleast_1d``."""
    array = as_array(array)
    return array if array.axes else _view(array, [()], ())


@numpy_function("atleast_2d")
def atleast_2d(array: Any) -> Array:
    """``np.atleast_2d``."""
    array = as_array(array)
    return _view(array, [()] * (2 - array.ndim) + list(array.axes), array.vars) if array.ndim < 2 else array


@numpy_function("broadcast_to", "expand_as", method=("expand_as",))
def broadcast_to(array: Any, shape: Any) -> Array:
    """``np.broadcast_to``; the result is read-only in NumPy and a copy here."""
    array = as_array(array)
    if isinstance(shape, Array):
        shape = shape.shape
    sizes = [
        array.shape[k - len(sizes_of(shape))] if is_integer_like(size) and integer_term(size) is Num(-1) else size
        for k, size in enumerate(sizes_of(shape))
    ]
    axes = [axis_of(integer_term(size)) for size in sizes]
    names = [var for axis in axes for var in fresh_variables(axis)]
    value = array.value
    place = Value(tuple(axes), tuple(names), Num(0))
    found, (_, reading) = unify([place, value], align_right([len(axes), len(value.axes)]))
    if any(found[k - len(axes)] and not axis for k, axis in enumerate(axes)) or len(value.axes) > len(axes):
        raise ShapeMismatch(f"shape {shown(value.axes)} does not broadcast to {shown(axes)}")
    order = range(-len(axes), 0)
    return Array.result(
        [tuple(var.dim for var in found[k]) for k in order], [var for k in order for var in found[k]],
        at(value.body, reading), array.kind,
    )  # fmt: skip


@numpy_function("expand", method=("expand",))
def expand(array: Array, *shape: Any) -> Array:
    """``x.expand(…)`` of PyTorch."""
    return broadcast_to(array, _shape_arguments(shape))


@numpy_function("tile")
def tile(array: Any, reps: Any) -> Array:
    """``np.tile``: every axis repeated as a whole."""
    array = as_array(array)
    counts = sizes_of(reps)
    axes = [()] * (len(counts) - array.ndim) + list(array.axes)
    counts = [1] * (len(axes) - len(counts)) + counts
    groups = by_axis(axes, array.vars)
    value = array.value
    new: list[Axis] = []
    names: list[Var] = []
    for axis, own, times in zip(axes, groups, counts, strict=True):
        outer = axis_of(integer_term(times))
        new.append((*outer, *axis))
        names += [*fresh_variables(outer), *own]
    return Array.result(new, names, value.body, array.kind)


@numpy_function("tile_method", method=("repeat_interleave",))
def repeat_interleave(array: Array, repeats: Any, axis: Any = None) -> Array:
    """``x.repeat_interleave`` of PyTorch, which is ``np.repeat``."""
    return repeat(array, repeats, axis)


@numpy_function("repeat", method=True)
def repeat(array: Any, repeats: Any, axis: Any = None) -> Array:
    """``np.repeat``: every entry repeated along an axis."""
    array = as_array(array)
    if axis is None:
        array, axis = ravel(array), 0
    (place,) = axis_numbers(axis, array.ndim)
    value = array.value
    groups = by_axis(value.axes, value.vars)
    inner = axis_of(integer_term(repeats))
    groups[place] = (*groups[place], *fresh_variables(inner))
    axes = [(*own, *inner) if k == place else own for k, own in enumerate(value.axes)]
    return Array.result(axes, [var for group in groups for var in group], value.body, array.kind)
