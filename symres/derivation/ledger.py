"""The ledger of a derivation: every equality is checked by the kernel when it is entered, or refused.

What is entered is kept as the claims of the certificate, so that the second judge reads exactly the equalities that
stand in the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symres.derivation.certificate import EqualClaim, GradientClaim, Recurrence
from symres.derivation.document import Step
from symres.derivation.indices import Indices
from symres.errors import BudgetExceeded, SymresError, UsageError
from symres.kernel.normal import poly_term
from symres.kernel.terms import Tensor, Term, Var
from symres.language.equality import Expanded, gap
from symres.language.formula import Text, equation
from symres.language.program import Definition

Rewriting = Callable[[Term], Term]


class RefusedStep(SymresError):
    """A step that the kernel does not accept: its label, what was claimed, and the difference of the two sides."""

    def __init__(self, label: str, left: Term, right: Term, difference: Term) -> None:
        super().__init__(
            f"step {label!r} is refused: {left!r} = {right!r} is not proved; left - right = {difference!r}",
            remedy="Correct the step, or name what it rests on as a definition before it.",
        )
        self.label, self.left, self.right, self.difference = label, left, right, difference


class Ledger:
    """The definitions that a derivation rests on and the equalities it has proved.

    Args:
        indices: the index variables in which steps are written.
        definitions: named values in order; the kernel unfolds them where it needs to.
        later: more of them, unfolded only where the first do not suffice.
        recurrences: states along the depth; the kernel knows them only by the steps that quote them.
    """

    def __init__(
        self,
        indices: Indices,
        definitions: Iterable[Definition] = (),
        recurrences: Iterable[Recurrence] = (),
        later: Iterable[Definition] = (),
    ) -> None:
        self.indices = indices
        self.definitions: dict[Tensor, Definition] = {}
        self.recurrences = {recurrence.tensor: recurrence for recurrence in recurrences}
        self.claims: list[EqualClaim | GradientClaim] = []
        self.labels: set[str] = set()
        self._first: set[Tensor] = set()
        self._tiers: list[Expanded] = []
        self.define(*definitions)
        self._first = set(self.definitions)
        self.define(*later)

    def define(self, *definitions: Definition) -> None:
        """Add definitions at the end.

        Raises:
            UsageError: if a name is taken.
        """
        names = {tensor.name for tensor in (*self.definitions, *self.recurrences)}
        for definition in definitions:
            if definition.tensor.name in names:
                raise UsageError(f"the name {definition.tensor.name!r} stands for two things in one derivation")
            names.add(definition.tensor.name)
            self.definitions[definition.tensor] = definition
        first = {tensor: each for tensor, each in self.definitions.items() if tensor in self._first}
        self._tiers = [Expanded(first)] if first else []
        if len(first) < len(self.definitions) or not first:
            self._tiers.append(Expanded(self.definitions))

    def difference(self, left: Term, right: Term) -> Term | None:
        """The difference of two terms, or None when they are proved equal for all sizes."""
        found: Term | None = None
        for tier in self._tiers:
            try:
                poly = gap(left, right, tier)
            except BudgetExceeded:
                if tier is self._tiers[-1]:
                    raise
                continue
            if not poly:
                return None
            found = poly_term(poly)
        return found

    def check(self, label: str, left: Term, right: Term, rewrite: Rewriting | None = None) -> None:
        """As :meth:`equal`, for an instance of what is entered already.

        Raises:
            RefusedStep: when the kernel does not prove it.
        """
        difference = self.difference(rewrite(left), rewrite(right)) if rewrite else self.difference(left, right)
        if difference is not None:
            raise RefusedStep(label, left, right, difference)

    def equal(self, label: str, left: Term, right: Term, rewrite: Rewriting | None = None) -> None:
        """Enter ``left = right``, for all sizes, inputs and free index variables.

        Args:
            label: of the step.
            left: one side.
            right: the other side.
            rewrite: what the step's operation, a recurrence or an induction hypothesis, puts for what stands in the
                two sides; the kernel compares what comes out.

        Raises:
            RefusedStep: when the kernel does not prove it.
        """
        self.check(label, left, right, rewrite)
        self.claims.append(EqualClaim(label, free_variables(left, right), left, right))

    def step(
        self,
        label: str,
        parts: Sequence[Term],
        operation: str,
        reason: Text | str,
        *,
        key: bool = False,
        rewrite: Rewriting | None = None,
    ) -> Step:
        """A step ``parts[0] = parts[1] = …``, each equality checked, modulo ``rewrite`` if the operation is one.

        Raises:
            RefusedStep: at the first equality that the kernel does not prove.
            UsageError: if the label is taken.
        """
        if label in self.labels:
            raise UsageError(f"two steps are labelled {label!r}")
        self.labels.add(label)
        for place, (left, right) in enumerate(zip(parts, parts[1:], strict=False), start=1):
            self.equal(label if len(parts) == 2 else f"{label}.{place}", left, right, rewrite)
        words = reason if isinstance(reason, Text) else Text(reason)
        return Step(label, self.indices.relation(equation(*parts)), operation, words, key)


def free_variables(*terms: Term) -> tuple[Var, ...]:
    """The free index variables of some terms, those of outer ranges first."""
    return tuple(sorted(frozenset().union(*(term.free for term in terms)), key=lambda var: var.uid))
