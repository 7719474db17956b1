"""The result of tracing a forward and a backward function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symres.errors import UsageError
from symres.kernel.terms import Entry, Fun, Num, Size, Tensor, Term, transform, walk
from symres.language.program import Program, Value


@dataclass
class Traced:
    """A pair of traced functions.

    ``program`` has the definitions of both passes; ``claimed`` is what the backward function gives for each argument,
    in its own shape; ``upstream`` the gradients at the outputs, in their order; ``conventions`` what each parameter of the
    backward function was given; ``notes`` what else a reader should know; ``differentiable`` the arguments whose
    gradients may be asked for; ``facts`` what was assumed to be ≥ 0; ``drawn`` the
    names that random numbers got, in the order in which the code draws them.
    """

    program: Program
    claimed: dict[str, Value]
    upstream: tuple[Tensor, ...]
    outputs: dict[str, Value]
    conventions: dict[str, str]
    notes: list[str]
    shapes: str
    differentiable: tuple[str, ...] = ()
    collections: dict[str, list[str]] = field(default_factory=dict)
    integers: dict[str, Term] = field(default_factory=dict)
    facts: tuple[Term, ...] = ()
    drawn: tuple[str, ...] = ()

    def admits(self, sizes: Mapping[str, int]) -> bool:
        """Whether what the trace assumed of the sizes (a window fits into its axis) holds at these numbers."""
        return all(at_sizes(fact, sizes) >= 0 for fact in self.facts if not fact.free and _of_sizes(fact))


def _of_sizes(term: Term) -> bool:
    return not any(isinstance(node, Entry) for node in walk(term))


def at_sizes(term: Term, sizes: Mapping[str, int]) -> int:
    """An integer that depends on sizes only."""

    def rule(node: Term) -> Term | None:
        if isinstance(node, Size):
            return Num(sizes[node.name])
        if isinstance(node, Fun) and node.name == "floordiv" and all(isinstance(arg, Num) for arg in node.args):
            over, under = (arg.value for arg in node.args if isinstance(arg, Num))
            return Num(over // under)
        return None

    value = transform(term, rule)
    if not isinstance(value, Num):
        raise UsageError(f"{term!r} is no number at the sizes {dict(sizes)}")
    return int(value.value)
