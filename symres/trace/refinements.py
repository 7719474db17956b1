"""Factorisations of sizes that code assumes: each function raises :class:`Refine` where one makes shapes fit."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from symres.kernel.terms import ONE, Fun, Num, Size, Term
from symres.language.program import Axis
from symres.trace.polynomials import combine, exact_quotient, from_polynomial, polynomial
from symres.trace.signals import Refine


def match(left: Axis, right: Axis) -> None:
    """Two axes of equal length, the first atoms of which do not fit."""
    for one, other in ((left, right), (right, left)):
        size, first = one[0], other[0]
        if not isinstance(size, Size):
            continue
        if _is_quotient_of(first, size):
            raise Refine(size.name, (None, first.args[1]))  # type: ignore[attr-defined]
        if len(one) == 1 and len(other) > 1 and size not in other:
            raise Refine(size.name, other)
        if len(other) == 1 and len(one) > 1 and isinstance(first, Num):
            raise Refine(size.name, (first, None))


def equate(left: Term, right: Term) -> None:
    """Two lengths that are equal only if a size is a product of others, such as K - 3·E and E."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Fun) and isinstance(one.args[0], Size) and _is_product(other, one.args[0]):
            raise Refine(one.args[0].name, (one.args[1], *_factors(other)))
    poly = combine((polynomial(left), 1), (polynomial(right), -1))
    for atom in (atom for monomial in poly for atom in monomial):
        if isinstance(atom, Fun) and atom.name == "floordiv" and isinstance(atom.args[0], Size):
            raise Refine(atom.args[0].name, (atom.args[1], None))
    for monomial, coefficient in poly.items():
        size = monomial[0] if len(monomial) == 1 else ONE
        if isinstance(size, Size) and coefficient in (1, -1):
            rest = from_polynomial(combine(({m: c for m, c in poly.items() if m != monomial}, -coefficient)))
            if _is_product(rest, size) and len(_factors(rest)) > 1:
                raise Refine(size.name, _factors(rest))


def split(dim: Term, need: Axis) -> None:
    """An atom of which ``need`` is to be the first part."""
    if not isinstance(dim, Size):
        return
    if len(need) == 1 and _is_quotient_of(need[0], dim):
        raise Refine(dim.name, (None, need[0].args[1]))  # type: ignore[attr-defined]
    if dim not in need:
        raise Refine(dim.name, (*need, None))


def cut(atoms: Sequence[Term], before: Sequence[Term], after: Sequence[Term]) -> None:
    """The atoms of an array that is reshaped to ``(*before, -1, *after)`` where the division leaves a rest."""
    for forward, lengths in ((True, before), (False, tuple(reversed(after)))):
        rest = deque(atoms if forward else reversed(atoms))
        for need in lengths:
            while need is not ONE and rest:
                dim = rest.popleft()
                quotient = exact_quotient(need, dim)
                if quotient is None:
                    if isinstance(dim, Size):
                        raise Refine(dim.name, (need, None) if forward else (None, need))
                    return
                need = quotient


def _is_quotient_of(term: Term, size: Term) -> bool:
    return isinstance(term, Fun) and term.name == "floordiv" and term.args[0] is size


def _factors(term: Term) -> tuple[Term, ...]:
    ((monomial, coefficient),) = polynomial(term).items()
    return monomial if coefficient == 1 else (Num(coefficient), *monomial)


def _is_product(term: Term, size: Size) -> bool:
    """Whether the term is a product of other sizes and a positive integer."""
    poly = polynomial(term)
    if len(poly) != 1:
        return False
    ((monomial, coefficient),) = poly.items()
    return coefficient >= 1 and all(isinstance(atom, Size) and atom is not size for atom in monomial)
