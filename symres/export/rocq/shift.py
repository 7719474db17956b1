"""Maxima that only shift: softmax and cross-entropy subtract the largest entry, which changes nothing.

A maximum has no derivative where two entries tie. Where the outputs do not depend on it, the layer with 0 in the place of
every maximum has the same values at all inputs; that is proved, and it is differentiated in its stead.
"""

from __future__ import annotations

from collections.abc import Iterable

from symres.kernel.terms import ZERO, Entry, Maximum, Tensor, Term, transform, walk
from symres.language.certificate import Recurrence
from symres.language.program import Definition


def without_maxima(parts: Iterable[Definition | Recurrence]) -> dict[Tensor, Definition]:
    """For each definition that rests on a maximum, the one with 0 in its place, under another name."""
    found: dict[Tensor, Definition] = {}
    for part in parts:
        if isinstance(part, Recurrence):
            continue
        nodes = list(walk(part.body))
        if any(isinstance(n, Maximum) or (isinstance(n, Entry) and n.tensor in found) for n in nodes):
            body = unshifted(part.body, found)
            tensor = Tensor(f"{part.tensor.name}_unshifted", part.tensor.dims)
            found[part.tensor] = Definition(tensor, part.axes, part.vars, body)
    return found


def unshifted(term: Term, found: dict[Tensor, Definition]) -> Term:
    """The term with 0 for every maximum."""

    def rule(node: Term) -> Term | None:
        if isinstance(node, Maximum):
            return ZERO
        if isinstance(node, Entry) and node.tensor in found:
            other = found[node.tensor]
            return ZERO if other.body is ZERO else Entry(other.tensor, node.args)
        return None

    return transform(term, rule)
