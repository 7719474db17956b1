"""Gradient certificates: for every direction v, the derivative of ⟨g, y(x + t v)⟩ at t = 0 is ⟨dx, v⟩."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symres.errors import Unsupported
from symres.export.rocq.curve import Curve
from symres.export.rocq.document import Document, Theorem
from symres.export.rocq.layer import Layer, Premise
from symres.export.rocq.names import identifier
from symres.export.rocq.proving import Balance, Conditions, register
from symres.export.rocq.scripts import Scripts
from symres.export.rocq.shift import unshifted, without_maxima
from symres.export.rocq.stack import Stack
from symres.export.rocq.statement import Statement, terms_of
from symres.export.rocq.symbols import Symbol
from symres.export.rocq.writing import kind_of
from symres.kernel.terms import ZERO, Entry, Tensor, Term, Var, add, mul, sum_, walk
from symres.language.certificate import GradientClaim, Recurrence
from symres.language.program import Definition


@dataclass
class Gradients:
    """The gradient claims of a statement, stated and proved.

    Args:
        statement: what is claimed.
        unchecked: write proofs of claims that are not proved here, for tests that Coq refuses them.
    """

    statement: Statement
    unchecked: bool = False
    definitions: dict[Tensor, Definition] = field(default_factory=dict)

    def document(self) -> Document:
        """The certificate.

        Raises:
            Unsupported: if a part of the statement is not covered, or a gradient is not proved equal here.
        """
        claims = self.statement.gradients
        layer = self.layer = self._layer()
        named = {d.tensor.name: d for d in self.statement.definitions}
        tensors = self.statement.inputs
        wrts = [claim.wrt for claim in claims]
        keys = [identifier(c.wrt if wrts.count(c.wrt) == 1 else c.label) for c in claims]
        claimed = [self._claimed(claim, key) for claim, key in zip(claims, keys, strict=True)]
        document = Document(identifier(self.statement.id), self.statement.title)
        proofs = []
        for claim, key, tensor in zip(claims, keys, claimed, strict=True):
            outputs = [(tensors[g], named[y]) for y, g in zip(claim.outputs, claim.upstream, strict=True)]
            part, theorem = self._gradient(key, claim.wrt, tensor, outputs)
            proofs += part
            document.theorems.append(theorem)
        document.statement = [*layer.size_lines(), *layer.header, "", *layer.lines]
        document.proofs = proofs
        return document

    def _layer(self) -> Layer:
        statement = self.statement
        claims, tensors = statement.gradients, statement.inputs
        if missing := [claim.wrt for claim in claims if claim.wrt not in tensors]:
            raise Unsupported(f"{missing[0]} is no input of {statement.id}")
        explicit = [tensors[claim.wrt] for claim in claims] + [
            tensors[name] for claim in claims for name in claim.upstream
        ]
        explicit = list(dict.fromkeys(explicit))
        bodies = [term for part in statement.parts for term in terms_of(part)] + [claim.gradient for claim in claims]
        used = {node.tensor for body in bodies for node in walk(body) if isinstance(node, Entry)}
        others = [tensor for tensor in tensors.values() if tensor in used and tensor not in explicit]
        layer = Layer(tuple(explicit), tuple(others), tuple(bodies))
        outputs = [name for claim in claims for name in claim.outputs]
        needed = self._below([claim.gradient for claim in claims], outputs)
        for part in statement.parts:
            if part.tensor in needed:
                if isinstance(part, Definition):
                    self._define(layer, part)
                else:
                    layer.define_recurrence(part)
        return layer

    def _below(self, terms: list[Term], names: list[str]) -> set[Tensor]:
        """The definitions that terms and outputs rest on."""
        by_tensor = {part.tensor: part for part in self.statement.parts}
        waiting = [t for t in by_tensor if t.name in names]
        waiting += [node.tensor for term in terms for node in walk(term) if isinstance(node, Entry)]
        found: set[Tensor] = set()
        while waiting:
            tensor = waiting.pop()
            if tensor in by_tensor and tensor not in found:
                found.add(tensor)
                inside = (node for term in terms_of(by_tensor[tensor]) for node in walk(term))
                waiting += [node.tensor for node in inside if isinstance(node, Entry)]
        return found

    def _define(self, layer: Layer, definition: Definition, hint: str = "") -> None:
        layer.define(definition.tensor, definition.vars, definition.body, hint)
        self.definitions[definition.tensor] = definition

    def _claimed(self, claim: GradientClaim, key: str) -> Tensor:
        tensor = Tensor(f"grad_{key}", tuple(var.dim for var in claim.vars))
        axes = tuple((var.dim,) for var in claim.vars)
        self._define(self.layer, Definition(tensor, axes, claim.vars, claim.gradient))
        return tensor

    # ------------------------------------------------------------ one gradient

    def _gradient(
        self, label: str, name: str, claimed: Tensor, outputs: list[tuple[Tensor, Definition]]
    ) -> tuple[list[str], Theorem]:
        layer, x = self.layer, self.statement.inputs[name]
        v = Tensor(f"v:{name}", x.dims)
        layer.symbols[v] = Symbol("v")
        pairs = [(g, d, tuple(var.fresh() for var in d.vars)) for g, d in outputs]
        loss = add(*(sum_(vs, mul(Entry(g, vs), Entry(d.tensor, vs))) for g, d, vs in pairs))
        same, unshift = self._unshifted(label, loss, {d.tensor for _, d in outputs})
        curve = Curve(layer, x, v, label)
        moved = dict(self.definitions)
        stacks = []
        for part in self._in_order(same):
            if x in layer.symbols[part.tensor].params:
                if isinstance(part, Definition):
                    moved.update(curve.move(part))
                else:
                    claim = self.definitions[claimed]
                    stacks.append(Stack(self.statement, layer, part, curve.move_recurrence(part), v, claim))
        left = curve.tangents(same)
        index = tuple(Var(var.name, var.dim) for var in self.definitions[claimed].vars)
        right = sum_(index, mul(Entry(claimed, index), Entry(v, index)))
        chain = curve.chain(same, left)
        balance, assumed = self._balance(label, v, left, right, moved, stacks)
        theorem = self._theorem(label, x, loss, same, right, curve, chain, assumed)
        return [*unshift, *curve.statement, *curve.section(), *balance], theorem

    def _in_order(self, loss: Term) -> list[Definition | Recurrence]:
        """The parts that a loss rests on, each after what it is made of."""
        parts = {**{part.tensor: part for part in self.statement.parts}, **self.definitions}
        found: dict[Tensor, Definition | Recurrence] = {}

        def visit(term: Term, inside: Tensor | None = None) -> None:
            for node in walk(term):
                if isinstance(node, Entry) and node.tensor in parts and node.tensor not in (*found, inside):
                    for below in terms_of(parts[node.tensor]):
                        visit(below, node.tensor)
                    found[node.tensor] = parts[node.tensor]

        visit(loss)
        return list(found.values())

    def _unshifted(self, label: str, loss: Term, outputs: set[Tensor]) -> tuple[Term, list[str]]:
        """The loss without maxima, and the lemma ``unshifted_<label>`` that it is the same one."""
        others = without_maxima(self.statement.parts)
        if not outputs & set(others):
            return loss, []
        layer, same = self.layer, unshifted(loss, others)
        for definition in others.values():
            if definition.body is not ZERO and definition.tensor not in self.definitions:
                self._define(layer, definition)
        balance = Balance(f"{label}_shift", loss, same, dict(self.definitions), ())
        algebra = balance.solve()
        if algebra is None:
            raise Unsupported("Coq certificates do not differentiate a maximum on which an output depends")
        register(layer, algebra)
        conditions = Conditions(layer)
        scripts = Scripts(algebra, layer.scope(), conditions)
        script = balance.proof(scripts)
        if conditions.assumed:
            raise Unsupported("a maximum can be left out only where no denominator depends on the inputs' values")
        words = [scripts.scope.text(term) for term in (loss, same)]
        lines = [f"Section Unshifted_{label}.", f"Variables {layer.typed(layer.explicit)}.", *scripts.lines]
        lines += [f"Lemma unshifted_{label} : {words[0]} =\n  {words[1]}.", "Proof using All."]
        lines += [*(f"  {line}" for line in script), "Qed.", f"End Unshifted_{label}."]
        return same, lines

    def _balance(
        self, label: str, v: Tensor, left: Term, right: Term, moved: dict[Tensor, Definition], stacks: list[Stack]
    ) -> tuple[list[str], dict[str, Premise]]:
        layer, total = self.layer, left
        pushed = [stack.lemma(self.definitions, self.unchecked) for stack in stacks]
        for stack in stacks:
            left = stack.replaced(left, moved)
        keep = tuple(d.tensor for d in reversed(self.statement.definitions))
        balance = Balance(label, left, right, moved, keep)
        algebra = balance.solve()
        if algebra is None:
            if not self.unchecked:
                raise Unsupported(f"the claimed gradient by {label} is not proved equal to the derivative")
            algebra = balance.algebra()
        register(layer, algebra)
        conditions = Conditions(layer)
        scripts = Scripts(algebra, layer.scope(), conditions)
        closing = balance.proof(scripts)
        words = [scripts.scope.text(total), scripts.scope.text(right)]
        lines = [f"Section Balance_{label}.", f"Variables {layer.typed(layer.explicit)}(v : {kind_of(v)})."]
        lines += [f"Hypothesis {h} : {self._premise(p)}." for h, p in conditions.assumed.items()]
        lines += [line for text in pushed for line in text]
        lines += scripts.lines
        if stacks:
            unfolded = ", ".join(layer.symbols[t].name for t in moved if t not in self.definitions)
            steps = [f"  unfold {unfolded}.", *(f"  congruent {stack.name}." for stack in stacks)]
            middle = scripts.scope.text(left)
            closing = [f"transitivity ({middle}).", "{", *steps, "}", *closing]
        lines += [
            f"Lemma balance_{label} : {words[0]} =\n  {words[1]}.",
            "Proof using All.",
            *(f"  {line}" for line in closing),
            "Qed.",
            f"End Balance_{label}.",
        ]
        return lines, conditions.assumed

    def _premise(self, premise: Premise, point: Mapping[Tensor, str] | None = None) -> str:
        symbols = self.layer.symbols
        return " ".join((premise.name, *((point or {}).get(p, symbols[p].name) for p in premise.params)))

    def _theorem(
        self,
        label: str,
        x: Tensor,
        loss: Term,
        same: Term,
        right: Term,
        curve: Curve,
        chain: str,
        assumed: Mapping[str, Premise],
    ) -> Theorem:
        layer = self.layer
        scope = layer.scope()
        variables = tuple(Var("ijklmn"[k % 6], dim) for k, dim in enumerate(x.dims))
        with scope.bound(*variables) as names:
            own = " ".join((layer.symbols[x].name, *names))
            step = " ".join(("v", *names))
            line = f"(fun {' '.join(names)} => {own} + t * {step})" if names else f"({own} + t * {step})"
            zero = line.replace("+ t *", "+ 0 *")
            intros = " ".join(word for n in names for word in (n, "H" + n))
            line_proof = f"(ltac:(intros {intros}; apply D_line))" if names else "(D_line _ _ _)"
        moving = scope.child(point={x: line})
        premises = {**{f"H_{p.name}": p for p in curve.premises.values()}, **assumed}
        conditions = "".join(f"{self._premise(p)} ->\n  " for p in premises.values())
        claim = f"{conditions}is_derive (fun t => {moving.text(loss)}) 0\n    ({scope.text(right)})"
        binders = f"{layer.typed(layer.explicit)}(v : {kind_of(x)}) "
        others = " ".join(layer.symbols[t].name for t in layer.explicit if t is not x)
        everyone = " ".join(layer.symbols[t].name for t in layer.explicit)
        intros = f"intros {' '.join(premises)}. " if premises else ""
        moved = layer.names.new("along_line")
        used = " ".join(f"H_{p.name}" for p in curve.premises.values())
        shifted = []
        if same is not loss:
            at_line = " ".join(line if t is x else layer.symbols[t].name for t in layer.explicit)
            shifted = [
                f"  refine (is_derive_ext (fun t => {moving.text(same)}) _ 0 _ _ _).",
                f"  {{ intros t; symmetry; exact (unshifted_{label} {at_line}). }}",
            ]
        proof = [
            f"  {intros}assert (E : {zero} = {layer.symbols[x].name}) by line_at_zero.",
            *shifted,
            f"  rewrite <- (balance_{label} {everyone} v{''.join(' ' + h for h in assumed)}).",
            f"  pose proof ({chain} {others} (fun t => {line}) 0 v {line_proof}) as {moved}.",
            f"  cbv beta in {moved}. rewrite E in {moved}.",
            f"  exact ({moved}{''.join(' ' + h for h in used.split())}).",
        ]
        return Theorem(f"{identifier(self.statement.id)}_{label}", binders, (*everyone.split(), "v"), claim, proof)
