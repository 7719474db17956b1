"""Refutations: a claim, an exact example against it, and the true statement nearest to it.

An example is a NumPy function at exact numbers. It is traced; the kernel evaluates the trace, the second judge evaluates it
again, and the function itself is run on the numbers. An example that the claim survives is refused::

    refute("The gradient of a residual block is never zero.")
        .vanishing_gradient("cancelled", block, reason="the branch takes away what the shortcut gives")
        .nearest("residual-backward", "what the gradient is")
        .document(__name__)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from symres.calculus.reverse import reverse
from symres.derivation.certificate import GradientClaim, certificate
from symres.derivation.document import Check, Derivation, Part, Step
from symres.derivation.heading import Heading, heading
from symres.derivation.indices import Indices
from symres.derivation.ledger import Ledger
from symres.derivation.record import kernel_check, second_judge
from symres.errors import UsageError
from symres.kernel.normal import normal_form, poly_term
from symres.kernel.terms import ZERO, Entry, Num, Tensor, Term, transform
from symres.language.certificate import output_definitions
from symres.language.formula import ADJOINT, Block, Display, Formula, Relation, Text, definition
from symres.language.program import Definition, unfold
from symres.trace.run import trace

Function = Callable[..., Any]
Point = Mapping[str, int | Fraction]
_STEP, _TOLERANCE = 1e-3, 1e-9


def refute(words: str, **slots: Formula) -> Refutation:
    """Begin the refutation of a claim in plain words."""
    return Refutation(Text(words, slots))


class Refutation:
    """A refutation in the making.

    Args:
        claim: what is refuted.
    """

    def __init__(self, claim: Text) -> None:
        self.claim = claim
        self.indices = Indices()
        self.ledger = Ledger(self.indices)
        self.parts: list[Part] = []
        self.shown: list[Block] = []
        self.defined: list[Definition] = []
        self.upstream: list[Tensor] = []
        self.errors: list[float] = []
        self.listed: list[Function] = []
        self.nearby: list[tuple[str, str]] = []

    def different(self, name: str, left: Function, right: Function, at: Point, *, reason: str) -> Refutation:
        """An example against ``left = right``: two functions of the same scalars with different values at a point.

        Args:
            name: of the example; unique, for labels.
            left: one side of the claim; each value that it names is shown with its number.
            right: the other side.
            at: an exact number for each argument.
            reason: why the values differ, in words.

        Raises:
            RefusedStep: if a value is not the number that it seems to be.
            UsageError: if the two values are equal, or one has no exact value.
        """
        self._define(*(Definition(Tensor(key), (), (), Num(Fraction(value))) for key, value in at.items()))
        steps, sides = [], []
        for side in (left, right):
            program = self.indices.program(trace(side, shapes=dict.fromkeys(at, "")))
            made = [*program.definitions.values(), *output_definitions(program)]
            self._define(*made)
            for each in made:
                own, number = Entry(each.tensor, ()), self._number(each)
                label = f"{name}-{each.tensor.name}"
                steps.append(self.ledger.step(label, (own, number), "evaluate", Text("evaluated")))
            sides.append((own, number))
            found = side(**{key: float(value) for key, value in at.items()})
            self.errors.append(abs(float(found) - float(number.value)))
        (first, one), (second, two) = sides
        if one is two:
            raise UsageError(f"{name} is no counterexample: both sides are {one!r}")
        self.parts.append(
            Part(f"The example at {_spoken(at)}", tuple(steps), Text(f"{reason[:1].upper()}{reason[1:]}."))
        )
        self.shown.append(Display(Relation((first, one, two, second), ("=", "!=", "="))))
        self.listed += [left, right]
        return self

    def vanishing_gradient(
        self, name: str, block: Function, wrt: str = "x", upstream: str = "g", at: Point | None = None, *, reason: str
    ) -> Refutation:
        """An example against "the gradient is not zero": a function whose gradient is zero, everywhere or at a point.

        Args:
            name: of the example; unique, for labels.
            block: a function of one output, its arrays annotated with their shapes.
            wrt: the argument differentiated by.
            upstream: the name of the gradient at the output.
            at: exact numbers for scalar arguments; the gradient is zero at this point.
            reason: why it vanishes, in words.

        Raises:
            RefusedStep: if the gradient is not zero.
        """
        program = self.indices.program(trace(block))
        ((output, value),) = program.outputs.items()
        above = Tensor(upstream, tuple(var.dim for var in value.vars))
        self.upstream.append(above)
        backward = reverse(program, (wrt,), {output: above})
        gradient = self.indices.definition(backward.gradient(wrt))
        formula = poly_term(normal_form(unfold(gradient.body, backward.definitions)))
        outputs = tuple(output_definitions(program))
        self._define(*program.definitions.values(), *outputs)
        own = Entry(gradient.tensor, gradient.vars)
        adjoints = [self.indices.definition(each) for each in backward.adjoints.values()]
        self.ledger.define(*adjoints)
        steps = [self._line(name, each) for each in adjoints]
        self.ledger.claims.append(GradientClaim(f"{name}-formula", (output,), (upstream,), wrt, gradient.vars, formula))
        placed: Term = own
        if at:
            steps.append(self.ledger.step(f"{name}-all", (own, formula), "substitute", Text("put together")))
            placed = formula
        for key, number in (at or {}).items():
            put = Tensor(f"{key}_0")
            self._define(Definition(put, (), (), Num(Fraction(number))))
            placed = transform(placed, partial(_renamed, key, put))
        zero = self.ledger.step(name, (placed, ZERO), "evaluate", Text(reason), key=True)
        self.parts.append(Part(f"The example at {_spoken(at)}" if at else "The example", (*steps, zero)))
        self.shown.append(Display(zero.relation))
        self.errors.append(self._slope(block, program.inputs[wrt], at or {}))
        self.listed.append(block)
        return self

    def nearest(self, id: str, words: str) -> Refutation:
        """The entry of the catalogue with the true statement nearest to the claim, and what it says."""
        self.nearby.append((id, words))
        return self

    # ------------------------------------------------------------ the checks

    def _define(self, *definitions: Definition) -> None:
        self.ledger.define(*definitions)
        self.defined += definitions

    def _line(self, name: str, made: Definition) -> Step:
        """The chain rule for one adjoint."""
        label = f"{name}-{made.tensor.name.removeprefix(ADJOINT)}"
        return self.ledger.step(label, (Entry(made.tensor, made.vars), made.body), "chain rule", Text("the chain rule"))

    def _number(self, value: Definition) -> Num:
        """The exact value of a scalar, all definitions put in."""
        found = poly_term(normal_form(unfold(value.body, self.ledger.definitions)))
        if not isinstance(found, Num):
            raise UsageError(f"{value.tensor.name} has no exact value: it is {found!r}")
        return found

    def _slope(self, block: Function, wrt: Tensor, at: Point) -> float:
        """The largest central difference quotient of a function, at the point or at a random one."""
        random = np.random.default_rng(0)
        shape = (3,) * len(wrt.dims)
        point = np.full(shape, float(at[wrt.name])) if wrt.name in at else random.normal(size=shape)
        worst = 0.0
        for place in np.ndindex(shape):
            step = np.zeros(shape)
            step[place] = _STEP
            slope = (block(point + step) - block(point - step)) / (2 * _STEP)
            worst = max(worst, float(np.max(np.abs(slope))))
        return worst

    # ------------------------------------------------------------ the document

    def document(self, module: str | Heading) -> Derivation:
        """The finished refutation, checked by the second judge and by NumPy.

        Raises:
            UsageError: if it has no example, or no true statement beside it.
        """
        head = module if isinstance(module, Heading) else heading(module)
        if not self.parts or not self.nearby:
            raise UsageError(f"{head.id} needs an example and a true statement beside the claim")
        document = certificate(
            head.id, head.kind, head.title, self.ledger.definitions.values(), self.ledger.claims, self.upstream
        )
        worst = max(self.errors)
        run = Check("NumPy", "the examples as they are written", worst <= _TOLERANCE, (), worst)
        nearby = tuple(Text(f"The nearest true statement is {id}: {words}.") for id, words in self.nearby)
        opening = (Text("The claim is refuted:"), self.claim, Text("Against it stand"))
        return Derivation(
            id=head.id,
            title=head.title,
            subject=head.subject,
            kind=head.kind,
            verdict=head.verdict,
            statement=(*opening, *self.shown),
            definitions=tuple(definition(Entry(each.tensor, each.vars), each.body) for each in self.defined),
            parts=tuple(self.parts),
            remarks=(*head.remarks, *nearby),
            uses=tuple(id for id, _ in self.nearby),
            sources=head.sources,
            record=(kernel_check(len(self.ledger.claims)), second_judge(document), run),
            listing="\n\n".join(inspect.getsource(each).rstrip() for each in self.listed) + "\n",
            certificate=document,
        )


def _renamed(old: str, new: Tensor, node: Term) -> Term | None:
    return Entry(new, ()) if isinstance(node, Entry) and node.tensor.name == old and not node.args else None


def _spoken(at: Point) -> str:
    return ", ".join(f"{name} = {value}" for name, value in at.items())
