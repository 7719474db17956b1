"""Gradient proofs: from a NumPy function to its gradients, one adjoint a line, folded into the closed form.

The whole proof of a layer reads::

    derive(layer_norm, wrt=("x", "gamma", "beta"), upstream="dy")
        .use("norm-three-terms")
        .conclude(layer_norm_backward)
        .document(__name__)

Every line is made by a named operation and checked when it is made: the reverse sweep gives the adjoints (chain rule),
the adjoints of statistics are put in (substitute), named values are folded in (fold), and the claim is compared with
what was derived (conclude).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from symres.calculus.closed import ClosedForms
from symres.calculus.folding import Folded
from symres.calculus.reverse import reverse, tensors
from symres.calculus.statistics import name_statistics
from symres.derivation.certificate import GradientClaim
from symres.derivation.claim import Claim, claimed
from symres.derivation.document import Derivation, Part, Step
from symres.derivation.heading import Heading, heading
from symres.derivation.indices import Indices
from symres.derivation.ledger import Ledger
from symres.derivation.outputs import upstream_tensors, without_loss
from symres.derivation.wording import Words
from symres.errors import UsageError
from symres.kernel.normal import normal_form
from symres.kernel.terms import ZERO, Entry, Tensor, Term
from symres.language.certificate import output_definitions
from symres.language.formula import Text, adjoint
from symres.language.program import Definition, Program, Value, unfold
from symres.numeric.codegen import backward_source
from symres.numeric.parameters import defaults_of

Function = Callable[..., Any]
_FLOATS = ("real", "positive", "nonnegative")


def derive(
    forward: Function | Program,
    *,
    wrt: str | Sequence[str] | None = None,
    upstream: str = "dout",
    shapes: str | None = None,
    fixed: dict[str, Any] | None = None,
) -> GradientProof:
    """Begin the proof of the gradients of a NumPy function.

    Args:
        forward: the function, its arrays annotated with their shapes (``x: "B D"``); or a program.
        wrt: the arguments to differentiate by; by default every array of real numbers.
        upstream: the name of the gradient at the output; of several outputs, each has the name ``d`` and its own.
        shapes: shapes where the function has no annotations.
        fixed: values of arguments that are not symbolic.

    Raises:
        UsageError: if ``wrt`` names no argument, or there is none to differentiate by.
    """
    if isinstance(forward, Program):
        program, function = forward, None
    else:
        from symres.trace.run import trace

        program = trace(forward, shapes=shapes, set=fixed)
        function = partial(forward, **fixed) if fixed else forward
    program = without_loss(program)
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt) if wrt is not None else _arrays(program)
    if unknown := [name for name in names if name not in program.inputs]:
        raise UsageError(
            f"{program.name} has no argument {', '.join(unknown)}", remedy=f"It has {', '.join(program.inputs)}."
        )
    if not names:
        raise UsageError(f"{program.name} has no array of real numbers among its arguments", remedy="Name them in wrt.")
    return GradientProof(program, names, upstream_tensors(program, upstream), function)


def _arrays(program: Program) -> tuple[str, ...]:
    return tuple(name for name, tensor in program.inputs.items() if tensor.dims and tensor.kind in _FLOATS)


class GradientProof:
    """A gradient proof in the making.

    Args:
        program: the traced function.
        wrt: the inputs differentiated by.
        upstream: the gradients at the outputs.
        function: the NumPy function that was traced.
    """

    def __init__(
        self, program: Program, wrt: tuple[str, ...], upstream: dict[str, Tensor], function: Function | None = None
    ) -> None:
        self.wrt, self.function = wrt, function
        self.indices = Indices()
        self.backward = backward = reverse(self.indices.program(name_statistics(program)), wrt, upstream)
        for tensor, made in backward.adjoints.items():
            backward.adjoints[tensor] = self.indices.definition(made)
        self.program = backward.program
        self.outputs = tuple(output_definitions(self.program))
        self.forms = ClosedForms(backward, self.outputs)
        forward = (*self.program.definitions.values(), *self.outputs)
        self.ledger = Ledger(self.indices, forward, later=backward.adjoints.values())
        self.proved: dict[Tensor, Definition] = dict(self._definitions_of_adjoints())
        self.words = Words(self.program)
        self.lemmas: list[str] = []
        self.claim: Claim | None = None
        self.values: dict[str, Value] = {}
        self.parts: list[Part] = []
        self.zeros: list[Term] = []
        self.remarks: list[Text] = []
        self.jacobians: list[tuple[Tensor, Tensor]] = []

    # ------------------------------------------------------------ what a derivation file says

    def use(self, lemma: str) -> GradientProof:
        """Name the catalogue entry that says which sums vanish.

        Raises:
            UsageError: if no named value of the program has a sum that vanishes.
        """
        if not self.forms.folding.vanishing:
            raise UsageError(f"{lemma} has nothing to say here: no sum of a value of {self.program.name} vanishes")
        self.lemmas.append(lemma)
        return self

    def conclude(self, claim: Function | Program | None = None) -> GradientProof:
        """Prove the gradients, in the form that ``claim`` gives them or in the one that was found.

        Raises:
            RefusedStep: if a step, or the claim, is not proved.
        """
        if claim is not None:
            self.claim = claimed(claim, self.backward, self.wrt, self.indices)
            self.ledger.define(*self.claim.definitions)
        gradients = [self.forms.gradient(self.program.inputs[name]).term for name in self.wrt]
        sweep = tuple(step for tensor in self.forms.remaining(gradients) for step in self._adjoint(tensor))
        if sweep:
            self.parts.append(Part("The reverse sweep", sweep))
        for name in self.wrt:
            self.parts.append(Part(f"The gradient with respect to {name}", tuple(self._gradient(name))))
        return self

    def jacobian(self, of: str, by: str) -> GradientProof:
        """Print the Jacobian of a named value by an input, along the last axis, in matrix form.

        Raises:
            UsageError: if the gradient by this input is not written with the adjoint of this value.
        """
        kept = {
            tensor.name: tensor for tensor in self.forms.remaining([self.forms.gradient(self.program.inputs[by]).term])
        }
        if of not in kept:
            raise UsageError(f"the gradient by {by} is not written with the adjoint of {of}")
        self.jacobians.append((kept[of], self.program.inputs[by]))
        return self

    def remark(self, words: str) -> GradientProof:
        """Add a remark in plain words."""
        self.remarks.append(Text(words))
        return self

    # ------------------------------------------------------------ the steps

    def _definitions_of_adjoints(self) -> Iterable[tuple[Tensor, Definition]]:
        return ((made.tensor, made) for made in self.backward.adjoints.values())

    def _step(
        self, tensor: Tensor, label: str, right: Term, operation: str, reason: Text, *, key: bool = False
    ) -> Step:
        """``∂tensor = right``, from what was proved of ∂tensor last; from then on the latest that is known of it."""
        made = self.backward.adjoints[tensor]
        proved = self.proved

        def known(term: Term) -> Term:
            return unfold(term, {made.tensor: proved[made.tensor]})

        def all_known(term: Term) -> Term:
            return unfold(known(term), {own: each for own, each in proved.items() if own != made.tensor})

        left = Entry(made.tensor, made.vars)
        weak = self.ledger.difference(known(left), known(right)) is None
        step = self.ledger.step(label, (left, right), operation, reason, key=key, rewrite=known if weak else all_known)
        self.proved = {**proved, made.tensor: replace(made, body=right)}
        return step

    def _line(self, tensor: Tensor) -> Iterable[Step]:
        """The chain rule for one adjoint, and its shorter form where there is one."""
        made = self.backward.adjoints[tensor]
        folded = self.forms.fold(made.body)
        plain = normal_form(made.body).key() == normal_form(folded.term).key()
        label = f"adjoint-{tensor.name}"
        first = folded.term if plain else made.body
        yield self._step(tensor, label, first, "chain rule", self.words.chain(self.backward, tensor))
        if not plain:
            yield from self._vanishing(folded)
            yield self._step(tensor, f"{label}-folded", folded.term, "fold", self.words.fold(folded))

    def _vanishing(self, folded: Folded) -> Iterable[Step]:
        """The sums that vanish on the way, each once in a proof."""
        for body in folded.vanishing:
            if body not in self.zeros:
                self.zeros.append(body)
                label, reason = f"zero-{len(self.zeros)}", self.words.zero(self.lemmas)
                yield self.ledger.step(label, (body, ZERO), "lemma", reason, key=True)

    def _adjoint(self, tensor: Tensor) -> Iterable[Step]:
        """An adjoint in the ones that remain: those on the way, the chain rule, what is put in, the closed form."""
        before = self._before(tensor)
        for each in before:
            if f"adjoint-{each.name}" not in self.ledger.labels:
                yield from self._line(each)
        yield from self._line(tensor)
        line, put_in, folded = self.forms.line(tensor), self.forms.substituted(tensor), self.forms.gradient(tensor)
        if put_in is line:
            return
        plain = normal_form(put_in).key() == normal_form(folded.term).key()
        shown, reason = folded.term if plain else put_in, self.words.substitute(before)
        yield self._step(tensor, f"{tensor.name}-substituted", shown, "substitute", reason, key=plain)
        if not plain:
            yield from self._vanishing(folded)
            reason = self.words.fold(folded)
            yield self._step(tensor, f"{tensor.name}-folded", folded.term, "fold", reason, key=True)

    def _gradient(self, name: str) -> Iterable[Step]:
        tensor = self.program.inputs[name]
        yield from self._adjoint(tensor)
        made, folded = self.backward.adjoints[tensor], self.forms.gradient(tensor).term
        value = self.claim.values[name] if self.claim else Value(made.axes, made.vars, folded)
        self.values[name] = value
        final = value.at(*made.vars)
        if normal_form(final).key() != normal_form(folded).key():
            reason = self.words.conclude(self._spoken_of(final))
            yield self._step(tensor, f"d{name}", final, "conclude", reason, key=True)
        if made.body is ZERO:
            return
        upstream = tuple(tensor.name for tensor in self.backward.upstream.values())
        outputs = tuple(self.program.outputs)
        self.ledger.claims.append(GradientClaim(f"gradient-{name}", outputs, upstream, name, made.vars, final))

    def _spoken_of(self, *terms: Term) -> tuple[Definition, ...]:
        """The claim's own names that occur in some terms."""
        used = set[Tensor]().union(*map(tensors, terms))
        return tuple(each for each in (self.claim.definitions if self.claim else ()) if each.tensor in used)

    def _before(self, tensor: Tensor) -> list[Tensor]:
        """The tensors whose adjoints are put in for a closed form, in the order of the sweep."""
        put_in = {**self.forms.inlined, **self.forms.merged}
        needed: set[Tensor] = set()
        waiting = [self.forms.line(tensor)]
        while waiting:
            used = tensors(waiting.pop()) & put_in.keys()
            new = {each for each in self.backward.adjoints if adjoint(each) in used} - needed
            needed |= new
            waiting.extend(self.forms.line(each) for each in new)
        return [each for each in self.backward.adjoints if each in needed]

    # ------------------------------------------------------------ the document

    def document(self, module: str | Heading) -> Derivation:
        """The finished derivation, checked by the second judge and numerically.

        Args:
            module: the ``__name__`` of the derivation file, or its heading.
        """
        from symres.derivation.gradient_paper import present

        return present(self, module if isinstance(module, Heading) else heading(module))

    def kept(self) -> tuple[Definition, ...]:
        """What the gradients are written with: the names of the claim, or the adjoints that remain."""
        if self.claim is not None:
            return self.claim.definitions
        return tuple(
            replace(self.backward.adjoints[tensor], body=self.forms.gradient(tensor).term)
            for tensor in self.forms.remaining(value.body for value in self.values.values())
        )

    def source(self) -> str:
        """The gradients as a NumPy function, generated."""
        terms = [*(value.body for value in self.values.values()), *(each.body for each in self.kept())]
        spoken = set[Tensor]().union(*map(tensors, terms))
        outputs = [each for each in self.outputs if each.tensor in spoken]
        given = defaults_of(self.function)
        made = [*outputs, *self.kept()]
        return backward_source(self.program, made, self.values, self.backward.upstream, defaults=given)
