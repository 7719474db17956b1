"""Powers of polynomials: ``(a b)^q = a^q b^q`` for a factor ``a >= 0`` or an integer ``q``; ``(a^2)^(1/2) = |a|``."""

from __future__ import annotations

from fractions import Fraction

from symres.errors import Undefined
from symres.kernel.content import (
    Factors,
    atom_sign,
    extract_content,
    is_positive,
    leads_negative,
    open_choice,
    open_flag,
    pick,
    split,
)
from symres.kernel.monomials import Atom, Mono, Poly
from symres.kernel.normal import ZERO_POLY, from_factors, number, plus, poly_term, raise_to, scale, times
from symres.kernel.terms import Num, Var

_FACTOR_LIMIT = 10_000


def power_of(poly: Poly, exponent: Fraction) -> Poly:
    """``poly ** exponent``.

    Raises:
        Undefined: for a negative power of zero.
    """
    if not poly:
        if exponent < 0:
            raise Undefined("a division by an expression that is identically zero")
        return ZERO_POLY
    if exponent.denominator == 1 and exponent >= 0:
        return raise_to(poly, exponent.numerator)
    flag = open_flag(poly)
    if flag is not None:
        return split(flag, poly, lambda part: power_of(part, exponent))
    chosen = open_choice(poly)
    if chosen is not None:
        return pick(*chosen, lambda part: power_of(part, exponent))
    content, core = extract_content(poly, strict=False)
    outside = _factors_power(content, exponent)
    ((first, mono),) = list(core.monomials())[:1]
    if len(core.terms) == 1:
        return times(outside, _mono_power(first, mono, exponent))
    whole = exponent.denominator == 1
    if whole and leads_negative(core):
        core, outside = scale(core, -1), scale(outside, -1 if exponent.numerator % 2 else 1)
    return times(outside, from_factors({_power_atom(core): exponent}))


def _power_atom(base: Poly) -> Atom:
    return Atom("P", "", (base,), poly_term(base), sign="+" if is_positive(base) else "")


def _mono_power(coefficient: Fraction, mono: Mono, exponent: Fraction) -> Poly:
    """A power of one monomial, piece by piece as far as signs allow."""
    whole = exponent.denominator == 1
    sign = 1
    if coefficient < 0:
        if not whole:
            return from_factors({_power_atom(Poly({mono.key(): (coefficient, mono)})): exponent})
        sign = -1 if exponent.numerator % 2 else 1
    results = [scale(rational_power(abs(coefficient), exponent), sign)]
    unknown: list[tuple[frozenset[Var], Factors]] = []
    for bound, factors in mono.pieces():
        known = all(atom_sign(atom, e) for atom, e in factors.items()) if bound else False
        if bound:
            piece = Mono(bound, factors)
            base = Poly({piece.key(): (Fraction(1), piece)})
            if whole or known:
                results.append(from_factors({_power_atom(base): exponent}))
            else:
                unknown.append((bound, factors))
            continue
        ((atom, e),) = factors.items()
        if whole or atom_sign(atom, Fraction(1)) or e.denominator % 2 == 0:
            results.append(from_factors({atom: e * exponent}))
        elif e.denominator == 1 and e % 2 == 0 and (e * exponent).denominator == 1:
            results.append(_absolute_power(atom, e * exponent))
        else:
            unknown.append((bound, factors))
    if unknown:
        joint = Mono(
            frozenset().union(*(bound for bound, _ in unknown)), {a: e for _, fs in unknown for a, e in fs.items()}
        )
        base = Poly({joint.key(): (Fraction(1), joint)})
        results.append(from_factors({_power_atom(base): exponent}))
    product = results[0]
    for result in results[1:]:
        product = times(product, result)
    return product


def _absolute_power(atom: Atom, exponent: Fraction) -> Poly:
    value = from_factors({atom: exponent})
    if exponent.numerator % 2 == 0:
        return value
    from symres.kernel.functions import step_of

    base = from_factors({atom: Fraction(1)})
    return times(value, plus([scale(step_of(base), 2), number(-1)]))


def rational_power(value: Fraction, exponent: Fraction) -> Poly:
    """A power of a positive rational number: a rational number times proper fractional powers of primes."""
    if exponent.denominator == 1:
        return number(value**exponent.numerator)
    coefficient, factors = Fraction(1), {}
    for prime, count in prime_powers(value).items():
        total = exponent * count
        whole = total.numerator // total.denominator
        coefficient *= Fraction(prime) ** whole
        if total != whole:
            factors[Atom("R", str(prime), (), Num(prime), sign="+")] = total - whole
    return from_factors(factors, coefficient)


def prime_powers(value: Fraction) -> dict[int, int]:
    powers: dict[int, int] = {}
    for number_, sign in ((value.numerator, 1), (value.denominator, -1)):
        rest, prime = number_, 2
        while prime * prime <= rest and prime < _FACTOR_LIMIT:
            while rest % prime == 0:
                powers[prime] = powers.get(prime, 0) + sign
                rest //= prime
            prime += 1 if prime == 2 else 2
        if rest > 1:  # a prime, or a number too large to take apart; either way it stands for itself
            powers[rest] = powers.get(rest, 0) + sign
    return powers


def _factors_power(content: tuple[Fraction, Factors], exponent: Fraction) -> Poly:
    coefficient, factors = content
    return times(
        rational_power(coefficient, exponent), from_factors({atom: e * exponent for atom, e in factors.items()})
    )
