"""Quotients of sizes: whole ones, those that code assumes to be whole, and integer parts."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from symres.errors import Unsupported
from symres.kernel.terms import Num, Pow, Size, Term, mul, power
from symres.trace.indexterms import floor_quotient, is_integer, nonnegative
from symres.trace.polynomials import Poly, combine, exact_quotient, from_polynomial, index, polynomial
from symres.trace.signals import Refine, notes


def quotient(number: Term, divisor: Term) -> Term:
    """``number // divisor``.

    Raises:
        Refine: if a bare size is divided by other sizes: such code assumes that nothing remains.
    """
    exact = exact_quotient(number, divisor)
    if exact is not None:
        return exact
    if isinstance(number, Size) and not isinstance(divisor, Num) and _monomial_of_sizes(divisor):
        raise Refine(number.name, (divisor, None))
    return floor_quotient(number, divisor)


def remainder(number: Term, divisor: Term) -> Term:
    """``number % divisor``; such code asserts that a bare size is divisible.

    Raises:
        Refine: if a bare size is divided by a size or a number.
    """
    if exact_quotient(number, divisor) is not None:
        return Num(0)
    if isinstance(number, Size) and _monomial_of_sizes(divisor):
        raise Refine(number.name, (divisor, None))
    return index(number - divisor * floor_quotient(number, divisor))


def _monomial_of_sizes(term: Term) -> bool:
    poly = polynomial(term)
    return len(poly) == 1 and all(isinstance(atom, Size) for monomial in poly for atom in monomial)


def floor(term: Term, upwards: bool = False) -> Term:
    """The integer part of a term over sizes that is not negative; ``upwards`` the next integer from it on.

    Raises:
        Unsupported: for a number that is no quotient of sizes.
    """
    poly = polynomial(term)
    below: Term = Num(lcm(*(Fraction(value).denominator for value in poly.values())))
    for atom in {atom for monomial in poly for atom in monomial}:
        if isinstance(atom, Pow) and atom.exponent == -1 and is_integer(atom.base):
            below = mul(below, atom.base)
    above = from_polynomial(_cancelled(polynomial(mul(term, below))))
    if not (is_integer(above) and is_integer(below)):
        raise Unsupported("an integer is made of a number that depends on data")
    if not nonnegative(above):
        notes().fact(above, f"{above!r} is not negative")
    return quotient(index(above + below - 1), below) if upwards else quotient(above, below)


def _cancelled(poly: Poly) -> Poly:
    """The polynomial with S · (1/S) removed from its monomials."""
    result: Poly = {}
    for monomial, value in poly.items():
        rest = list(monomial)
        for atom in monomial:
            inverse = power(atom, -1)
            if not isinstance(atom, Pow) and inverse in rest and atom in rest:
                rest.remove(atom)
                rest.remove(inverse)
        result = combine((result, 1), ({tuple(rest): value}, 1))
    return result
