"""Axes as tuples of atomic sizes: aligning the axes of several arrays, regrouping them, and flat positions.

Two axes of equal length may be given by different atoms, ``(12,)`` and ``(3, 4)``; :func:`unify` then finds common
atoms and says how the old index variables read in the new ones. A size symbol cannot be split: code that needs it
split assumes a factorisation, which :class:`~symres.trace.signals.Refine` asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import ONE, Mul, Num, Pow, Size, Term, Var, add, mul, substitute
from symres.language.program import Axis
from symres.trace import refinements
from symres.trace.indexterms import floor_quotient, nonnegative
from symres.trace.polynomials import exact_quotient, index, same
from symres.trace.signals import NeedsConcreteSizes, ShapeMismatch, notes
from symres.trace.tidy import at

Reading = dict[Var, Term]
"""How old index variables read in terms of new ones."""


def length(axis: Axis) -> Term:
    """The length of an axis."""
    return index(mul(*axis))


def axis_of(size: Term) -> Axis:
    """The axis of a given length: one atom for each factor of a product, none for 1."""
    size = index(size)
    if size is ONE:
        return ()
    if isinstance(size, Num) and size.value <= 0:
        raise Unsupported(f"an axis of length {size.value}")
    if isinstance(size, Mul):
        return tuple(atom for factor in size.args for atom in axis_of(factor))
    if isinstance(size, Pow) and size.exponent.denominator == 1:
        return (size.base,) * int(size.exponent)
    return (size,)


def not_empty(size: Term) -> None:
    """Assume that a length is at least 1, where that is not proved."""
    if not isinstance(size, Num) and not nonnegative(size - 1):
        notes().fact(index(size - 1), f"{size!r} is at least 1")


def variable(dim: Term, hint: Var | None = None) -> Var:
    """A fresh index variable, named after its size."""
    if hint is not None:
        return Var(hint.name, dim)
    return Var(dim.name.lower() if isinstance(dim, Size) else "i", dim)


def variables(axis: Axis) -> tuple[Var, ...]:
    """Fresh index variables for the atoms of an axis."""
    return tuple(map(variable, axis))


def by_axis(axes: Iterable[Axis], indices: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The indices, grouped as the axes are."""
    groups, start = [], 0
    for axis in axes:
        groups.append(tuple(indices[start : start + len(axis)]))
        start += len(axis)
    return groups


def flat(axis: Axis, indices: Sequence[Term]) -> Term:
    """The position on the axis of the given indices of its atoms, row-major."""
    position: Term = Num(0)
    for dim, term in zip(axis, indices, strict=True):
        position = add(mul(position, dim), term)
    return index(position)


def unflat(axis: Axis, position: Term) -> tuple[Term, ...]:
    """The indices of the atoms at a position on the axis."""
    indices: list[Term] = []
    for dim in reversed(axis[1:]):
        above = floor_quotient(position, dim)
        indices.append(index(position - above * dim))
        position = above
    return (position, *reversed(indices)) if axis else ()


def shown(axes: Iterable[Axis]) -> str:
    """A shape as text."""
    return "(" + ", ".join(repr(length(axis)) for axis in axes) + ")"


class _Queue:
    """The atoms of an axis still to be matched, each with its variable; ``reading`` collects what became of the old."""

    def __init__(self, axis: Axis, names: Sequence[Var]) -> None:
        self.items: deque[tuple[Term, Var]] = deque(zip(axis, names, strict=True))
        self.reading: Reading = {}

    def note(self, var: Var, term: Term) -> None:
        self.reading = {old: at(new, {var: term}) for old, new in self.reading.items()}
        self.reading[var] = term

    def split(self, first: Term, rest: Term) -> Var:
        """Split the first atom into two; the variable of the first part."""
        _, var = self.items.popleft()
        outer, inner = variable(first, var), variable(rest, var)
        self.note(var, add(mul(outer, rest), inner))
        self.items.appendleft((rest, inner))
        return outer

    def merge(self) -> bool:
        """Merge the first two atoms where both are numbers."""
        if len(self.items) < 2 or not all(isinstance(dim, Num) for dim, _ in (self.items[0], self.items[1])):
            return False
        (outer_dim, outer), (inner_dim, inner) = self.items.popleft(), self.items.popleft()
        merged = variable(mul(outer_dim, inner_dim), outer)
        quotient = floor_quotient(merged, inner_dim)
        self.note(outer, quotient)
        self.note(inner, index(merged - quotient * inner_dim))
        self.items.appendleft((merged.dim, merged))
        return True

    @property
    def dims(self) -> Axis:
        return tuple(dim for dim, _ in self.items)


def common(
    left: Axis, left_vars: Sequence[Var], right: Axis, right_vars: Sequence[Var]
) -> tuple[tuple[Var, ...], Reading]:
    """Variables for the common atoms of two axes of equal length, and how the variables of both read in them.

    Raises:
        Refine: if a size symbol on one side is a product on the other.
        ShapeMismatch: if the lengths differ.
    """
    a, b = _Queue(left, left_vars), _Queue(right, right_vars)
    found: list[Var] = []
    while a.items and b.items:
        (x, x_var), (y, y_var) = a.items[0], b.items[0]
        if same(x, y):
            a.items.popleft()
            b.items.popleft()
            new = variable(x, x_var)
            a.note(x_var, new)
            b.note(y_var, new)
        elif (rest := exact_quotient(y, x)) is not None:
            new = b.split(x, rest)
            a.items.popleft()
            a.note(x_var, new)
        elif (rest := exact_quotient(x, y)) is not None:
            new = a.split(y, rest)
            b.items.popleft()
            b.note(y_var, new)
        elif a.merge() or b.merge():
            continue
        else:
            refinements.match(a.dims, b.dims)
            raise _unfit(left, right)
        found.append(new)
    if a.items or b.items:
        raise _unfit(left, right)
    return tuple(found), a.reading | b.reading


def _unfit(left: Axis, right: Axis) -> Unsupported:
    ours, theirs = length(left), length(right)
    if same(ours, theirs):
        return NeedsConcreteSizes(f"axes of length {ours!r} are split in different ways")
    refinements.equate(ours, theirs)
    mismatch = ShapeMismatch(f"axes of length {ours!r} and {theirs!r} do not fit")
    mismatch.lengths = ours, theirs
    return mismatch


def regroup(
    axes: Sequence[Axis], names: Sequence[Var], lengths: Sequence[Term]
) -> tuple[list[tuple[Var, ...]], Reading]:
    """The variables of an array of other shape with the same entries in row-major order, and how the old read in them.

    Raises:
        Refine: if a size symbol must be split for it.
        ShapeMismatch: if the number of entries differs.
    """
    queue = _Queue(tuple(dim for axis in axes for dim in axis), names)
    groups: list[tuple[Var, ...]] = []
    for target in lengths:
        need, group = index(target), []
        while need is not ONE:
            if not queue.items:
                raise _other_size(axes, lengths)
            dim, var = queue.items[0]
            if (rest := exact_quotient(need, dim)) is not None:
                queue.items.popleft()
                new = variable(dim, var)
                queue.note(var, new)
                need = rest
            elif (rest := exact_quotient(dim, need)) is not None:
                new, need = queue.split(need, rest), ONE
            elif queue.merge():
                continue
            else:
                refinements.split(dim, axis_of(need))
                raise _other_size(axes, lengths)
            group.append(new)
        groups.append(tuple(group))
    if queue.items:
        raise _other_size(axes, lengths)
    return groups, queue.reading


def _other_size(axes: Sequence[Axis], lengths: Sequence[Term]) -> ShapeMismatch:
    mismatch = ShapeMismatch(f"shape {shown(axes)} cannot become {tuple(lengths)!r}")
    mismatch.lengths = length(tuple(dim for axis in axes for dim in axis)), index(mul(*lengths))
    return mismatch


def free_length(axes: Sequence[Axis], before: Sequence[Term], after: Sequence[Term]) -> Term:
    """The length that ``-1`` stands for between the lengths before and after it in a reshape."""
    atoms = tuple(dim for axis in axes for dim in axis)
    found = exact_quotient(length(atoms), mul(*before, *after))
    if found is None:
        refinements.cut(atoms, before, after)
        raise ShapeMismatch(f"shape {shown(axes)} has no free length for -1 beside {(*before, *after)!r}")
    return found


def moved(reading: Reading, terms: Iterable[Term]) -> tuple[Term, ...]:
    """Index terms read in new variables."""
    return tuple(index(substitute(term, reading)) for term in terms)
