"""What tracing a function yields: inputs, named definitions in order, and outputs, all as terms.

An *axis* of a NumPy array is a tuple of atomic sizes, outermost first: ``(B,)`` for an ordinary axis, ``(G, K)`` for an
axis of length G·K, ``()`` for an axis of length 1. A value has one index variable for each atomic size, in order; so
``reshape`` regroups axes and leaves the entries alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from symres.kernel.terms import Entry, Tensor, Term, Var, mul, substitute, transform

Axis = tuple[Term, ...]


@dataclass(frozen=True)
class Value:
    """A whole array, entry by entry: ``body`` at the index variables ``vars``, grouped into ``axes``."""

    axes: tuple[Axis, ...]
    vars: tuple[Var, ...]
    body: Term

    @property
    def shape(self) -> tuple[Term, ...]:
        """The length of each NumPy axis."""
        return tuple(mul(*axis) for axis in self.axes)

    def at(self, *indices: Term) -> Term:
        """The entry at the given indices, one for each atomic size."""
        return substitute(self.body, dict(zip(self.vars, indices, strict=True)))


@dataclass(frozen=True)
class Definition:
    """``tensor[vars] := body``, an intermediate that the author named (``line`` of the source)."""

    tensor: Tensor
    axes: tuple[Axis, ...]
    vars: tuple[Var, ...]
    body: Term
    line: int | None = None

    def at(self, indices: Iterable[Term]) -> Term:
        """The right-hand side at the given indices."""
        return substitute(self.body, dict(zip(self.vars, indices, strict=True)))


@dataclass
class Program:
    """A traced function: ``definitions`` may use the inputs and earlier definitions."""

    name: str
    inputs: dict[str, Tensor] = field(default_factory=dict)
    axes: dict[str, tuple[Axis, ...]] = field(default_factory=dict)
    definitions: dict[Tensor, Definition] = field(default_factory=dict)
    outputs: dict[str, Value] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)


def unfold(term: Term, definitions: Mapping[Tensor, Definition]) -> Term:
    """Replace every entry of a defined tensor by its definition, until none is left."""

    def rule(node: Term) -> Term | None:
        if isinstance(node, Entry) and node.tensor in definitions:
            return unfold(definitions[node.tensor].at(node.args), definitions)
        return None

    return transform(term, rule)
