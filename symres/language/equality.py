"""Equality of terms in the full language: functions that the table defines are expanded, the kernel decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import cast

from symres.kernel.decide import ADJOINT, CONTRACTION, POINTWISE, STATISTIC, difference, reduce, unfold_one
from symres.kernel.monomials import Poly
from symres.kernel.normal import normal_form, poly_term
from symres.kernel.terms import Entry, Num, Sum, Tensor, Term, Var, substitute, walk
from symres.language.formula import is_adjoint
from symres.language.functions import expand_functions
from symres.language.program import Definition
from symres.language.unroll import unroll


class Expanded(Mapping[Tensor, "Expanded.Rule"]):
    """Definitions with their functions expanded, and sums of fixed length if ``unrolled``, each when it is first used."""

    class Rule:
        """One expanded definition."""

        def __init__(self, definition: Definition, unrolled: bool, cost: int) -> None:
            self.definition, self.unrolled, self.cost = definition, unrolled, cost
            self.body: Term | None = None

        def at(self, indices: Iterable[Term]) -> Term:
            """The right-hand side at the given indices."""
            if self.body is None:
                body = expand_functions(self.definition.body)
                self.body = unroll(body) if self.unrolled else body
            return substitute(self.body, dict(zip(self.definition.vars, indices, strict=True)))

    def __init__(
        self, definitions: Mapping[Tensor, Definition], *, unrolled: bool = False, upstream: Iterable[Tensor] = ()
    ) -> None:
        late = set(upstream)
        self._rules: dict[Tensor, Expanded.Rule] = {}
        for tensor, definition in definitions.items():
            used = [node.tensor for node in walk(definition.body) if isinstance(node, Entry)]
            if is_adjoint(tensor) or any(other in late for other in used):
                late.add(tensor)
            cost = ADJOINT if tensor in late else _cost(definition.body)
            self._rules[tensor] = Expanded.Rule(definition, unrolled, cost)

    def __getitem__(self, tensor: Tensor) -> Expanded.Rule:
        return self._rules[tensor]

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


def _cost(body: Term) -> int:
    sums = [node for node in walk(body) if isinstance(node, Sum)]
    if not sums:
        return POINTWISE
    summed = {
        node.tensor for each in sums for node in walk(each.body) if isinstance(node, Entry) and each.var in node.free
    }
    return STATISTIC if len(summed) <= 1 else CONTRACTION


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


def proved_equal_entrywise(
    left: Term, right: Term, variables: Iterable[Var], definitions: Mapping[Tensor, Definition]
) -> bool:
    """Whether two terms are proved equal at every value of ``variables``, whose ranges are numbers.

    Sums of fixed length are written out first, so that loops that were unrolled meet sums that were not.

    Raises:
        BudgetExceeded: when the expressions grow beyond the limits of the kernel.
    """
    expanded = Expanded(definitions, unrolled=True)
    left, right = unroll(left), unroll(right)
    names = tuple(variables)
    for index in product(*(range(int(cast(Num, var.dim).value)) for var in names)):
        place: dict[Var, Term] = {var: Num(k) for var, k in zip(names, index, strict=True)}
        if gap(substitute(left, place), substitute(right, place), expanded):
            return False
    return True


def gap_term(left: Term, right: Term, definitions: Mapping[Tensor, Definition] | None = None) -> Term:
    """The difference ``left - right`` in simplest terms, with the given definitions unfolded."""
    expanded = Expanded(definitions or {})
    term = expand_functions(left - right)
    for tensor in reversed(list(expanded)):
        term = unfold_one(term, tensor, expanded[tensor])
    return poly_term(reduce(normal_form(term)))
