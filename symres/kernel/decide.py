"""Equality for all sizes.

Two terms are equal when the normal form of their difference is empty, also modulo the defining relation of each root
and quotient: with ``P`` the base of a power ``P^q`` and ``m`` its leading monomial, ``m P^q = P^(q+1) - (P - m) P^q``.
A positive answer is a proof; a negative one only says that no proof was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

from symres.errors import BudgetExceeded
from symres.kernel.monomials import Atom, Mono, Poly
from symres.kernel.normal import (
    from_factors,
    merge,
    normal_form,
    number,
    plus,
    power_atom_base,
    scale,
    start_work,
    times,
)
from symres.kernel.terms import Entry, Iverson, Num, Sum, Tensor, Term, Var, add, substitute, transform, walk

REWRITING_LIMIT = 2_000
CASE_LIMIT = 64
SUM_LIMIT = 4


ADJOINT, POINTWISE, STATISTIC, CONTRACTION = range(4)


class Defined(Protocol):
    """A definition, as far as the kernel uses it: the right-hand side at given indices, and what unfolding it costs.

    ``cost`` is ``ADJOINT`` for what depends on an upstream gradient, ``POINTWISE`` for a body without a sum,
    ``STATISTIC`` for sums over one tensor, ``CONTRACTION`` for others. It decides only what is tried first.
    """

    @property
    def cost(self) -> int:
        """The class of the body."""

    def at(self, indices: tuple[Term, ...]) -> Term:
        """The right-hand side at the given indices."""


def equal(left: Term, right: Term, definitions: Mapping[Tensor, Defined] | None = None) -> bool:
    """Whether the two terms are proved equal for all sizes and all values of their free variables.

    Entries of defined tensors are first taken as unknowns, which is enough for most steps; then definitions are unfolded,
    the cheap ones first, until the difference vanishes or none is left.

    Raises:
        BudgetExceeded: when the expressions grow beyond the limits of the kernel.
    """
    return not difference(left, right, definitions)


def difference(left: Term, right: Term, definitions: Mapping[Tensor, Defined] | None = None) -> Poly:
    """What is left of ``left - right`` when everything was tried: empty when the two are proved equal.

    As few definitions are unfolded as make it vanish. Denominators are cleared at the end, so a result that is not empty
    is a multiple of the difference, and no more than a sign that no proof was found.
    """
    definitions = definitions or {}
    start_work()
    order = {tensor: rank for rank, tensor in enumerate(definitions)}
    gap = left - right
    while True:
        form = reduce(normal_form(gap))
        if not form:
            return form
        opened = _unfold_cheapest(gap, definitions, order)
        if opened is gap:
            return Poly({}) if _vanishes_case_by_case(gap) else clear_denominators(form)
        gap = opened


def _unfold_cheapest(term: Term, definitions: Mapping[Tensor, Defined], order: Mapping[Tensor, int]) -> Term:
    """Unfold all adjoints, or else all pointwise definitions, or else the first statistic or the last contraction."""
    cost: int | None = None
    while True:
        used = {node.tensor for node in walk(term) if isinstance(node, Entry) and node.tensor in order}
        lowest = min((definitions[tensor].cost for tensor in used), default=None)
        if lowest is None or (cost is not None and lowest > cost):
            return term
        cost = lowest
        candidates = [tensor for tensor in used if definitions[tensor].cost == cost]
        chosen = (min if cost == STATISTIC else max)(candidates, key=order.__getitem__)
        term = unfold_one(term, chosen, definitions[chosen])
        if cost >= STATISTIC:
            return term


def _vanishes_case_by_case(gap: Term) -> bool:
    """Whether the term is zero at each value of the index variables of numeric range, free in brackets or summed over."""
    asked = {var for node in walk(gap) if isinstance(node, Iverson) for var in node.free & gap.free}
    numeric = [var for var in asked if isinstance(var.dim, Num)]
    cases: list[dict[Var, Term]] = [{}]
    for var in sorted(numeric, key=lambda var: var.uid):
        cases = [{**case, var: Num(k)} for case in cases for k in range(_count(var))]
        if len(cases) > CASE_LIMIT:
            return False
    sums = any(isinstance(node, Sum) and 0 < _count(node.var) <= SUM_LIMIT for node in walk(gap))
    if len(cases) == 1 and not sums:
        return False
    try:
        return all(_vanishes(_written_out(substitute(gap, case))) for case in cases)
    except BudgetExceeded:
        return False


def _vanishes(gap: Term) -> bool:
    return not clear_denominators(reduce(normal_form(gap)))


def _count(var: Var) -> int:
    """The number of values of an index variable, 0 where it is not a number."""
    return int(var.dim.value) if isinstance(var.dim, Num) else 0


def _written_out(term: Term) -> Term:
    """The term with every sum over a few numbers written out."""

    def rule(node: Term) -> Term | None:
        if isinstance(node, Sum) and 0 < _count(node.var) <= SUM_LIMIT:
            return add(*(substitute(node.body, {node.var: Num(k)}) for k in range(_count(node.var))))
        return None

    return transform(term, rule)


def unfold_one(term: Term, tensor: Tensor, definition: Defined) -> Term:
    """Every entry of one tensor replaced by its definition."""

    def rule(node: Term) -> Term | None:
        return definition.at(node.args) if isinstance(node, Entry) and node.tensor == tensor else None

    return transform(term, rule)


# ---------------------------------------------------------------- root relations


def reduce(poly: Poly) -> Poly:
    """Apply the relation of each power atom where its leading monomial divides, until it divides nowhere.

    Raises:
        BudgetExceeded: after ``REWRITING_LIMIT`` applications.
    """
    waiting, finished, count = list(poly.monomials()), [Poly({})], 0
    while waiting:
        coefficient, mono = waiting.pop()
        rewritten = _rewrite(coefficient, mono)
        if rewritten is None:
            finished.append(Poly({mono.key(): (coefficient, mono)}))
            continue
        waiting.extend(rewritten.monomials())
        count += 1
        if count > REWRITING_LIMIT:
            raise BudgetExceeded("the root relations were applied too many times")
    return plus(finished) if count else poly


def _rewrite(coefficient: Fraction, mono: Mono) -> Poly | None:
    for atom, exponent in mono.factors.items():
        if atom.kind != "P" or (exponent.denominator == 1 and exponent >= 0):
            continue
        base = power_atom_base(atom)
        lead = leading(base)
        if lead is None:
            continue
        lead_coefficient, lead_mono = lead
        rest = _divide(mono, atom, lead_mono)
        if rest is None:
            continue
        tail = plus([base, Poly({lead_mono.key(): (-lead_coefficient, lead_mono)})])
        unit = coefficient / lead_coefficient
        return plus(
            [
                _times_inside(rest, {atom: exponent + 1}, number(unit)),
                _times_inside(rest, {atom: exponent}, scale(tail, -unit)),
            ]
        )
    return None


def _times_inside(rest: Mono, factors: dict[Atom, Fraction], other: Poly) -> Poly:
    """``rest * factors * other`` under the binders of ``rest``."""
    from symres.kernel.brackets import bind

    open_rest = Poly({"": (Fraction(1), Mono(frozenset(), rest.factors))})
    return bind(times(times(open_rest, from_factors(factors)), other), rest.bound)


_LEADING_LIMIT = 4_096
_leading: dict[str, tuple[Fraction, Mono] | None] = {}


def leading(base: Poly) -> tuple[Fraction, Mono] | None:
    """The monomial by which a base is rewritten: a plain scalar if there is one, else the most connected.

    It has a factor that is no unit, and divides no other monomial of the base, so that rewriting ends.
    """
    key = base.key()
    if key not in _leading:
        if len(_leading) > _LEADING_LIMIT:
            _leading.clear()
        _leading[key] = _find_leading(base)
    return _leading[key]


def _find_leading(base: Poly) -> tuple[Fraction, Mono] | None:
    candidates = []
    for coefficient, mono in base.monomials():
        core = {atom: e for atom, e in mono.factors.items() if not _is_unit(atom)}
        if not core:
            units = {atom: e for atom, e in mono.factors.items() if atom.kind == "E"}
            if not units:
                continue
            core = units
        scalar = not mono.bound and all(not atom.free and e == 1 for atom, e in core.items()) and len(core) == 1
        pieces = len(mono.pieces())
        candidates.append(
            (
                not scalar,
                -max((abs(e) for e in core.values()), default=0),
                pieces,
                mono.key(_stars(mono)),
                coefficient,
                mono,
            )
        )
    candidates.sort(key=lambda item: item[:4])
    for *_, coefficient, mono in candidates:
        others = [other for _, other in base.monomials() if other.key() != mono.key()]
        if all(_divide(other, None, mono) is None for other in others):
            return coefficient, mono
    return None


def _stars(mono: Mono) -> dict[Var, str]:
    return dict.fromkeys(mono.free, "*")


def _is_unit(atom: Atom) -> bool:
    return atom.kind in "NRE"


def _divide(mono: Mono, power: Atom | None, divisor: Mono) -> Mono | None:
    """``mono / (power * divisor)`` if every piece of the divisor is a piece of ``mono`` with the power's variables fixed."""
    fixed = divisor.free | (power.free if power is not None else frozenset())
    exponents = dict(mono.factors)
    if power is not None:
        del exponents[power]
    target = Mono(mono.bound, exponents)
    rest: dict[Atom, Fraction] = {}
    available: list[tuple[str, frozenset[Var], dict[Atom, Fraction]]] = []
    for bound, factors in target.pieces(fixed):
        if bound:
            available.append((Mono(bound, factors).key(), bound, factors))
        else:
            rest.update(factors)
    bound_left = mono.bound
    for bound, factors in divisor.pieces():
        if not bound:
            ((atom, e),) = factors.items()
            have = rest.get(atom, Fraction(0))
            if atom.kind in "NR":
                pass
            elif have < e or have == 0:
                return None
            if have == e:
                del rest[atom]
            else:
                rest[atom] = have - e
            continue
        key = Mono(bound, factors).key()
        for index, (found, own, _) in enumerate(available):
            if found == key:
                bound_left = bound_left - own
                del available[index]
                break
        else:
            return None
    for _, _, factors in available:
        rest = merge(rest, factors)
    return Mono(bound_left, rest)


def clear_denominators(poly: Poly) -> Poly:
    """Multiply by the powers of free bases, which are not zero where the terms are defined; the result vanishes if and
    only if the polynomial does."""
    for _ in range(24):
        if not poly:
            return poly
        lowest: dict[Atom, Fraction] = {}
        for _, mono in poly.monomials():
            for atom, exponent in mono.factors.items():
                if atom.kind == "P" and atom.free.isdisjoint(mono.bound):
                    lowest[atom] = min(exponent, lowest.get(atom, Fraction(0)))
        negative = {atom: e for atom, e in lowest.items() if e < 0}
        if not negative:
            return poly
        atom = min(negative, key=lambda item: item.ident)
        lift = -negative[atom]
        lifted = []
        for coefficient, mono in poly.monomials():
            # Exponents are added before a positive power is multiplied out, or nothing would cancel.
            rest = {other: e for other, e in mono.factors.items() if other != atom}
            exponent = mono.factors.get(atom, Fraction(0)) + lift
            lifted.append(
                _times_inside(Mono(mono.bound, rest), {atom: exponent} if exponent else {}, number(coefficient))
            )
        poly = reduce(plus(lifted))
    return poly
