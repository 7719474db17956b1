"""Scales are taken out of sums: where g = γ dout and γ does not depend on the summed index, Σ g x̂ is γ Σ dout x̂.

A definition that is a product with such a factor is written out where it is used, if the sum that is left is one that
another gradient needs anyway, or if the definition is needed nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from symres.kernel.terms import Entry, Mul, Sum, Tensor, Term, Var, mul, sum_, transform, walk
from symres.language.program import Definition, Value
from symres.numeric.arithmetic import without_constants
from symres.numeric.canonical import Canon
from symres.numeric.sums import factors_of


def without_scales(definitions: Sequence[Definition], values: Sequence[Value]) -> tuple[list[Definition], list[Value]]:
    """The definitions and results with the products that are better written out; their definitions are left out."""
    chosen = _Search(definitions, values).chosen()
    if not chosen:
        return list(definitions), list(values)

    def rule(node: Term) -> Term | None:
        if isinstance(node, Entry) and node.tensor in chosen:
            return transform(chosen[node.tensor].at(node.args), rule)
        return None

    return (
        [replace(each, body=transform(each.body, rule)) for each in definitions if each.tensor not in chosen],
        [replace(each, body=transform(each.body, rule)) for each in values],
    )


class _Search:
    def __init__(self, definitions: Sequence[Definition], values: Sequence[Value]) -> None:
        canon = Canon()

        def canonical(body: Term, variables: tuple[Var, ...]) -> Term:
            return canon.term(body, dict(zip(variables, canon.choose(variables), strict=True)))

        self.canon = canon
        self.products = {each.tensor: each for each in definitions if isinstance(each.body, Mul)}
        bodies = [canonical(each.body, each.vars) for each in definitions]
        self.bodies = [*bodies, *(canonical(each.body, each.vars) for each in values)]
        self.sums = {_key(node) for body in self.bodies for node in walk(body) if isinstance(node, Sum)}

    def chosen(self) -> dict[Tensor, Definition]:
        """The products to be written out."""
        scaled: set[tuple[Term, Entry]] = set()
        shared: set[Tensor] = set()
        for node in (node for body in self.bodies for node in walk(body) if isinstance(node, Sum)):
            for entry, rest in self._written_out(node):
                scaled.add((node.body, entry))
                if rest in self.sums:
                    shared.add(entry.tensor)
        uses = {(node, part) for body in self.bodies for node in walk(body) for part in (node, *node.children)}
        elsewhere = {part.tensor for node, part in uses - scaled if isinstance(part, Entry) and node is not part}
        elsewhere |= {body.tensor for body in self.bodies if isinstance(body, Entry)}
        only = {entry.tensor for _, entry in scaled} - elsewhere
        return {tensor: self.products[tensor] for tensor in shared | only}

    def _written_out(self, node: Sum) -> Iterator[tuple[Entry, Any]]:
        """The products in a sum that have a factor to be taken out, with the sum that is left."""
        factors = factors_of(node.body)
        for factor in factors:
            if not (isinstance(factor, Entry) and factor.tensor in self.products and node.var in factor.free):
                continue
            parts = factors_of(self.products[factor.tensor].at(factor.args))
            if any(part.free and node.var not in part.free for part in parts):
                body = mul(*(other for other in factors if other is not factor), *parts)
                left = [part for part in without_constants(sum_(node.var, body)) if isinstance(part, Sum)]
                yield factor, _key(left[-1]) if left else None


def _key(node: Sum) -> Any:
    """The same for sums over one index of the same factors in any order."""
    return node.var, frozenset(Counter(factors_of(node.body)).items())
