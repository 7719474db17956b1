"""Taking expressions apart: exp of a sum, log of a product, a common factor of a denominator.

Each function gives the term that stands for the whole, or ``None`` where there is nothing to take apart. The certificate
proves each split again.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symres.export.rocq.monomials import Component, Factor, Poly, Powers, is_bit, powers
from symres.export.rocq.normal import Item
from symres.kernel.terms import ONE, Entry, Fun, Num, Tensor, Term, add, mul, power, substitute, sum_


def term_of(mono: Powers, number: Fraction = Fraction(1)) -> Term:
    """A monomial as a term."""
    return mul(Num(number), *(power(_factor(factor), exponent) for factor, exponent in mono))


def _factor(factor: Factor) -> Term:
    if isinstance(factor, Component):
        return sum_(factor.vars, term_of(factor.factors))
    return factor


def exponential(poly: Poly) -> Term | None:
    """exp(Σ c m) = Π exp(m)^c, for whole numbers c; of c = p/q, exp(m/q)^p."""
    if len(poly) == 1 and next(iter(poly.values())).numerator == 1:
        return None
    if not poly:
        return ONE
    return mul(
        *(
            power(Fun("exp", term_of(mono, Fraction(1, c.denominator))), c.numerator)
            for mono, c in sorted(poly.items(), key=repr)
        )
    )


def logarithm(poly: Poly, items: Mapping[Tensor, Item]) -> Term | None:
    """log(r Π exp(a)^e) = log(r) + Σ e a."""
    if len(poly) != 1:
        return None
    ((mono, c),) = poly.items()
    powers_of_e, rest = [], []
    for factor, exponent in mono:
        item = items.get(factor.tensor) if isinstance(factor, Entry) else None
        if item is not None and isinstance(item.body, Fun) and item.body.name == "exp":
            arg = substitute(item.body.args[0], dict(zip(item.vars, factor.args, strict=True)))  # type: ignore[union-attr]
            powers_of_e.append(mul(exponent, arg))
        else:
            rest.append((factor, exponent))
    if not powers_of_e:
        return None
    remaining = term_of(tuple(rest), c)
    return add(*powers_of_e) if remaining is ONE else add(Fun("log", remaining), *powers_of_e)


def content(poly: Poly) -> tuple[Term, Term] | None:
    """A denominator as a product of what is common to all its monomials, sums apart, and of the rest."""
    least: dict[Factor, int] = {}
    for k, mono in enumerate(poly):
        plain: dict[Factor, int] = {f: e for f, e in mono if not isinstance(f, Component) and not is_bit(f)}
        if k == 0:
            least = dict(plain)
        least = {f: min(least.get(f, 0), plain.get(f, 0)) for f in {*least, *plain}}
    common = powers(least.items())
    first = min(poly, key=repr)
    number = poly[first]
    if not common and number == 1:
        return None
    inverse = [(f, -e) for f, e in common]
    rest = add(*(term_of(powers((*mono, *inverse)), c / number) for mono, c in sorted(poly.items(), key=repr)))
    return term_of(common, number), rest
