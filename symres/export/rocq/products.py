"""Single monomials: what depends on an index, nested sums opened, brackets as atoms, reciprocals."""

from __future__ import annotations

from fractions import Fraction

from symres.errors import Unsupported
from symres.export.rocq.indices import sides
from symres.export.rocq.monomials import AT_MOST, DELTA, Component, Factor, Poly, Powers, opened, powers
from symres.kernel.terms import Entry, Iverson, Num, Term, Var


def is_number(factor: Factor) -> bool:
    """Whether a factor is the delta of two numbers."""
    return isinstance(factor, Entry) and factor.tensor is DELTA and all(isinstance(arg, Num) for arg in factor.args)


def split(var: Var, mono: Powers) -> tuple[Powers, Powers]:
    """The factors without and with an index."""
    return tuple(p for p in mono if var not in p[0].free), tuple(p for p in mono if var in p[0].free)


def flattened(var: Var, inner: Powers) -> tuple[list[Var], list[tuple[Term, int]]]:
    """The nested sum of a product, its own sums opened from left to right."""
    bound, factors = [var], []
    for factor, exponent in inner:
        if isinstance(factor, Component):
            for _ in range(exponent):
                more, inside = opened(factor)
                bound += more
                factors += inside
        else:
            factors.append((factor, exponent))
    return bound, factors


def other(delta: Entry, var: Var) -> Term:
    """The index that a delta ties to ``var``."""
    left, right = delta.args
    return right if left is var else left


def inverted(poly: Poly, count: int) -> Poly | None:
    """The power ``-count`` of a single monomial without sums; ``None`` for anything else."""
    if len(poly) != 1:
        return None
    ((mono, c),) = poly.items()
    if any(isinstance(factor, Component) for factor, _ in mono):
        return None
    return {powers((factor, -e * count) for factor, e in mono): Fraction(1) / c**count}


def bracket(term: Iverson) -> Entry:
    """An Iverson bracket as an atom."""
    below, above = sides(term)
    if len(below) == len(above) == 1:
        return Entry(DELTA if term.rel == "=" else AT_MOST, (below[0], above[0]))
    raise Unsupported(f"Coq certificates have no index arithmetic: {term}")
