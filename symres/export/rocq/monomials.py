"""The normal form that certificates argue in: sums of monomials, each a product of atoms and of connected nested sums.

A *component* is a nested sum over bound indices of a product of atoms, in which the indices hang together; its indices
are numbered canonically, so equal components are equal objects. Deltas are contracted where an index is summed. This
module only computes; every step of it is proved again in Coq, so a fault here makes a certificate fail and never lie.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from symres.errors import Unsupported
from symres.kernel.terms import Add, Entry, Mul, Size, Tensor, Term, Var, substitute

Powers = tuple[tuple["Factor", int], ...]


@dataclass(frozen=True)
class Component:
    """The sum over ``vars``, the first outermost, of the product of ``factors``."""

    vars: tuple[Var, ...]
    factors: tuple[tuple[Term, int], ...]

    @property
    def free(self) -> frozenset[Var]:
        """The index variables that are not summed over."""
        return frozenset().union(*(factor.free for factor, _ in self.factors)) - frozenset(self.vars)


Factor = Term | Component
Poly = dict[Powers, Fraction]

ONE: Powers = ()
DELTA = Tensor("delta", (Size("?"), Size("?")), "bool")
"""Kronecker's delta of two indices, as an atom."""
AT_MOST = Tensor("at_most", (Size("?"), Size("?")), "bool")
"""The mask ``k <= i`` of two indices, as an atom."""


def atom_key(factor: Term, label: Callable[[Var], str]) -> str:
    """A text that orders atoms: the tensor's name and its indices as ``label`` writes them."""
    if isinstance(factor, Entry):
        return f"{factor.tensor.name}[{','.join(atom_key(arg, label) for arg in factor.args)}]"
    if isinstance(factor, Var):
        return label(factor)
    if isinstance(factor, (Add, Mul)):
        return f"({type(factor).__name__} {' '.join(atom_key(part, label) for part in factor.args)})"
    return shown(factor)


@lru_cache(maxsize=100_000)
def shown(term: Term) -> str:
    """The term as plain text."""
    return repr(term)


def _free_label(var: Var) -> str:
    return f"{var.name}#{var.uid:09d}"


@lru_cache(maxsize=100_000)
def factor_key(factor: Factor) -> str:
    """The place of a factor in its monomial."""
    if isinstance(factor, Component):
        names = {var: f"${k}" for k, var in enumerate(factor.vars)}
        inner = "*".join(f"{atom_key(f, lambda v: names.get(v) or _free_label(v))}^{e}" for f, e in factor.factors)
        return f"~{','.join(shown(var.dim) for var in factor.vars)}:{inner}"
    if isinstance(factor, Size):
        return " " + factor.name
    return atom_key(factor, _free_label)


@cache
def pool(dim: Term, k: int) -> Var:
    """The bound variable number ``k`` of a component; free nowhere."""
    return Var("jklmpq"[k % 6], dim)


def powers(pairs: Iterable[tuple[Factor, int]]) -> Powers:
    """A product in order, equal factors merged; entries that are 0 or 1 have no higher powers."""
    found: dict[Factor, int] = {}
    for factor, exponent in pairs:
        found[factor] = found.get(factor, 0) + exponent
    kept = ((factor, min(e, 1) if is_bit(factor) else e) for factor, e in found.items() if e)
    return tuple(sorted(kept, key=lambda pair: factor_key(pair[0])))


def is_bit(factor: Factor) -> bool:
    """Whether a factor is its own square: an entry of a mask, a delta, a step."""
    return isinstance(factor, Entry) and factor.tensor.kind == "bool"


def scaled(poly: Poly, number: Fraction) -> Poly:
    """The multiple."""
    return {mono: c * number for mono, c in poly.items()} if number else {}


def plus(*polys: Poly) -> Poly:
    """The sum."""
    total: Poly = {}
    for poly in polys:
        for mono, c in poly.items():
            value = total.get(mono, Fraction(0)) + c
            if value:
                total[mono] = value
            else:
                total.pop(mono, None)
    return total


def times(left: Poly, right: Poly, limit: int = 20_000) -> Poly:
    """The product.

    Raises:
        Unsupported: if it would have more than ``limit`` monomials.
    """
    if len(left) * len(right) > limit:
        raise Unsupported("the algebra of this statement is too large for a Coq certificate")
    total: Poly = {}
    for (a, c), (b, d) in itertools.product(left.items(), right.items()):
        mono = powers((*a, *b))
        value = total.get(mono, Fraction(0)) + c * d
        if value:
            total[mono] = value
        else:
            total.pop(mono, None)
    return total


def component(bound: Iterable[Var], factors: Iterable[tuple[Term, int]]) -> tuple[Component, dict[Var, Var]]:
    """The canonical component of a nested sum, and the name its bound variables have there."""
    merged = dict(powers(factors))
    variables = list(bound)
    best: tuple[list[tuple[str, Term]], list[Var]] | None = None
    groups = _classes(variables, merged)  # type: ignore[arg-type]
    for choice in itertools.islice(itertools.product(*map(itertools.permutations, groups)), 720):
        order = [var for group in choice for var in group]
        label = _labels({var: f"${k:02d}" for k, var in enumerate(order)})
        keyed = sorted(((atom_key(f, label), f) for f in merged), key=lambda item: item[0])  # type: ignore[arg-type]
        if best is None or [key for key, _ in keyed] < [key for key, _ in best[0]]:
            best = keyed, order  # type: ignore[assignment]
    assert best is not None
    renaming = {var: pool(var.dim, k) for k, var in enumerate(best[1])}
    body = tuple((ordered(substitute(f, renaming)), merged[f]) for _, f in best[0])
    return Component(tuple(renaming.values()), body), renaming


def _labels(names: Mapping[Var, str]) -> Callable[[Var], str]:
    return lambda var: names.get(var) or _free_label(var)


def _classes(variables: list[Var], factors: Mapping[Term, int]) -> list[list[Var]]:
    """The bound variables in groups that their ranges and the atoms around them do not tell apart."""
    colour = {var: shown(var.dim) for var in variables}
    for _ in range(3):
        signs = {}
        for var in variables:
            label = _labels({**{v: f"<{c}>" for v, c in colour.items()}, var: "@"})
            around = sorted(f"{atom_key(f, label)}^{e}" for f, e in factors.items() if var in f.free)
            signs[var] = (shown(var.dim), *around)
        classes = sorted(set(signs.values()))
        colour = {var: f"{classes.index(signs[var]):03d}" for var in variables}
    return [[var for var in variables if colour[var] == c] for c in sorted(set(colour.values()))]


def place(factor: Factor, mapping: Mapping[Var, Term]) -> Factor:
    """The factor at other indices, in the order its component had: not canonical."""
    if isinstance(factor, Component):
        return Component(factor.vars, tuple((substitute(f, mapping), e) for f, e in factor.factors))
    return substitute(factor, mapping)


def canonical(factor: Factor) -> Factor:
    """The canonical form of a factor whose free indices were replaced."""
    return component(factor.vars, factor.factors)[0] if isinstance(factor, Component) else ordered(factor)


def ordered(factor: Term) -> Term:
    """A delta with its two indices in order."""
    if isinstance(factor, Entry) and factor.tensor is DELTA:
        left, right = sorted(factor.args, key=lambda arg: atom_key(arg, _free_label))
        return Entry(DELTA, (left, right))
    return factor


def opened(factor: Component) -> tuple[list[Var], list[tuple[Term, int]]]:
    """The bound variables, renamed apart, and the factors of a component."""
    fresh = [var.fresh() for var in factor.vars]
    renaming = dict(zip(factor.vars, fresh, strict=True))
    return fresh, [(substitute(f, renaming), e) for f, e in factor.factors]
