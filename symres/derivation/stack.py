"""The gradient of a stack of L blocks, for every L, by induction with the chain rule of one block.

The statement at n is: for every g, the gradient of ``Σ_e g[e] x[n, e]`` by ``x[0, d]`` is ``Σ_e g[e] R[n, e, d]``. For
the step, one block is differentiated by the reverse sweep; that turns g into the gradient h at ``x[n]``, and the
hypothesis, which holds for every g, is used with h.
"""

from __future__ import annotations

from collections.abc import Callable

from symres.calculus.reverse import reverse
from symres.derivation.certificate import GradientClaim
from symres.derivation.document import Part, Step
from symres.derivation.induction import Induction
from symres.derivation.notation import State
from symres.errors import UsageError
from symres.kernel.terms import ZERO, Entry, Tensor, Term, Var, delta, sum_, transform
from symres.language.formula import Text, adjoint, equation
from symres.language.program import Program, Value

Entries = Callable[..., Term]


class StackInduction(Induction):
    """An induction that may differentiate its states."""

    def show_gradient(
        self, name: str, title: str, state: State, output: Tensor, upstream: Tensor, product: State, block: Entries
    ) -> StackInduction:
        """Prove that the gradient by the first state is ``Σ_e upstream[e] product[L, e, d]``.

        Args:
            name: of the statement, for labels.
            title: of this part of the proof.
            state: the stack, a state with one axis.
            output: the tensor defined as the state at L.
            upstream: the gradient at the output, any vector.
            product: the Jacobian of the state at n by the state at 0, as an ordered product.
            block: ``block(n, e, c)``, the Jacobian of the state at n + 1 by the state at n.

        Raises:
            RefusedStep: if a step is not proved.
            UsageError: if the first state is no input.
        """
        (size,) = state.tensor.dims[1:]
        e, c, d = self.indices.axes(Var("e", size) for _ in range(3))
        first = state.base(d)
        if not isinstance(first, Entry):
            raise UsageError(f"{state.tensor.name} begins with {first!r}, which is no input")
        left = Entry(adjoint(first.tensor), (d,))

        def gradient(n: Term) -> Term:
            return sum_(e, upstream(e) * product(n, e, d))

        base = self.ledger.step(
            f"{name}-base",
            (upstream(d), gradient(ZERO)),
            "base",
            Text("the base, {n}: {x} is the output itself", {"n": equation(self.depth, ZERO), "x": state(0, d)}),
            rewrite=lambda term: product.unfold(term, ZERO),
            key=True,
        )
        steps = self._gradient_step(name, state, upstream, product, block, self.depth, (e, c, d))
        self._gradient_step(name, state, upstream, product, block, ZERO, (e, c, d), shown=False)
        intro = Text(
            "By induction over {L}, for every {g}: the claim is that the gradient is {s}.",
            {"L": self.depth, "g": upstream(e), "s": gradient(self.depth)},
        )
        self.parts.append(Part(title, (base, *steps), intro))
        self.ledger.claims.append(
            GradientClaim(name, (output.name,), (upstream.name,), first.tensor.name, (d,), gradient(self.depth))
        )
        self.displayed.append(self.indices.relation(equation(left, gradient(self.depth))))
        return self

    def _gradient_step(
        self,
        name: str,
        state: State,
        upstream: Tensor,
        product: State,
        block: Entries,
        n: Term,
        variables: tuple[Var, Var, Var],
        *,
        shown: bool = True,
    ) -> list[Step]:
        e, c, d = variables
        derived = self.pulled_back(state, n, upstream, c)
        by_block = sum_(e, upstream(e) * block(n, e, c))
        if not shown:
            self.ledger.check(f"{name}-block-0", derived, by_block)
        replaced = sum_(c, sum_(e, upstream(e) * block(n, e, c)) * product(n, c, d))
        goal = sum_(e, upstream(e) * product(n + 1, e, d))

        def unfold(term: Term) -> Term:
            return product.unfold(term, n + 1)

        if not shown:
            self.ledger.check(f"{name}-step-0", replaced, goal, unfold)
            return []
        return [
            self.ledger.step(
                f"{name}-block",
                (derived, by_block),
                "chain rule",
                Text(
                    "the step to {n}: the chain rule through the last block turns {g} into the gradient at {x}",
                    {"n": n + 1, "g": upstream(e), "x": state(n, c)},
                ),
            ),
            self.ledger.step(
                f"{name}-step",
                (replaced, goal),
                "induction hypothesis",
                Text("by the induction hypothesis for this gradient in place of {g}", {"g": upstream(e)}),
                rewrite=unfold,
                key=True,
            ),
        ]

    def pulled_back(self, state: State, n: Term, upstream: Tensor, c: Var) -> Term:
        """The gradient of ``Σ_e upstream[e] state[n + 1, e]`` by ``state[n, c]``, by a reverse sweep through one block."""
        (size,) = state.tensor.dims[1:]
        before = Tensor("before the block", (size,))

        def free(node: Term) -> Term | None:
            inside = isinstance(node, Entry) and node.tensor == state.tensor and node.args[0] is n
            return Entry(before, node.children[1:]) if inside else None

        def back(node: Term) -> Term | None:
            inside = isinstance(node, Entry) and node.tensor == before
            return Entry(state.tensor, (n, *node.children)) if inside else None

        out = Var("e", size)
        program = Program("block", {before.name: before}, {before.name: ((size,),)})
        program.outputs["after"] = Value(((size,),), (out,), transform(state.step(n, out), free))
        return transform(reverse(program, [before.name], {"after": upstream}).gradient(before.name).at((c,)), back)


def jacobian_product(name: str, depth: Term, size: Term, block: Entries) -> State:
    """``R[0] = I`` and ``R[n + 1] = block(n) R[n]``: the ordered product of the Jacobians of n blocks."""

    def step(n: Term, e: Term, d: Term) -> Term:
        c = Var("c", size)
        return sum_(c, block(n, e, c) * product(n, c, d))

    product = State(name, depth, (size, size), lambda e, d: delta(e, d), step)  # type: ignore[arg-type]
    return product
