"""The exponential of masked scores: exp(m·a − (1 − m)·∞) is m·exp(a), taken as a limit for 0/1 masks m."""

from __future__ import annotations

from symres.kernel.terms import ONE, ZERO, Add, Entry, Mul, Num, Pow, Size, Term, add, mul, walk
from symres.language import functions
from symres.language.constants import INFINITY
from symres.trace.indexterms import is_binary
from symres.trace.tidy import addends, complement, factors

_INFINITY = INFINITY()


def exp(u: Term) -> Term:
    """The exponential; parts of u that are −∞ where a mask is 1 become a factor that is 0 there."""
    if _INFINITY not in walk(u):
        return functions.exp(u)
    finite: list[Term] = []
    open_: list[Term] = []
    for part in _spread(u):
        if _INFINITY not in factors(part):
            finite.append(part)
            continue
        closed = _closed(part)
        if closed is None:
            return functions.exp(u)
        open_.append(complement(closed))
    for mask in open_:
        finite = [_under(mask, part) for part in finite]
    return mul(*open_, functions.exp(add(*finite)))


def _spread(term: Term) -> list[Term]:
    """The parts of a sum, with products distributed over sums that contain infinity."""
    parts: list[Term] = []
    for part in addends(term):
        inner = next((f for f in factors(part) if isinstance(f, Add) and _open_infinity(f)), None)
        if inner is None or not isinstance(part, Mul):
            parts.append(part)
            continue
        rest = [f for f in part.args if f is not inner]
        parts += [mul(*rest, summand) for each in _spread(inner) for summand in (each,)]
    return parts


def _open_infinity(term: Add) -> bool:
    return any(_INFINITY in factors(part) or (isinstance(part, Mul) and any(
        isinstance(f, Add) and _open_infinity(f) for f in part.args)) for part in term.args)  # fmt: skip


def _closed(part: Term) -> Term | None:
    """The 0/1 factor of a part that is −∞ where it is 1; ``None`` if the part is of another form."""
    sign, masks = 1, []
    for factor in factors(part):
        if isinstance(factor, Num):
            sign = -1 if factor.value < 0 else 1
        elif is_binary(factor):
            masks.append(factor)
        elif not _positive(factor):
            return None
    return mul(*masks) if sign < 0 else None


def _positive(term: Term) -> bool:
    if isinstance(term, Pow):
        return _positive(term.base)
    return (
        isinstance(term, Size)
        or (isinstance(term, Entry) and term.tensor.kind == "positive")
        or (isinstance(term, Num) and term.value > 0)
    )


def _under(mask: Term, part: Term) -> Term:
    """The part where the mask is 1."""
    away = complement(mask)
    return mul(*(ONE if f is mask else ZERO if f is away else f for f in factors(part)))
