"""Induction over the depth: a statement about stacks of L blocks, for every L.

The statement is a family ``left(n, k, …) = right(n, k, …)``. Its base is checked at n = 0. The step is checked at n = L,
a symbol, and at n = 0: the states at n + 1 are replaced by what defines them, then the hypothesis, the statement at n,
is put in, and what results is compared with the right side at n + 1, whose sums are split into the first n terms and
the last one. At numbers the statement is checked again, with no use of the induction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from symres.derivation.certificate import EqualClaim
from symres.derivation.document import Check, Derivation, Part, Step
from symres.derivation.heading import Heading, heading
from symres.derivation.indices import Indices
from symres.derivation.ledger import Ledger
from symres.derivation.notation import State, replace_entry, split_last
from symres.derivation.unroll import Unrolled, check, sides_agree
from symres.errors import UsageError
from symres.kernel.terms import ZERO, Num, Size, Term, Var
from symres.language.formula import Block, Formula, Relation, Text, equation
from symres.language.program import Definition

Side = Callable[..., Term]


@dataclass(frozen=True)
class Statement:
    """``left(n, …) = right(n, …)`` for every depth n and all indices along ``dims``; the left side is an entry of a state.

    ``last`` is the entry at n + 1 by those at n, in the names of the definitions, where that is not how it is defined.
    """

    name: str
    title: str
    left: Side
    right: Side
    dims: tuple[Term, ...]
    last: Side | None = None
    network: Callable[..., Any] | None = None


class Induction:
    """An induction proof in the making.

    Args:
        depth: the number L of blocks.
        named: the states along the depth and the values at each layer, such as masks, each after what it is made of.
    """

    def __init__(self, depth: Size, named: Sequence[State | Definition]) -> None:
        self.depth = depth
        self.indices = Indices()
        self.named = tuple(each if isinstance(each, State) else self.indices.definition(each) for each in named)
        self.states = tuple(each for each in self.named if isinstance(each, State))
        self.definitions = tuple(each for each in self.named if isinstance(each, Definition))
        self.ledger = Ledger(self.indices, self.definitions, [state.recurrence() for state in self.states])
        self.parts: list[Part] = []
        self.statements: list[Statement] = []
        self.displayed: list[Relation] = []
        self.opening: list[Block] = []
        self.conditions: list[Text] = []
        self.remarks: list[Text] = []
        self.notes: list[tuple[Formula, Text]] = []
        self.instanced: list[int] = []

    # ------------------------------------------------------------ what a derivation file says

    def let(self, words: str, **slots: Formula) -> Induction:
        """A sentence of the statement, before its formulas."""
        self.opening.append(Text(words, slots))
        return self

    def where(self, sign: Formula, words: str, **slots: Formula) -> Induction:
        """Say what a sign means."""
        self.notes.append((sign, Text(words, slots)))
        return self

    def assume(self, words: str, **slots: Formula) -> Induction:
        """A condition of the theorem."""
        self.conditions.append(Text(words, slots))
        return self

    def remark(self, words: str, **slots: Formula) -> Induction:
        """A remark in plain words."""
        self.remarks.append(Text(words, slots))
        return self

    def show(
        self,
        name: str,
        title: str,
        left: Side,
        right: Side,
        dims: Sequence[Term],
        last: Side | None = None,
        network: Callable[..., Any] | None = None,
    ) -> Induction:
        """Prove ``left(n, …) = right(n, …)`` for every n by induction.

        Args:
            name: of the statement, for labels.
            title: of this part of the proof.
            left: an entry of a state.
            right: what it is equal to.
            dims: the ranges of the indices after n.
            last: ``left(n + 1, …)`` by the states at n, in the names of the definitions, if not as it is defined.
            network: a NumPy function that computes the left side at the last depth, for the numerical check.

        Raises:
            RefusedStep: if the base or the step is not proved.
        """
        statement = Statement(name, title, left, right, tuple(dims), last, network)
        variables = self._variables(statement)
        base = self._base(statement, variables)
        self._step(statement, variables, ZERO, shown=False)
        steps = self._step(statement, variables, self.depth, shown=True)
        claim = (left(self.depth, *variables), right(self.depth, *variables))
        intro = Text("By induction over the number {n} of blocks.", {"n": self.depth})
        self.parts.append(Part(title, (base, *steps), intro))
        # By the base and the step the statement holds at every depth; the second judge tries it as it stands.
        self.ledger.equal(name, *claim, rewrite=lambda term: self._by_hypothesis(statement, term, self.depth))
        self.statements.append(statement)
        self.displayed.append(self.indices.relation(equation(*claim)))
        return self

    def consequence(
        self, name: str, title: str, by: str, left: Side, right: Side, dims: Sequence[Term], *, of: Side | None = None
    ) -> Induction:
        """Prove ``left(…) = right(…)`` at depth L by a statement proved before.

        Args:
            name: of the consequence, for labels.
            title: of this part of the proof.
            by: the name of the statement, used from left to right.
            left: what was proved before, given the indices.
            right: what follows.
            dims: the ranges of the indices.
            of: what is displayed as the left side in the theorem, if not ``left``.

        Raises:
            RefusedStep: if it is not proved.
            UsageError: if there is no such statement.
        """
        found = next((each for each in self.statements if each.name == by), None)
        if found is None:
            raise UsageError(f"no statement {by!r} was proved before {name!r}")
        variables = self.indices.axes(Var("d", dim) for dim in dims)
        step = self.ledger.step(
            name,
            (left(*variables), right(*variables)),
            "substitute",
            Text("by what was proved first"),
            rewrite=lambda term: self._by_hypothesis(found, term, self.depth),
            key=True,
        )
        self.parts.append(Part(title, (step,)))
        self.displayed.append(self.indices.relation(equation((of or left)(*variables), right(*variables))))
        return self

    def instances(self, *depths: int) -> Induction:
        """Check every statement at these depths, all recurrences carried out, with no use of the induction.

        Raises:
            RefusedStep: if one is not proved.
        """
        for count in depths:
            for statement in self.statements:
                variables = self._variables(statement)
                sides = (statement.left(count, *variables), statement.right(count, *variables))
                self._check_instance(statement, f"{statement.name}-{count}", sides, count)
            self.instanced.append(count)
        return self

    # ------------------------------------------------------------ the operations

    def _variables(self, statement: Statement) -> tuple[Var, ...]:
        return self.indices.axes(Var("d", dim) for dim in statement.dims)

    def _base(self, statement: Statement, variables: tuple[Var, ...]) -> Step:
        sides = (statement.left(0, *variables), statement.right(0, *variables))
        return self.ledger.step(
            f"{statement.name}-base",
            sides,
            "base",
            Text("the base, {n}: there is no block", {"n": equation(self.depth, ZERO)}),
            rewrite=lambda term: self._unfolded(term, ZERO),
            key=True,
        )

    def _step(self, statement: Statement, variables: tuple[Var, ...], n: Term, *, shown: bool) -> list[Step]:
        """The step from n to n + 1."""
        after, name = n + 1, statement.name
        goal, first = statement.right(after, *variables), statement.left(after, *variables)
        opened = self._unfolded(first, after)
        named = statement.last(n, *variables) if statement.last else opened
        replaced = self._by_hypothesis(statement, named, n)

        def compare(term: Term) -> Term:
            return self._by_hypothesis(statement, self._right_opened(term, n), n)

        if not shown:
            self.ledger.check(f"{name}-from-{n!r}", opened, named)
            self.ledger.check(f"{name}-step-from-{n!r}", replaced, goal, rewrite=compare)
            return []
        hypothesis = equation(statement.left(n, *variables), statement.right(n, *variables))
        steps = [
            self.ledger.step(
                f"{name}-recurrence",
                (first, named),
                "recurrence",
                Text("the step to {n}: the last block by itself", {"n": after}),
                rewrite=lambda term: self._unfolded(term, after),
            )
        ]
        self.ledger.check(f"{name}-goal", replaced, goal, rewrite=compare)
        for kind, side in (("hypothesis", replaced), ("step", goal)):
            self.ledger.claims.append(EqualClaim(f"{name}-{kind}", variables, first, side))
        return [
            *steps,
            Step(
                f"{name}-hypothesis",
                self.indices.relation(equation(first, replaced)),
                "induction hypothesis",
                Text("by the induction hypothesis {h}", {"h": self.indices.relation(hypothesis)}),
            ),
            Step(
                f"{name}-step",
                self.indices.relation(equation(first, goal)),
                "collect",
                Text("the last block becomes the last term"),
                True,
            ),
        ]

    def _unfolded(self, term: Term, depth: Term) -> Term:
        """The states at one depth replaced by what defines them."""
        for state in self.states:
            term = state.unfold(term, depth)
        return term

    def _by_hypothesis(self, statement: Statement, term: Term, n: Term) -> Term:
        """The statement at n, used from left to right, outside general functions."""
        variables = tuple(Var("d", dim) for dim in statement.dims)
        return replace_entry(term, statement.left(n, *variables), statement.right(n, *variables), variables)

    def _right_opened(self, term: Term, n: Term) -> Term:
        """The sums over n + 1 terms split, the states at n + 1 replaced, and those at (n, n) too."""
        after = n + 1
        term = self._unfolded(split_last(term, after) if not isinstance(after, Num) else term, after)
        for state in self.states:
            term = state.unfold(term, n, n)
        return term

    def _check_instance(self, statement: Statement, label: str, sides: tuple[Term, Term], count: int) -> None:
        self.ledger.check(label, *sides, rewrite=lambda term: self._carried_out(statement, term, count))

    def _carried_out(self, statement: Statement, term: Term, count: int) -> Term:
        for depth in range(count, -1, -1):
            if statement.last and depth:
                variables = tuple(Var("d", dim) for dim in statement.dims)
                last = statement.last(Num(depth - 1), *variables)
                term = replace_entry(term, statement.left(Num(depth), *variables), last, variables)
            term = self._unfolded(term, Num(depth))
        return term

    # ------------------------------------------------------------ the document

    def numerical(self) -> Iterable[Check]:
        """Both sides of every statement on numbers, at the depths that were instanced."""
        errors = {
            count: max(
                sides_agree(Unrolled(self.named, self.depth, count), each.left, each.right, each.dims, each.network)
                for each in self.statements
            )
            for count in self.instanced
            if self.statements
        }
        if errors:
            yield check("both sides at each depth, and the loop over the blocks", errors, self.depth)

    def document(self, module: str | Heading) -> Derivation:
        """The finished derivation, checked by the second judge and numerically."""
        from symres.derivation.induction_paper import present

        return present(self, module if isinstance(module, Heading) else heading(module))
