"""Where one monomial divides another, and with which indices.

A pattern is a monomial in some *parameters*, the index variables of a definition. It divides a monomial if a choice of
indices makes each of its factors a factor there, and its own sums are sums there over nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from symres.kernel.monomials import Atom, Mono
from symres.kernel.terms import Var

Factors = dict[Atom, Fraction]
Renaming = dict[Var, Var]
UNITS = frozenset("NR")
"""Kinds of atoms by which every monomial can be divided: sizes and roots of numbers."""


@dataclass(frozen=True)
class Match:
    """A division: ``indices`` for the parameters, the factors that are left, and the sums that are left."""

    indices: tuple[Var, ...]
    rest: Factors
    bound: frozenset[Var]


def divisions(pattern: Mono, parameters: Sequence[Var], target: Mono) -> Iterator[Match]:
    """All ways to divide ``target`` by ``pattern``."""
    order = sorted(pattern.factors.items(), key=lambda item: (item[0].kind in UNITS, -len(item[0].free)))
    seen = set()
    for renaming, rest in _divide(order, dict(target.factors), {}):
        taken = {renaming[var] for var in pattern.bound}
        if (
            len(taken) != len(pattern.bound)
            or not taken <= target.bound
            or any(var not in renaming for var in parameters)
        ):
            continue
        indices = tuple(renaming[var] for var in parameters)
        if taken.intersection(indices) or any(not taken.isdisjoint(atom.free) for atom in rest):
            continue
        key = (indices, frozenset((atom.ident, exponent) for atom, exponent in rest.items()))
        if key not in seen:
            seen.add(key)
            yield Match(indices, rest, target.bound - taken)


def _divide(
    wanted: Sequence[tuple[Atom, Fraction]], available: Factors, renaming: Renaming
) -> Iterator[tuple[Renaming, Factors]]:
    if not wanted:
        yield renaming, available
        return
    (atom, exponent), *others = wanted
    if atom.kind in UNITS:
        yield from _divide(others, _without(available, atom, exponent), renaming)
        return
    for other, have in available.items():
        if not _enough(have, exponent):
            continue
        for extended in unifications(atom, other, renaming):
            yield from _divide(others, _without(available, other, exponent), extended)


def _enough(have: Fraction, want: Fraction) -> bool:
    return have >= want if want > 0 else have <= want


def _without(factors: Factors, atom: Atom, exponent: Fraction) -> Factors:
    left = dict(factors)
    total = left.pop(atom, Fraction(0)) - exponent
    if total:
        left[atom] = total
    return left


def unifications(atom: Atom, other: Atom, renaming: Mapping[Var, Var]) -> Iterator[Renaming]:
    """The renamings, extending the given one, under which ``atom`` is ``other``."""
    if (atom.kind, atom.head) != (other.kind, other.head):
        return
    open_variables = sorted(atom.free - renaming.keys(), key=lambda var: var.uid)
    targets = sorted(other.free, key=lambda var: var.uid)
    for choice in product(targets, repeat=len(open_variables)):
        extended = {**renaming, **dict(zip(open_variables, choice, strict=True))}
        names = {var: f"v{extended[var].uid}" for var in atom.free}
        if atom.label(names) == other.ident:
            yield extended
