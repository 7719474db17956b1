"""Stacks of symbolic depth: the derivative of the state at layer n is the product of the layers' Jacobians, by induction.

A stack is a recurrence ``x[0] = base``, ``x[n + 1] = step(x[n])``. The claimed gradient speaks of another recurrence R,
the ordered product of Jacobians; what is shown for every n is ``x'[n, e] = Σ_d R[n, e, d] v[d]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symres.errors import Unsupported
from symres.export.rocq.indices import before_last
from symres.export.rocq.layer import Layer
from symres.export.rocq.proving import Balance, Conditions, register
from symres.export.rocq.scripts import Scripts
from symres.export.rocq.statement import Statement
from symres.export.rocq.writing import forall
from symres.kernel.terms import Entry, Tensor, Term, Var, mul, substitute, sum_, transform, walk
from symres.language.certificate import Recurrence
from symres.language.program import Definition, unfold


@dataclass
class Stack:
    """One recurrence that moves with the input, its tangent, and the product of Jacobians in the claim."""

    statement: Statement
    layer: Layer
    state: Recurrence
    tangent: Recurrence
    v: Tensor
    claimed: Definition

    def __post_init__(self) -> None:
        self.product = self._product()
        self.name = self.layer.names.new(f"pushed_{self.layer.symbols[self.state.tensor].name}")

    def _product(self) -> Recurrence:
        used = {node.tensor for node in walk(self.claimed.body) if isinstance(node, Entry)}
        wanted = (*self.state.tensor.dims, *self.v.dims)
        for part in self.statement.recurrences:
            if part.tensor in used and part.tensor.dims == wanted:
                return part
        raise Unsupported(
            f"the gradient of the stack {self.state.tensor.name} is not claimed as an ordered product of Jacobians"
        )

    def pushed(self, args: tuple[Term, ...]) -> Term:
        """``Σ_d R[n, e, d] v[d]``."""
        variables = tuple(Var("d", dim) for dim in self.v.dims)
        return sum_(variables, mul(Entry(self.product.tensor, (*args, *variables)), Entry(self.v, variables)))

    def replaced(self, term: Term, definitions: Mapping[Tensor, Definition]) -> Term:
        """The term with every entry of the tangent replaced by what it is shown to be."""

        def rule(node: Term) -> Term | None:
            own = isinstance(node, Entry) and node.tensor is self.tangent.tensor
            return self.pushed(node.children) if own else None

        moving = {t: d for t, d in definitions.items() if self.tangent.tensor in _tensors(d.body)}
        return transform(unfold(term, moving), rule)

    def lemma(self, definitions: Mapping[Tensor, Definition], unchecked: bool) -> list[str]:
        """The lemma, proved by induction.

        Raises:
            Unsupported: if the base or the step is not proved here.
        """
        scope, variables = self.layer.scope(), self.tangent.vars
        before, product = before_last(self.tangent), before_last(self.product)
        names_of = dict(zip((self.product.vars[0], product.var), (variables[0], before.var), strict=True))
        lines: list[str] = []
        with scope.bound(*variables, before.var) as names:
            sizes = [scope.size(var.dim) for var in variables]
            sides = f"{scope.text(Entry(self.tangent.tensor, variables))} = {scope.text(self.pushed(variables))}"
            intros = " ".join(word for n in names[1:-1] for word in (n, "H" + n))
            head = [
                f"Lemma {self.name} : {forall(names[:-1], sizes)}{sides}.",
                "Proof using All.",
                f"  induction {names[0]} as [|{names[-1]} IH]; intros H{names[0]} {intros}.",
            ]
            for left, right, kind in (
                (self.tangent.base, self.product.base, "base"),
                (before.step, product.step, "step"),
            ):
                mapping = {old: new for old, new in names_of.items() if old in right.free}
                right = self._column(right, mapping)
                with_hypothesis = self.replaced(left, {})
                own, script = self._case(kind, with_hypothesis, right, definitions, scope.vars, unchecked)
                lines += own
                text = [scope.text(term) for term in (left, with_hypothesis, right)]
                head += [f"  - change ({text[0]} = {text[2]})."]
                if kind == "step":
                    head += [
                        f"    assert (H{names[-1]} : ({names[-1]} < {scope.size(before.var.dim)})%nat) by lia.",
                        f"    transitivity ({text[1]}); [congruent IH|].",
                    ]
                head += [f"    {line}" for line in script]
        return [*lines, *head, "Qed."]

    def _column(self, right: Term, mapping: Mapping[Var, Term]) -> Term:
        """``Σ_d right[e, d] v[d]``, in the index variables of the tangent."""
        own, indices = self.product.vars[1:], self.tangent.vars[1:]
        rest = tuple(var.fresh() for var in own[len(indices) :])
        body = substitute(right, {**mapping, **dict(zip(own, (*indices, *rest), strict=True))})
        return sum_(rest, mul(body, Entry(self.v, rest)))

    def _case(
        self,
        kind: str,
        left: Term,
        right: Term,
        definitions: Mapping[Tensor, Definition],
        names: dict[Var, str],
        unchecked: bool,
    ) -> tuple[list[str], list[str]]:
        label = f"{self.name}_{kind}"
        balance = Balance(label, left, right, dict(definitions), tuple(definitions))
        algebra = balance.solve()
        if algebra is None:
            if not unchecked:
                raise Unsupported(f"the {kind} of the induction for {self.state.tensor.name} is not proved here")
            algebra = balance.algebra()
        register(self.layer, algebra)
        scripts = Scripts(algebra, self.layer.scope(), Conditions(self.layer))
        scripts.scope.vars = dict(names)
        script = balance.proof(scripts)
        return scripts.lines, script


def _tensors(term: Term) -> set[Tensor]:
    return {node.tensor for node in walk(term) if isinstance(node, Entry)}
