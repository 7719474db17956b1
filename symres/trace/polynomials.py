"""Integer index terms as polynomials in sizes, index variables and opaque integers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symres.errors import Undefined
from symres.kernel.terms import ONE, Add, Mul, Num, Number, Pow, Size, Term, Var, add, mul
from symres.trace.signals import notes

Monomial = tuple[Term, ...]
Poly = dict[Monomial, Number]

_MAX_POWER = 8


def order(atom: Term) -> tuple[int, str, int]:
    """The place of an atom in a monomial."""
    if isinstance(atom, Size):
        return (0, atom.name, 0)
    return (1, "", atom.uid) if isinstance(atom, Var) else (2, "", id(atom))


def polynomial(term: Term) -> Poly:
    """The polynomial in sizes, variables and opaque integer atoms; coefficients are never 0."""
    if isinstance(term, Num):
        return {(): _plain(term.value)} if term.value else {}
    if not isinstance(term, (Add, Mul, Pow)):
        return {(term,): 1}
    memo = notes().polynomials
    found = memo.get(term)
    if found is None:
        if isinstance(term, Add):
            found = combine(*((polynomial(part), 1) for part in term.args))
        elif isinstance(term, Mul):
            found = product(*map(polynomial, term.args))
        elif term.exponent.denominator == 1 and 0 < term.exponent <= _MAX_POWER:
            found = product(*(polynomial(term.base),) * int(term.exponent))
        else:
            found = {(term,): 1}
        memo[term] = found
    return found


def _plain(value: Number) -> Number:
    """An integer as an int: arithmetic with ints is several times faster."""
    return value.numerator if value.denominator == 1 else value


def combine(*parts: tuple[Mapping[Monomial, Number], Number]) -> Poly:
    """The sum of polynomials, each times a number."""
    result: Poly = {}
    for poly, factor in parts:
        for monomial, coefficient in poly.items():
            value = result.get(monomial, 0) + factor * coefficient
            if value:
                result[monomial] = value
            else:
                result.pop(monomial, None)
    return result


def product(*polys: Poly) -> Poly:
    """The product of polynomials."""
    result: Poly = {(): 1}
    for poly in polys:
        if len(poly) == 1 and () in poly:
            result = {monomial: value * poly[()] for monomial, value in result.items()}
            continue
        parts = [
            (tuple(sorted((*left, *right), key=order)) if left and right else left or right, a * b)
            for left, a in result.items()
            for right, b in poly.items()
        ]
        result = combine(*(({monomial: value}, 1) for monomial, value in parts))
    return result


def from_polynomial(poly: Poly) -> Term:
    """The polynomial as a term, positive parts first."""
    ordered = sorted(poly.items(), key=lambda item: item[1] < 0)
    return add(*(mul(coefficient, *monomial) for monomial, coefficient in ordered))


def index(term: Term) -> Term:
    """An index term with like parts collected."""
    return from_polynomial(polynomial(term)) if isinstance(term, (Add, Mul, Pow)) else term


def same(left: Term, right: Term) -> bool:
    """Whether two index terms are equal as polynomials."""
    return left is right or not polynomial(left - right)


def exact_quotient(number: Term, divisor: Term) -> Term | None:
    """``number / divisor`` when the division leaves no remainder as polynomials with integer coefficients."""
    if divisor is ONE:
        return index(number)
    quotient, rest = divide(polynomial(number), polynomial(divisor))
    return None if rest or not quotient else from_polynomial(quotient)


def divide(number: Poly, divisor: Poly) -> tuple[Poly, Poly]:
    """Quotient and rest; the parts of ``number`` that the divisor divides go into the quotient."""
    if not divisor:
        raise Undefined("division by a size that is 0")
    if len(divisor) == 1:
        ((monomial, coefficient),) = divisor.items()
        quotient: Poly = {}
        rest: Poly = {}
        for part, value in number.items():
            remaining = without(part, monomial)
            whole = value // coefficient if remaining is not None else 0
            if remaining is None or (remaining and whole * coefficient != value):
                rest[part] = value
                continue
            if whole:
                quotient[remaining] = whole
            if value - whole * coefficient:
                rest[part] = value - whole * coefficient
        return quotient, rest
    return _divide_by_sum(number, divisor)


def _divide_by_sum(number: Poly, divisor: Poly) -> tuple[Poly, Poly]:
    """The quotient if the division is exact, else 0 and the number as rest."""
    leading = _leading(divisor)
    rest, quotient = dict(number), {}
    while rest:
        part = _leading(rest)
        monomial = without(part, leading)
        value = Fraction(rest[part]) / divisor[leading]
        if monomial is None or value.denominator != 1:
            return {}, dict(number)
        quotient[monomial] = _plain(value)
        rest = combine((rest, 1), (product(divisor, {monomial: 1}), -quotient[monomial]))
    return quotient, {}


def _leading(poly: Poly) -> Monomial:
    """The first monomial in the graded lexicographic order."""
    return min(poly, key=lambda monomial: (-len(monomial), tuple(map(order, monomial))))


def without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """The monomial divided by another, where that goes."""
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def coefficient(term: Term, var: Var) -> Term | None:
    """The coefficient of a variable on which the term depends linearly, else ``None``."""
    found = {}
    for monomial, value in polynomial(term).items():
        if any(var in atom.free for atom in monomial):
            rest = [atom for atom in monomial if atom is not var]
            if len(rest) != len(monomial) - 1 or any(var in atom.free for atom in rest):
                return None
            found[tuple(rest)] = value
    return from_polynomial(found)
