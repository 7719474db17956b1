"""Equality of terms in the full language: functions that the table defines are expanded, the kernel decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from symres.kernel.decide import difference
from symres.kernel.monomials import Poly
from symres.kernel.normal import poly_term
from symres.kernel.terms import Tensor, Term, substitute
from symres.language.functions import expand_functions
from symres.language.program import Definition


class Expanded(Mapping[Tensor, "Expanded.Rule"]):
    """Definitions with their functions expanded, each when it is first used."""

    class Rule:
        """One expanded definition."""

        def __init__(self, definition: Definition) -> None:
            self.definition = definition
            self.body: Term | None = None

        def at(self, indices: Iterable[Term]) -> Term:
            """The right-hand side at the given indices."""
            if self.body is None:
                self.body = expand_functions(self.definition.body)
            return substitute(self.body, dict(zip(self.definition.vars, indices, strict=True)))

    def __init__(self, definitions: Mapping[Tensor, Definition]) -> None:
        self._rules = {tensor: Expanded.Rule(definition) for tensor, definition in definitions.items()}

    def __getitem__(self, tensor: Tensor) -> Expanded.Rule:
        return self._rules[tensor]

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


def gap(left: Term, right: Term, definitions: Mapping[Tensor, Definition] | Expanded | None = None) -> Poly:
    """The normal form of ``left - right`` with as few definitions unfolded as make it vanish; empty when proved equal.

    Raises:
        BudgetExceeded: when the expressions grow beyond the limits of the kernel.
    """
    expanded = definitions if isinstance(definitions, Expanded) else Expanded(definitions or {})
    return difference(expand_functions(left), expand_functions(right), expanded)


def proved_equal(left: Term, right: Term, definitions: Mapping[Tensor, Definition] | Expanded | None = None) -> bool:
    """Whether two terms are proved equal for all sizes and all values of their free variables.

    Raises:
        BudgetExceeded: when the expressions grow beyond the limits of the kernel.
    """
    return not gap(left, right, definitions)


def gap_term(left: Term, right: Term, definitions: Mapping[Tensor, Definition] | None = None) -> Term:
    """The difference ``left - right`` as a term in the inputs, or 0."""
    return poly_term(gap(left, right, definitions))
