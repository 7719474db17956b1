"""NumPy's indexing: basic keys give views, integer and boolean arrays give copies, and both can be assigned to."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Iverson, Num, Term, Var, add, mul, neg, walk
from symres.language.program import Axis
from symres.trace.array import Array, as_array
from symres.trace.axes import axis_of, by_axis, flat, length, moved, shown, unflat, variable, variables
from symres.trace.elementwise import assign, broadcast
from symres.trace.indexterms import floor_quotient, in_range, is_integer, nonnegative
from symres.trace.masked import Masked, masked_assign
from symres.trace.polynomials import exact_quotient, index
from symres.trace.registry import numpy_function
from symres.trace.signals import NeedsConcreteSizes, notes
from symres.trace.sizes import Dim, integer_term, is_integer_like
from symres.trace.tidy import at, bracket, complement

Part = Any
_CASES = 256


@numpy_function("getitem")
def getitem(array: Array, key: Any) -> Any:
    """``array[key]``: a view for a basic key, a scalar where no axis is left, a copy for arrays of indices."""
    mask = _mask(array, key)
    if mask is not None:
        return Masked(*mask)
    view = select(array, key)
    if isinstance(view, Gathered) or (not view.axes and not _has_ellipsis(key)):
        return Array.result(view.axes, view.vars, view.value.body, view.kind)
    return view


@numpy_function("setitem")
def setitem(array: Array, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    mask = _mask(array, key)
    if mask is not None:
        masked_assign(*mask, value)
        return
    if isinstance(value, Masked):
        raise Unsupported("a selection by a mask is assigned to places of another shape")
    assign(select(array, key), as_array(value))


class Gathered(Array):
    """The places that arrays of indices select: not a view in NumPy, but assignable."""

    __slots__ = ()


@numpy_function("places")
def select(array: Array, key: Any) -> Array:
    """The places that a key without masks selects, as a view."""
    parts = _parts(array, key)
    arrays = [_index_array(part) for part in parts if isinstance(part, Array)]
    gathered = bool(arrays)
    axes, names, bodies = broadcast(arrays) if arrays else ((), (), [])
    bodies.reverse()
    groups = iter(zip(array.axes, by_axis(array.axes, array.vars), strict=True))
    reading: dict[Var, Term] = {}
    new: list[tuple[Axis, Sequence[Var]]] = []
    places: list[int] = []
    broken = False
    for part in parts:
        if part is None:
            new.append(((), ()))
            continue
        axis, own = next(groups)
        if isinstance(part, Array) or is_integer_like(part):
            if gathered and places and places[-1] != len(new):
                broken = True
            places.append(len(new))
            position = bodies.pop() if isinstance(part, Array) else integer_term(part)
            reading |= _read(own, unflat(axis, _counted(position, axis)))
        elif isinstance(part, slice):
            taken, kept, terms = _slice(part, axis, own)
            reading |= _read(own, terms)
            new.append((taken, kept))
    if gathered:
        place = 0 if broken else places[0]
        inserted = list(zip(axes, by_axis(axes, names), strict=True))
        new[place:place] = inserted
    result_axes = tuple(axis for axis, _ in new)
    result_vars = tuple(var for _, kept in new for var in kept)
    kind = Gathered if gathered else Array
    return kind(array.buffer, result_axes, result_vars, moved(reading, array.index))


def _read(own: Sequence[Var], terms: Sequence[Term]) -> dict[Var, Term]:
    return {var: term for var, term in zip(own, terms, strict=True) if var is not term}


def _has_ellipsis(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, tuple) and any(part is Ellipsis for part in key))


def _parts(array: Array, key: Any) -> list[Part]:
    """The key with one part for each axis, and ``None`` for new ones."""
    given = list(key) if isinstance(key, tuple) else [key]
    given = [as_array(part) if isinstance(part, list) or _is_ndarray(part) else part for part in given]
    given = [integer_scalar(part) for part in given]
    used = sum(part is not None and part is not Ellipsis for part in given)
    missing = len(array.axes) - used
    if missing < 0:
        raise Unsupported(f"{used} indices for an array of shape {shown(array.axes)}")
    fill: list[Part] = [slice(None)] * missing
    where = next((k for k, part in enumerate(given) if part is Ellipsis), None)
    if where is None:
        return given + fill
    return given[:where] + fill + given[where + 1 :]


def _is_ndarray(part: Any) -> bool:
    return not isinstance(part, (Array, slice, int)) and bool(getattr(part, "ndim", 0)) and hasattr(part, "dtype")


def integer_scalar(part: Any) -> Any:
    """A 0-d integer array or NumPy integer as a Python or symbolic integer; other parts as they are."""
    if isinstance(part, bool) or part is None or part is Ellipsis or isinstance(part, (slice, Dim)):
        return part
    if isinstance(part, Integral):
        return int(part)
    if isinstance(part, Array) and not part.axes and part.kind == "int":
        term = part.value.body
        if is_integer(term):
            return int(term.value) if isinstance(term, Num) else Dim(term)
    return part


def _index_array(part: Array) -> Array:
    if part.kind != "int" or not is_integer(part.value.body):
        raise Unsupported(f"an array of {part.kind} numbers is used as indices")
    return part


def _counted(position: Term, axis: Axis) -> Term:
    """An index into an axis; negative numbers count from the end.

    Raises:
        Unsupported: for an index that is outside the axis.
    """
    total = length(axis)
    position, known = _enumerated(position, total)
    if not known and not nonnegative(position):
        if nonnegative(neg(position) - 1):
            position = index(add(position, total))
        else:
            notes().fact(position, f"the index {position!r} is not negative")
    if nonnegative(position - total):
        raise Unsupported(f"the index {position!r} is outside an axis of length {total!r}")
    if not known and not nonnegative(total - position - 1):
        notes().fact(index(total - position - 1), f"the index {position!r} is less than {total!r}")
    return position


def _enumerated(position: Term, total: Term) -> tuple[Term, bool]:
    """An index given case by case, such as a list of numbers: every case is looked at."""
    names = sorted(position.free, key=lambda var: var.uid)
    cases: list[dict[Var, Term]] = [{}]
    if not any(isinstance(node, Iverson) for node in walk(position)):
        return position, False
    for var in names:
        if not isinstance(var.dim, Num) or len(cases) * var.dim.value > _CASES:
            return position, False
        cases = [{**case, var: Num(k)} for case in cases for k in range(int(var.dim.value))]
    values = [at(position, case) for case in cases]
    if any(nonnegative(neg(value) - 1) for value in values):
        position = add(position, mul(total, complement(bracket(">=", position))))
        values = [at(position, case) for case in cases]
    return position, all(in_range(value, total) for value in values)


def _slice(part: slice, axis: Axis, own: Sequence[Var]) -> tuple[Axis, Sequence[Var], Sequence[Term]]:
    """The axis a slice leaves, its variables, and the old variables in terms of them."""
    step = 1 if part.step is None else part.step
    if part.start is None and part.stop is None and isinstance(step, int) and step == 1:
        return axis, own, own
    total = length(axis)
    if isinstance(step, int) and step < 0:
        if part.start is not None or part.stop is not None or step != -1:
            raise Unsupported("a slice with a negative step other than [::-1]")
        kept = variables(axis)
        return axis, kept, tuple(index(var.dim - 1 - var) for var in kept)
    start = _bound(part.start, total, Num(0))
    stop = _bound(part.stop, total, total)
    if (
        nonnegative(start)
        and not (isinstance(start, Num) and start.value == 0)
        and isinstance(total, Num)
        and isinstance(start, Num)
    ):
        start = Num(min(start.value, total.value))
    stride = integer_term(step)
    span = index(stop - start)
    if not nonnegative(span):
        if nonnegative(neg(span)):
            raise Unsupported("an empty slice")
        notes().fact(span, f"the slice from {start!r} to {stop!r} is not empty")
    if span is Num(0):
        raise Unsupported("an empty slice")
    if stride is Num(1):
        block = _block(axis, own, start, span)
        if block is not None:
            return block
    count = floor_quotient(add(span, stride, -1), stride)
    taken = axis_of(count)
    kept = variables(taken) if len(taken) != 1 else (variable(count, own[0] if own else None),)
    return taken, kept, unflat(axis, index(add(start, mul(stride, flat(taken, kept)))))


def _block(
    axis: Axis, own: Sequence[Var], start: Term, span: Term
) -> tuple[Axis, Sequence[Var], Sequence[Term]] | None:
    """A slice of whole blocks of a product axis leaves the inner atoms alone."""
    for depth in range(len(axis) - 1, 0, -1):
        inner = length(axis[depth:])
        first = exact_quotient(start, inner) if start is not Num(0) else Num(0)
        count = exact_quotient(span, inner)
        if first is None or count is None:
            continue
        outer = axis_of(count)
        names = variables(outer)
        terms = unflat(axis[:depth], index(add(first, flat(outer, names))))
        return (*outer, *axis[depth:]), (*names, *own[depth:]), (*terms, *own[depth:])
    return None


def _bound(value: Any, total: Term, default: Term) -> Term:
    """A bound of a slice: negative ones count from the end, those beyond it stop there."""
    if value is None:
        return default
    term = integer_term(value)
    if nonnegative(neg(term) - 1):
        term = index(add(term, total))
        if nonnegative(neg(term) - 1):
            return Num(0)
    elif not nonnegative(term):
        notes().fact(term, f"{term!r} is not negative")
    if nonnegative(term - total):
        return total
    if not nonnegative(total - term):
        notes().fact(index(total - term), f"{term!r} is at most {total!r}")
    return term


def _mask(array: Array, key: Any) -> tuple[Array, Array] | None:
    """``(view, mask)`` for a key with a boolean array: the places of the view where the mask holds are selected."""
    parts = list(key) if isinstance(key, tuple) else [key]
    parts = [as_array(part) if _is_ndarray(part) else part for part in parts]
    where = [k for k, part in enumerate(parts) if isinstance(part, Array) and part.kind == "bool"]
    if not where:
        return None
    if len(where) > 1 or any(isinstance(part, Array) and part.kind != "bool" for part in parts):
        raise NeedsConcreteSizes("a boolean array among other arrays of indices")
    (place,) = where
    mask: Array = parts[place]
    view = select(array, (*parts[:place], *(slice(None),) * mask.ndim, *parts[place + 1 :]))
    before = sum(part is None or isinstance(part, slice) for part in parts[:place])
    if any(part is Ellipsis for part in parts[:place]):
        before = view.ndim - mask.ndim - sum(part is None or isinstance(part, slice) for part in parts[place + 1 :])
    after = view.ndim - before - mask.ndim
    aligned = mask[(*(None,) * before, ..., *(None,) * after)] if mask.ndim else mask
    return view, aligned
