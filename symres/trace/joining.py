"""Arrays side by side and cut apart: stack, concatenate, split, pad, roll, windows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import ZERO, Entry, Num, Size, Term, Var, add, mul
from symres.language.program import Axis, Value
from symres.trace.array import Array, as_array
from symres.trace.axes import axis_of, by_axis, flat, length, variable, variables
from symres.trace.creation import filled
from symres.trace.elementwise import assign, broadcast, widest
from symres.trace.indexterms import nonnegative
from symres.trace.polynomials import exact_quotient, index, same
from symres.trace.reductions import axis_numbers
from symres.trace.registry import call, numpy_function
from symres.trace.shaping import sizes_of
from symres.trace.signals import Refine, ShapeMismatch, notes
from symres.trace.sizes import integer, integer_term, is_integer_like
from symres.trace.tidy import at, bracket, equal_indices, summed


def _listed(arrays: Any) -> list[Array]:
    made = [as_array(array) for array in arrays]
    if not made:
        raise Unsupported("no arrays to join")
    return made


@numpy_function("stack")
def stack(arrays: Any, axis: int = 0) -> Array:
    """``np.stack``: a new axis whose index tells which array; an array counts as the list of its rows."""
    if isinstance(arrays, Array):
        rows: Array = call("copy", call("moveaxis", arrays, 0, axis))
        return rows
    made = _listed(arrays)
    if any(len(one.axes) != len(made[0].axes) for one in made):
        raise ShapeMismatch("arrays of different shapes are stacked")
    axes, names, bodies = broadcast(made)
    if any(bool(own) != bool(joint) for one in made for own, joint in zip(one.axes, axes, strict=True)):
        raise ShapeMismatch("arrays of different shapes are stacked")
    (place,) = axis_numbers(axis, len(axes) + 1)
    new = axis_of(Num(len(made)))
    which = variables(new)
    body = _piecewise(which, bodies)
    groups = by_axis(axes, names)
    groups.insert(place, which)
    result = Array.result(
        (*axes[:place], new, *axes[place:]), [var for group in groups for var in group], body, widest(made)
    )
    result.scalar = False
    return result


def _piecewise(which: Sequence[Var], bodies: Sequence[Term]) -> Term:
    """The body whose number is the index ``which``."""
    if not which or all(body is bodies[0] for body in bodies):
        return bodies[0]
    return add(*(mul(equal_indices(which[0], Num(k)), body) for k, body in enumerate(bodies)))


@numpy_function("concatenate", "concat", "cat")
def concatenate(arrays: Any, axis: Any = 0) -> Array:
    """``np.concatenate``: parts of equal length give a product axis (part, place); others one after the other."""
    if isinstance(arrays, Array) and axis is not None:
        return _joined(arrays, *axis_numbers(axis, arrays.ndim - 1))
    made = _listed(arrays)
    if axis is None:
        made, axis = [call("ravel", one) for one in made], 0
    (place,) = axis_numbers(axis, made[0].ndim)
    first = made[0].axes[place]
    if all(one.axes[place] == first for one in made):
        return _joined(made, place)
    total = index(add(*(length(one.axes[place]) for one in made)))
    whole = [*made[0].axes]
    whole[place] = axis_of(total) if isinstance(total, (Num, Size)) else (total,)
    result = filled(tuple(whole), ZERO, widest(made))
    before = (slice(None),) * place
    start: Any = 0
    for one in made:
        stop = start + one.shape[place]
        assign(result[(*before, slice(start, stop))], one)
        start = stop
    return result


def _joined(parts: Any, place: int) -> Array:
    """Parts of one shape along an axis, which becomes the product axis (part, place)."""
    joined = stack(parts, place)
    axes = [*joined.axes[:place], (*joined.axes[place], *joined.axes[place + 1]), *joined.axes[place + 2 :]]
    return Array.from_value(Value(tuple(axes), joined.vars, joined.value.body), joined.kind)


def _stacker(name: str, minimum: int, axis: int) -> None:
    def join(arrays: Any) -> Array:
        if isinstance(arrays, Array):
            if arrays.ndim - 1 < minimum:
                return stack(arrays) if minimum > 1 else concatenate(arrays)
            return concatenate(arrays, axis if arrays.ndim > 2 else 0)
        made = [call(f"atleast_{minimum}d", array) for array in arrays]
        return concatenate(made, axis if made[0].ndim > 1 else 0)

    numpy_function(name)(join)


_stacker("vstack", 2, 0)
_stacker("row_stack", 2, 0)
_stacker("hstack", 1, 1)


@numpy_function("column_stack")
def column_stack(arrays: Any) -> Array:
    """``np.column_stack``."""
    made = [as_array(one) for one in arrays]
    return concatenate([one[:, None] if one.ndim == 1 else one for one in made], 1)


@numpy_function("append")
def append(array: Any, values: Any, axis: Any = None) -> Array:
    """``np.append``."""
    return concatenate([array, values], axis)


@numpy_function("split", "array_split", method=("split",))
def split(array: Any, parts: Any, axis: Any = 0) -> list[Any]:
    """``np.split``: equal parts, or cuts at given places; views.

    Raises:
        Refine: if a size symbol must be divisible by the number of parts.
    """
    array = as_array(array)
    (place,) = axis_numbers(axis, array.ndim)
    before = (slice(None),) * place
    total = length(array.axes[place])
    if is_integer_like(parts):
        count = integer_term(parts)
        each = exact_quotient(total, count)
        if each is None:
            own = array.axes[place]
            if len(own) == 1 and isinstance(own[0], Size):
                raise Refine(own[0].name, (count, None))
            raise Unsupported(f"an axis of length {total!r} is split into {count!r} parts")
        width = integer(each)
        if not isinstance(count, Num):
            raise Unsupported("a split into a symbolic number of parts")
        cuts = [k * width for k in range(1, int(count.value))]
    else:
        cuts = list(parts)
    bounds = [0, *cuts, integer(total)]
    return [array[(*before, slice(low, high))] for low, high in pairwise(bounds)]


@numpy_function("chunk", method=True)
def chunk(array: Any, parts: Any, axis: Any = 0) -> list[Any]:
    """``torch.chunk`` into equal parts."""
    return split(array, parts, axis)


for _name, _axis in {"vsplit": 0, "hsplit": 1, "dsplit": 2}.items():
    numpy_function(_name)(lambda array, parts, _axis=_axis: split(array, parts, _axis))


@numpy_function("pad")
def pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Array:
    """``np.pad`` with a constant."""
    if mode != "constant":
        raise Unsupported(f"np.pad with mode={mode!r}")
    array = as_array(array)
    widths = _widths(pad_width, array.ndim)
    fill = as_array(constant_values)
    padded = _shifted_entry(array, widths) if fill.scalar_term is ZERO else None
    if padded is not None:
        return padded
    axes, key = [], []
    for axis, size, (low, high) in zip(array.axes, array.shape, widths, strict=True):
        total = integer_term(low + size + high)
        axes.append(axis if same(total, length(axis)) else axis_of(total) if isinstance(total, Num) else (total,))
        key.append(slice(low, low + size))
    kind = widest([array, fill]) if fill.scalar_term is not ZERO else array.kind
    result = filled(tuple(axes), fill.value.body, kind)
    result[tuple(key)] = array
    return result


def _shifted_entry(array: Array, widths: Sequence[tuple[Any, Any]]) -> Array | None:
    """Zero padding of an array whose entries are bare entries of a tensor: those are 0 outside their range."""
    value = array.value
    body = value.body
    if not isinstance(body, Entry) or body.tensor.kind in ("int", "bool"):
        return None
    axes: list[Axis] = []
    names: list[Var] = []
    reading: dict[Var, Term] = {}
    for axis, own, (low, high) in zip(value.axes, by_axis(value.axes, value.vars), widths, strict=True):
        if integer_term(low) is ZERO and integer_term(high) is ZERO:
            axes.append(axis)
            names += own
            continue
        if len(axis) != 1 or not any(
            arg is own[0] and same(dim, axis[0]) for arg, dim in zip(body.args, body.tensor.dims, strict=True)
        ):
            return None
        total = index(add(integer_term(low), axis[0], integer_term(high)))
        new = variable(total, own[0])
        axes.append((total,))
        names.append(new)
        reading[own[0]] = index(new - integer_term(low))
    return Array.result(axes, names, at(body, reading), array.kind)


def _widths(pad_width: Any, ndim: int) -> list[tuple[Any, Any]]:
    if is_integer_like(pad_width):
        return [(pad_width, pad_width)] * ndim
    rows = list(pad_width)
    if all(map(is_integer_like, rows)):
        return [(rows[0], rows[-1])] * ndim
    if len(rows) == 1:
        rows = rows * ndim
    if len(rows) != ndim:
        raise Unsupported(f"np.pad with {len(rows)} widths for an array with {ndim} axes")
    return [(row, row) if is_integer_like(row) else (row[0], row[-1]) for row in map(_row, rows)]


def _row(row: Any) -> Any:
    return row if is_integer_like(row) else sizes_of(row)


@numpy_function("flip", method=True)
def flip(array: Any, axis: Any = None) -> Any:
    """``np.flip``: a view."""
    array = as_array(array)
    places = axis_numbers(axis, array.ndim)
    return array[tuple(slice(None, None, -1) if k in places else slice(None) for k in range(array.ndim))]


for _name, _axis in {"flipud": 0, "fliplr": 1}.items():
    numpy_function(_name)(lambda array, _axis=_axis: flip(array, _axis))


@numpy_function("rot90")
def rot90(array: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """``np.rot90``."""
    for _ in range(k % 4):
        array = flip(call("swapaxes", array, *axes), axes[0])
    return array


@numpy_function("roll")
def roll(array: Any, shift: Any, axis: Any = None) -> Any:
    """``np.roll``: entry i is Σ_u ([i = u + s] + [i = u + s − n]) x(u) for 0 ≤ s < n."""
    array = as_array(array)
    if axis is None:
        return call("reshape", roll(call("ravel", array), shift, 0), array.shape)
    if isinstance(axis, (tuple, list)):
        for amount, each in zip(shift if not is_integer_like(shift) else [shift] * len(axis), axis, strict=True):
            array = roll(array, amount, each)
        return array
    (place,) = axis_numbers(axis, array.ndim)
    value = array.value
    own, names = value.axes[place], by_axis(value.axes, value.vars)[place]
    size = length(own)
    amount = _turned(integer_term(shift), size)
    bound = variables(own)
    ahead = flat(own, names) - flat(own, bound) - amount
    hit = add(bracket("=", ahead), bracket("=", ahead + size))
    body = summed(bound, mul(hit, at(value.body, dict(zip(names, bound, strict=True)))))
    return Array.result(value.axes, value.vars, body, array.kind)


def _turned(amount: Term, size: Term) -> Term:
    """A shift modulo the length of the axis; a shift of a symbolic axis is taken to be shorter than it."""
    if isinstance(amount, Num) and isinstance(size, Num):
        return Num(amount.value % size.value)
    if nonnegative(mul(-1, amount) - 1):
        amount = index(add(amount, size))
    for low in (amount, size - amount - 1):
        if not nonnegative(low):
            notes().fact(index(low), f"{amount!r} is an index of an axis of length {size!r}")
    return amount
