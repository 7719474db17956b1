"""Taking expressions apart: exp of a sum, log of a product, a common factor of a denominator.

Each function gives the term that stands for the whole, or ``None`` where there is nothing to take apart. The certificate
proves each split again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from symres.export.rocq.monomials import Component, Factor, Poly, Powers, is_bit, powers
from symres.export.rocq.normal import Item
from symres.kernel.terms import ONE, Entry, Fun, Num, Size, Tensor, Term, add, mul, power, substitute, sum_


def term_of(mono: Powers, number: Fraction = Fraction(1)) -> Term:
    """A monomial as a term."""
    return mul(Num(number), *(power(_factor(factor), exponent) for factor, exponent in mono))


def _factor(factor: Factor) -> Term:
    if isinstance(factor, Component):
        return sum_(factor.vars, term_of(factor.factors))
    return factor


def exponential(poly: Poly, items: Mapping[Tensor, Item]) -> Term | None:
    """exp(Σ c m) = Π exp(m)^c, for whole numbers c; of c = p/q, exp(m/q)^p."""
    del items  # logarithms among the monomials are found when their exponential is
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


def single_log(poly: Poly, items: Mapping[Tensor, Item]) -> Term | None:
    """The w of which an expression is the logarithm, as an atom."""
    entry = log_atom(poly, items)
    if entry is None:
        return None
    item = items[entry.tensor]
    return substitute(item.body.children[0], dict(zip(item.vars, entry.args, strict=True)))


def log_atom(poly: Poly, items: Mapping[Tensor, Item]) -> Entry | None:
    """The atom log(w) that an expression is, if it is one."""
    if len(poly) != 1:
        return None
    ((mono, c),) = poly.items()
    if c != 1 or len(mono) != 1 or mono[0][1] != 1 or not isinstance(mono[0][0], Entry):
        return None
    item = items.get(mono[0][0].tensor)
    found = item is not None and isinstance(item.body, Fun) and item.body.name == "log"
    return mono[0][0] if found else None


def logarithm(poly: Poly, items: Mapping[Tensor, Item]) -> Term | None:
    """log(r Π exp(a)^e) = log(r) + Σ e a."""
    if len(poly) != 1:
        return None
    ((mono, c),) = poly.items()
    powers_of_e, rest = [], []
    for factor, exponent in mono:
        if _is_exp(factor, items):
            item = items[factor.tensor]  # type: ignore[union-attr]
            arg = substitute(item.body.children[0], dict(zip(item.vars, factor.args, strict=True)))  # type: ignore[union-attr]
            powers_of_e.append(mul(exponent, arg))
        else:
            rest.append((factor, exponent))
    if not powers_of_e:
        return None
    remaining = term_of(tuple(rest), c)
    return add(*powers_of_e) if remaining is ONE else add(Fun("log", remaining), *powers_of_e)


def content(poly: Poly, items: Mapping[Tensor, Item]) -> Term | None:
    """What is common to all monomials of a denominator, sums apart.

    A power of e is taken out also where only some monomials have it: 1 + exp(-x) = exp(x)^-1 (exp(x) + 1).
    """
    common = powers((f, min(es) if _is_exp(f, items) else _least(es)) for f, es in _exponents(poly).items())
    number = poly[min(poly, key=repr)]
    return None if not common and number == 1 else term_of(common, number)


def under_root(poly: Poly) -> Term | None:
    """The positive factor whose square can be taken out of a root; positive inputs leave no denominator behind."""
    exponents = _exponents(poly)
    common = powers(
        [(f, _least(es) // 2) for f, es in exponents.items() if isinstance(f, Size)]
        + [
            (f, (min(es) if min(es) < 0 else _least(es)) // 2)
            for f, es in exponents.items()
            if isinstance(f, Entry) and f.tensor.kind == "positive"
        ]
    )
    number = poly[min(poly, key=repr)]
    root = Fraction(math.isqrt(abs(number.numerator)), math.isqrt(number.denominator))
    root = root if root**2 == number else Fraction(1)
    if not common and root == 1:
        return None
    return term_of(common, root)


def _exponents(poly: Poly) -> dict[Factor, list[int]]:
    """The exponents of each plain factor in all monomials."""
    plain = [{f: e for f, e in mono if not isinstance(f, Component) and not is_bit(f)} for mono in poly]
    factors = dict.fromkeys(f for mono in plain for f in mono)
    return {f: [mono.get(f, 0) for mono in plain] for f in factors}


def _least(exponents: list[int]) -> int:
    """The exponent that all monomials share: 0 unless all have one sign."""
    low, high = min(exponents), max(exponents)
    return low if low > 0 else high if high < 0 else 0


def _is_exp(factor: Factor, items: Mapping[Tensor, Item]) -> bool:
    item = items.get(factor.tensor) if isinstance(factor, Entry) else None
    return item is not None and isinstance(item.body, Fun) and item.body.name == "exp"
