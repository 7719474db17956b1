"""The gradient of a stack of L blocks, for every L, by induction with the chain rule of one block.

The statement at n is: for every g, the gradient of ``Σ_e g[e] x[n, e]`` by ``x[0, d]`` is ``Σ_e g[e] R[n, e, d]``. For
the step, one block is differentiated by the reverse sweep; that turns g into the gradient h at ``x[n]``, and the
hypothesis, which holds for every g, is used with h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from symres.calculus.reverse import reverse
from symres.derivation.certificate import GradientClaim
from symres.derivation.document import Check, Part, Step
from symres.derivation.induction import Induction
from symres.derivation.notation import State
from symres.derivation.unroll import Unrolled, check, check_gradient, gradient_agrees
from symres.errors import UsageError
from symres.kernel.terms import ZERO, Entry, Size, Tensor, Term, Var, delta, sum_, transform
from symres.language.formula import Text, adjoint, equation
from symres.language.program import Definition, Program, Value

Entries = Callable[..., Term]
_FINITE = 2e-7


class StackInduction(Induction):
    """An induction that may differentiate its states."""

    def __init__(self, depth: Size, named: Sequence[State | Definition]) -> None:
        super().__init__(depth, named)
        self.swept: list[tuple[str, State, Tensor, State, Entries]] = []
        self.networks: list[tuple[State, Tensor, Tensor, State, Callable[..., Any]]] = []

    def instances(self, *depths: int) -> StackInduction:
        """The statements at these depths, the gradients by a reverse sweep through all blocks.

        Raises:
            RefusedStep: if one is not proved.
        """
        super().instances(*depths)
        for count in depths:
            unrolled = Unrolled(self.named, self.depth, count)
            for name, state, upstream, product, block in self.swept:
                check_gradient(self.ledger, f"{name}-{count}", unrolled, state, upstream, product, block)
        return self

    def numerical(self) -> Iterable[Check]:
        """The sides of the statements, and the gradients against finite differences and the complex step."""
        yield from super().numerical()
        errors = {
            count: max(gradient_agrees(Unrolled(self.named, self.depth, count), *each) for each in self.networks)
            for count in self.instanced
            if self.networks
        }
        if errors:
            yield check("finite differences and complex step of the loop over the blocks", errors, self.depth, _FINITE)

    def show_gradient(
        self,
        name: str,
        title: str,
        state: State,
        output: Tensor,
        upstream: Tensor,
        product: State,
        block: Entries,
        network: Callable[..., Any] | None = None,
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
            network: a NumPy function that computes the output, for the numerical check.

        Raises:
            RefusedStep: if a step is not proved.
            UsageError: if the first state is no input.
        """
        (size,) = state.tensor.dims[1:]
        e, c, d = self.indices.axes(Var("e", size) for _ in range(3))
        first = state.base(d)
        if not isinstance(first, Entry):
            raise UsageError(f"{state.tensor.name} begins with {first!r}, which is no input")
        left = adjoint(state.tensor)(ZERO, d)

        def gradient(n: Term) -> Term:
            return sum_(e, upstream(e) * product(n, e, d))

        base = self.ledger.step(
            f"{name}-base",
            (upstream(d), gradient(ZERO)),
            "base",
            Text("the base, {n}: the input is the output", {"n": equation(self.depth, ZERO)}),
            rewrite=lambda term: product.unfold(term, ZERO),
            key=True,
        )
        steps = self._gradient_step(name, state, upstream, product, block, self.depth, (e, c, d))
        self._gradient_step(name, state, upstream, product, block, ZERO, (e, c, d), shown=False)
        self.swept.append((name, state, upstream, product, block))
        if network is not None:
            self.networks.append((state, upstream, first.tensor, product, network))
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

    def show_block_gradient(
        self, name: str, title: str, state: State, weights: Tensor, upstream: Tensor, slope: Entries
    ) -> StackInduction:
        """Prove the gradient by the weights of one block, given the gradient ``upstream`` at its output.

        Args:
            name: of the statement, for labels.
            title: of this part of the proof.
            state: the stack.
            weights: the weights, layers first; block n uses those of layer n only.
            upstream: the gradient at the state at n + 1.
            slope: ``slope(n, e, p)``, the derivative of the state at n + 1 by the weight p of block n.

        Raises:
            RefusedStep: if it is not proved.
        """
        (layers, parameters), (size,) = weights.dims, state.tensor.dims[1:]
        n, p, e = self.indices.axes((Var("n", layers), Var("p", parameters), Var("e", size)))
        derived = self.pulled_back(weights, state, n, upstream, p)
        claimed = sum_(e, upstream(e) * slope(n, e, p))
        reason = Text(
            "the chain rule through one block: {w} enters nothing below {x}", {"w": weights(n, p), "x": state(n + 1, e)}
        )
        step = self.ledger.step(name, (derived, claimed), "chain rule", reason, key=True)
        self.parts.append(Part(title, (step,)))
        self.displayed.append(self.indices.relation(equation(adjoint(weights)(n, p), claimed)))
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
        derived = self.pulled_back(state.tensor, state, n, upstream, c)
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

    def pulled_back(self, by: Tensor, state: State, n: Term, upstream: Tensor, index: Var) -> Term:
        """The gradient of ``Σ_e upstream[e] state[n + 1, e]`` by ``by[n, index]``, by a reverse sweep through one block."""
        (size,) = state.tensor.dims[1:]
        free = Tensor("free", by.dims[1:])

        def freed(node: Term) -> Term | None:
            inside = isinstance(node, Entry) and node.tensor == by and node.args[0] is n
            return Entry(free, node.children[1:]) if inside else None

        def back(node: Term) -> Term | None:
            inside = isinstance(node, Entry) and node.tensor == free
            return Entry(by, (n, *node.children)) if inside else None

        out = Var("e", size)
        program = Program("block", {"free": free}, {"free": ((index.dim,),)})
        program.outputs["after"] = Value(((size,),), (out,), transform(state.step(n, out), freed))
        return transform(reverse(program, ["free"], {"after": upstream}).gradient("free").at((index,)), back)


def jacobian_product(name: str, depth: Term, size: Term, block: Entries) -> State:
    """``R[0] = I`` and ``R[n + 1] = block(n) R[n]``: the ordered product of the Jacobians of n blocks."""

    def step(n: Term, e: Term, d: Term) -> Term:
        c = Var("c", size)
        return sum_(c, block(n, e, c) * product(n, c, d))

    product = State(name, depth, (size, size), lambda e, d: delta(e, d), step)  # type: ignore[arg-type]
    return product
