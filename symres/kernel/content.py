"""What is known of the sign of an atom, common factors of polynomials, and 0/1 factors and choices inside functions.

* A 0/1 factor M inside a function: ``f(M a + b) = M f(a + b) + (1 - M) f(b)``.
* A chosen entry inside a function: ``f(Σ_c [c = e] b(c)) = Σ_c [c = e] f(b(c))``, since exactly one c equals e.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd, lcm

from symres.kernel.brackets import bind, choice
from symres.kernel.monomials import Atom, Mono, Poly
from symres.kernel.normal import ZERO_POLY, from_factors, merge, number, plus, rename_poly, scale, times
from symres.kernel.terms import Var

Factors = dict[Atom, Fraction]


def atom_sign(atom: Atom, exponent: Fraction) -> str:
    """``+`` when the power is known to be > 0, ``0`` when >= 0, else the empty string."""
    if exponent.denominator == 1 and exponent % 2 == 0 and not atom.sign:
        return "0"
    if atom.sign:
        return atom.sign
    # A root or a fractional power exists only for a nonnegative base.
    return "+" if exponent.denominator % 2 == 0 else ""


def is_positive(poly: Poly) -> bool:
    """Whether every monomial is visibly >= 0 and one of them visibly > 0."""
    strict = False
    for coefficient, mono in poly.monomials():
        signs = [atom_sign(atom, e) for atom, e in mono.factors.items()]
        if coefficient < 0 or not all(signs):
            return False
        strict = strict or all(sign == "+" for sign in signs)
    return strict


def extract_content(poly: Poly, *, strict: bool) -> tuple[tuple[Fraction, Factors], Poly]:
    """The largest common factor of known sign: a positive rational, and powers of atoms that are > 0 (>= 0 unless strict).

    Only atoms with no bound variable can be common. The rest has coprime integer coefficients.
    """
    numerators = gcd(*(abs(c.numerator) for c, _ in poly.monomials()))
    denominators = lcm(*(c.denominator for c, _ in poly.monomials()))
    rational = Fraction(numerators, denominators)
    common: Factors = {}
    monos = [mono for _, mono in poly.monomials()]
    candidates = {atom for mono in monos for atom in mono.factors if atom.free.isdisjoint(mono.bound)}
    for atom in candidates:
        least = min((mono.factors.get(atom, Fraction(0)) for mono in monos), default=Fraction(0))
        if any(atom in mono.factors and not atom.free.isdisjoint(mono.bound) for mono in monos):
            continue
        sign = atom_sign(atom, least)
        if least and not atom.flag and (sign == "+" or sign and not strict and atom.sign):
            common[atom] = least
    if not common and rational == 1:
        return (rational, common), poly
    inverse = {atom: -e for atom, e in common.items()}
    parts = [from_factors(merge(mono.factors, inverse), c / rational, mono.bound) for c, mono in poly.monomials()]
    return (rational, common), plus(parts)


def leads_negative(poly: Poly) -> bool:
    """Whether the sign should be turned, by a rule that does not depend on the names of free variables."""
    names = dict.fromkeys(poly.free, "*")
    ranked = [((len(mono.factors), mono.key(names)), coefficient) for coefficient, mono in poly.monomials()]
    leading = max(rank for rank, _ in ranked)
    total = sum(coefficient for rank, coefficient in ranked if rank == leading)
    if total:
        return total < 0
    return False


# ---------------------------------------------------------------- 0/1 factors inside functions


def open_flag(poly: Poly) -> Atom | None:
    """A 0/1 atom over free variables only, or None."""
    found: Atom | None = None
    for _, mono in poly.monomials():
        for atom in mono.factors:
            if atom.flag and atom.free.isdisjoint(mono.bound) and (found is None or atom.ident < found.ident):
                found = atom
    return found


def split(flag: Atom, poly: Poly, function: Callable[[Poly], Poly]) -> Poly:
    """``M f(M=1) + (1 - M) f(M=0)``."""
    one, zero = _set_flag(poly, flag, 1), _set_flag(poly, flag, 0)
    mark = from_factors({flag: Fraction(1)})
    high = function(one)
    return plus([times(mark, high), times(plus([number(1), scale(mark, -1)]), function(zero))])


def _set_flag(poly: Poly, flag: Atom, value: int) -> Poly:
    parts = [ZERO_POLY]
    for coefficient, mono in poly.monomials():
        if flag not in mono.factors:
            parts.append(Poly({mono.key(): (coefficient, mono)}))
        elif value:
            rest = Mono(mono.bound, {atom: e for atom, e in mono.factors.items() if atom != flag})
            parts.append(Poly({rest.key(): (coefficient, rest)}))
    return plus(parts)


# ---------------------------------------------------------------- chosen entries inside functions


def open_choice(poly: Poly) -> tuple[Poly, Atom, Var] | None:
    """``(b, [c = e], c)`` for a polynomial ``Σ_c [c = e] b(c)``: all its sums over an index equal to e, opened."""
    found = next((one for _, mono in poly.monomials() if (one := choice(mono)) is not None), None)
    if found is None:
        return None
    bracket, var, picked = found
    parts = [ZERO_POLY]
    for coefficient, mono in poly.monomials():
        own = choice(mono)
        if own is not None and own[2].key() == picked.key():
            factors = {atom: e for atom, e in mono.factors.items() if atom is not own[0]}
            opened = Poly({"": (coefficient, Mono(mono.bound - {own[1]}, factors))})
            parts.append(rename_poly(opened, {own[1]: var}) if own[1] is not var else plus([opened]))
        else:
            parts.append(Poly({mono.key(): (coefficient, mono)}))
    keyed = [Poly({mono.key(): (c, mono)}) for part in parts for c, mono in part.monomials()]
    return plus(keyed or [ZERO_POLY]), bracket, var


def pick(poly: Poly, bracket: Atom, var: Var, function: Callable[[Poly], Poly]) -> Poly:
    """``Σ_c [c = e] f(b(c))``: exactly one c is chosen, so a function of the chosen entry is the chosen function value."""
    fresh = var.fresh()
    mark = rename_poly(from_factors({bracket: Fraction(1)}), {var: fresh})
    return bind(times(mark, function(rename_poly(poly, {var: fresh}))), frozenset((fresh,)))
