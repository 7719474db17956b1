"""Definitions that say the same under two names: the later one goes, so that what they occur in becomes alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symres.kernel.terms import Entry, Tensor, Term, Var, transform
from symres.language.program import Definition, Value
from symres.numeric.canonical import Canon


def without_duplicates(
    definitions: Sequence[Definition], values: Sequence[Value]
) -> tuple[list[Definition], list[Value]]:
    """The definitions without those equal to an earlier one, up to the names of indices; and the results."""
    canon = Canon()
    first: dict[tuple[Term, tuple[Var, ...]], Tensor] = {}
    same: dict[Tensor, Tensor] = {}
    kept: list[Definition] = []

    def rule(node: Term) -> Term | None:
        return Entry(same[node.tensor], node.args) if isinstance(node, Entry) and node.tensor in same else None

    for definition in definitions:
        body = transform(definition.body, rule) if same else definition.body
        variables = canon.choose(definition.vars)
        key = canon.term(body, dict(zip(definition.vars, variables, strict=True))), variables
        if key in first and not isinstance(body, Entry):
            same[definition.tensor] = first[key]
        else:
            first.setdefault(key, definition.tensor)
            kept.append(replace(definition, body=body))
    return kept, [replace(value, body=transform(value.body, rule)) for value in values] if same else list(values)
