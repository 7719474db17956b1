"""What a reader would write more briefly: ReLU, |u|, max, min, the other side of a step, and masked minus infinity.

Each pattern is an identity of the functions concerned; nothing is recognised that is only similar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from symres.kernel.terms import ONE, Add, Entry, Fun, Iverson, Mul, Num, Sum, Term, add, mul, neg
from symres.language.constants import INFINITY
from symres.language.functions import relu, sign

RELU, ABS, MAX, MIN, NOT_STEP, MASKED = "relu", "abs", "max", "min", "not_step", "masked"
"""Functions that exist in print only."""


def factors(term: Term) -> tuple[Term, ...]:
    """The factors of a product, or the term itself."""
    return term.args if isinstance(term, Mul) else (term,)


def in_product(parts: tuple[Term, ...]) -> tuple[Term, ...]:
    """The factors with u·step(u) as ReLU(u) and u·(2 step(u) − 1) as |u|."""
    for position, part in enumerate(parts):
        found = _unit(part)
        if found is None:
            continue
        name, inner = found
        rest = _without(parts[:position] + parts[position + 1 :], factors(inner))
        if rest is not None:
            before, after = rest
            return in_product((*before, Fun(name, inner), *after))
    return parts


def _unit(part: Term) -> tuple[str, Term] | None:
    if isinstance(part, Fun) and part.name == "step":
        return RELU, part.args[0]
    if isinstance(part, Add) and isinstance(part.args[0], Mul) and isinstance(part.args[0].args[-1], Fun):
        inner = part.args[0].args[-1]
        if inner.name == "step" and part is sign(inner.args[0]):
            return ABS, inner.args[0]
    return None


def _without(parts: tuple[Term, ...], wanted: tuple[Term, ...]) -> tuple[tuple[Term, ...], tuple[Term, ...]] | None:
    """The parts before and after the place of the first wanted one, all wanted ones taken out."""
    left, place = list(parts), None
    for term in wanted:
        if term not in left:
            return None
        index = left.index(term)
        place = index if place is None else min(place, index)
        del left[index]
    return tuple(left[:place]), tuple(left[place or 0 :])


@dataclass(frozen=True)
class Item:
    """A summand: its sign and the term that follows."""

    negative: bool
    term: Term


def in_sum(args: tuple[Term, ...]) -> list[Item]:
    """The summands in the author's order, with those that read better together put together."""
    for start, (first, second) in enumerate(pairwise(args)):
        for pattern in _PATTERNS:
            found = pattern(first, signed(second))
            if found is not None:
                return in_sum((*args[:start], found, *args[start + 2 :]))
    return [signed(part) for part in args]


def signed(part: Term) -> Item:
    """The summand as a sign and what follows it; Σ(−a) counts as −Σ a."""
    if isinstance(part, Sum):
        inner = signed(part.body)
        return Item(inner.negative, Sum(part.var, inner.term) if inner.negative else part)
    number = part.args[0] if isinstance(part, Mul) else part
    if isinstance(number, Num) and number.value < 0:
        return Item(True, neg(part))
    return Item(False, part)


def _opposite(first: Term, second: Item) -> Term | None:
    """1 − step(u), which is 1 where u ≤ 0."""
    step = second.term
    found = first is ONE and second.negative and isinstance(step, Fun) and step.name == "step"
    return Fun(NOT_STEP, *step.children) if found else None


def _extreme(first: Term, second: Item) -> Term | None:
    """b + ReLU(a − b) is max(a, b), and a − ReLU(a − b) is min(a, b)."""
    inner = next((part.args[0] for part in factors(second.term) if isinstance(part, Fun) and part.name == "step"), None)
    if not isinstance(inner, Add) or second.term is not relu(inner):
        return None
    if not second.negative and inner.args[-1] is neg(first):
        return Fun(MAX, add(*inner.args[:-1]), first)
    if second.negative and inner.args[0] is first and len(inner.args) == 2:
        return Fun(MIN, first, neg(inner.args[1]))
    return None


def _masked(first: Term, second: Item) -> Term | None:
    """m·a − (1 − m)·∞ is a where m is 1, and −∞ elsewhere."""
    infinity, parts = INFINITY(), factors(second.term)
    if not second.negative or infinity not in parts or len(parts) != 2:
        return None
    opposite = next(part for part in parts if part is not infinity)
    for mask in factors(first):
        if opposite is add(1, neg(mask)) and isinstance(mask, (Entry, Iverson, Fun)):
            rest = list(factors(first))
            rest.remove(mask)
            return Fun(MASKED, mask, mul(*rest))
    return None


_PATTERNS: tuple[Callable[[Term, Item], Term | None], ...] = (_masked, _opposite, _extreme)
