"""Normal forms as Coq text."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symres.export.rocq.monomials import Component, Factor, Poly, Powers
from symres.export.rocq.nodes import Inverse, Node, Number, Opposite, Plus, Power, Times, Total, text
from symres.export.rocq.scope import Scope
from symres.kernel.terms import Num


class Texts:
    """Writes factors, monomials and polynomials in the names of a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def factor(self, factor: Factor, exponent: int = 1) -> Node:
        """A power of a factor as a tree."""
        node = self.nested(factor) if isinstance(factor, Component) else self.scope.lower(factor)
        if abs(exponent) > 1:
            node = Power(node, abs(exponent))
        return Inverse(node, Num(0)) if exponent < 0 else node

    def nested(self, factor: Component) -> Node:
        """A component as nested sums."""
        with self.scope.bound(*factor.vars) as names:
            node = self.product(factor.factors)
        for var, name in reversed(list(zip(factor.vars, names, strict=True))):
            node = Total(self.scope.size(var.dim), self.scope.fact(var.dim), name, "H" + name, node)
        return node

    def product(self, pairs: Iterable[tuple[Factor, int]]) -> Node:
        """A product; 1 if there is nothing to multiply."""
        node: Node | None = None
        for factor, exponent in pairs:
            part = self.factor(factor, exponent)
            node = part if node is None else Times(node, part)
        return node or Number(Fraction(1))

    def monomial(self, mono: Powers, coefficient: Fraction) -> tuple[bool, Node]:
        """Whether a monomial has a minus, and the monomial after it."""
        negative, size = coefficient < 0, abs(coefficient)
        if not mono:
            return negative, Number(size)
        node = self.product(mono)
        return negative, node if size == 1 else Times(Number(size), node)

    def poly(self, poly: Poly) -> str:
        """A normal form in Coq's notation."""
        node: Node | None = None
        for mono, c in sorted(poly.items(), key=lambda pair: len(pair[0])):
            negative, part = self.monomial(mono, c)
            if node is None:
                node = Opposite(part) if negative else part
            else:
                node = Plus(node, Opposite(part) if negative else part)
        return text(node) if node is not None else "0"
