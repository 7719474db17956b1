"""Gradient certificates: for every direction v, the derivative of ⟨g, y(x + t v)⟩ at t = 0 is ⟨dx, v⟩."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from symres.errors import Unsupported
from symres.export.rocq.curves import CurveProof
from symres.export.rocq.document import Document, Theorem
from symres.export.rocq.layer import Layer, Premise, before_last
from symres.export.rocq.names import identifier
from symres.export.rocq.proving import Balance, Conditions, register
from symres.export.rocq.scope import Scope, Symbol
from symres.export.rocq.scripts import Scripts
from symres.export.rocq.stack import Stack
from symres.export.rocq.statement import Statement, terms_of
from symres.export.rocq.tangent import Tangents
from symres.export.rocq.writing import binders, forall, kind_of
from symres.kernel.terms import Entry, Tensor, Term, Var, add, mul, sum_, walk
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
        curve = _Curve(layer, x, v, label)
        moved = dict(self.definitions)
        needed = self._below([], [d.tensor.name for _, d in outputs])
        stacks = []
        for part in self.statement.parts:
            if part.tensor in needed and x in layer.symbols[part.tensor].params:
                if isinstance(part, Definition):
                    moved.update(curve.move(part))
                else:
                    stacks.append(
                        Stack(self.statement, layer, part, curve.move_recurrence(part), v, self.definitions[claimed])
                    )
        pairs = [(g, d, tuple(var.fresh() for var in d.vars)) for g, d in outputs]
        loss = add(*(sum_(vs, mul(Entry(g, vs), Entry(d.tensor, vs))) for g, d, vs in pairs))
        left = curve.tangents(loss)
        index = tuple(Var(var.name, var.dim) for var in self.definitions[claimed].vars)
        right = sum_(index, mul(Entry(claimed, index), Entry(v, index)))
        chain = curve.chain(loss, left)
        balance, assumed = self._balance(label, v, left, right, moved, stacks)
        theorem = self._theorem(label, x, loss, right, curve, chain, assumed)
        return [*curve.statement, *curve.section(), *balance], theorem

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
        self, label: str, x: Tensor, loss: Term, right: Term, curve: _Curve, chain: str, assumed: Mapping[str, Premise]
    ) -> Theorem:
        layer = self.layer
        scope = layer.scope()
        variables = tuple(Var("ijklmn"[k % 6], dim) for k, dim in enumerate(x.dims))
        with scope.bound(*variables) as names:
            own = " ".join((layer.symbols[x].name, *names))
            step = " ".join(("v", *names))
            line = f"(fun {' '.join(names)} => {own} + t * {step})" if names else f"({own} + t * {step})"
            zero = line.replace("+ t *", "+ 0 *")
            ranges = [scope.size(dim) for dim in x.dims]
            intros = " ".join(word for n in names for word in (n, "H" + n))
            line_proof = f"(ltac:(intros {intros}; apply D_line))" if names else "(D_line _ _ _)"
        del ranges
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
        proof = [
            f"  {intros}assert (E : {zero} = {layer.symbols[x].name}) by line_at_zero.",
            f"  rewrite <- (balance_{label} {everyone} v{''.join(' ' + h for h in assumed)}).",
            f"  pose proof ({chain} {others} (fun t => {line}) 0 v {line_proof}) as {moved}.",
            f"  cbv beta in {moved}. rewrite E in {moved}.",
            f"  exact ({moved}{''.join(' ' + h for h in used.split())}).",
        ]
        return Theorem(f"{identifier(self.statement.id)}_{label}", binders, (*everyone.split(), "v"), claim, proof)


@dataclass
class _Curve:
    """The section in which one input moves along any differentiable curve."""

    layer: Layer
    x: Tensor
    v: Tensor
    label: str
    statement: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    premises: dict[str, Premise] = field(default_factory=dict)
    moving: dict[Tensor, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.moving[self.x] = self.v
        self.tangents = Tangents(self.moving)
        self.derivatives = {self.x: "c_derivative"}

    def move(self, definition: Definition) -> dict[Tensor, Definition]:
        """Write the tangent of a definition and the lemma that it is its derivative along the curve."""
        layer, tensor = self.layer, definition.tensor
        body = self.tangents(definition.body)
        moved = Tensor(f"{tensor.name}'{self.label}", tensor.dims)
        before = len(layer.lines)
        params = layer.symbols[tensor].params
        layer.define(moved, definition.vars, body, f"{layer.symbols[tensor].name}'{self.label}", ())
        layer.symbols[moved] = replace(layer.symbols[moved], params=params)
        self._rewrite(before, moved, definition, body, (*params, self.v))
        self._lemma(definition, moved)
        self.moving[tensor] = moved
        self.tangents = Tangents(self.moving)
        return {moved: Definition(moved, definition.axes, definition.vars, body)}

    def move_recurrence(self, part: Recurrence) -> Recurrence:
        """Write the tangent of a recurrence and the lemma, by induction, that it is its derivative along the curve."""
        layer, tensor = self.layer, part.tensor
        own = layer.symbols[tensor]
        moved = Tensor(f"{tensor.name}'{self.label}", tensor.dims)
        self.moving[tensor] = moved
        self.tangents = Tangents(self.moving)
        made = Recurrence(moved, part.vars, self.tangents(part.base), self.tangents(part.step))
        before = len(layer.lines)
        layer.define_recurrence(made, hint=f"{own.name}'{self.label}", always=own.params, also=(self.v,))
        self.statement += layer.lines[before:]
        del layer.lines[before:]
        name = layer.names.new(f"D_{own.name}")
        variables, last = part.vars, before_last(part)
        scope = self._scope()
        with scope.bound(*variables, last.var) as names:
            sizes = [scope.size(var.dim) for var in variables]
            here = scope.application(Entry(tensor, variables))
            there = scope.child(point=scope.at, derivatives=False).application(Entry(moved, variables))
            intros = " ".join(word for n in names[1:-1] for word in (n, "H" + n))
            self.lemmas += [
                f"Lemma {name} : {forall(names[:-1], sizes)}is_derive (fun u => {here}) t ({there}).",
                "Proof using All.",
                f"  induction {names[0]} as [|{names[-1]} IH]; intros H{names[0]} {intros}; "
                f"cbn [{own.name} {layer.symbols[moved].name}].",
            ]
            self.derivatives[tensor] = "IH ltac:(lia)"
            for term in (part.base, last.step):
                scope.symbols = self._scope(tensor).symbols
                prover = CurveProof(self)
                proof = prover.prove(scope.lower(term))
                between = f"assert (H{names[-1]} : ({names[-1]} < {scope.size(last.var.dim)})%nat) by lia. "
                self.lemmas += [
                    f"  - {between if term is last.step else ''}refine (is_derive_eq _ t _ _ {proof} _).",
                    f"    {prover.script()}.",
                ]
        self.lemmas.append("Qed.")
        self.derivatives[tensor] = name
        return made

    def _rewrite(
        self, before: int, moved: Tensor, definition: Definition, body: Term, params: tuple[Tensor, ...]
    ) -> None:
        layer = self.layer
        del layer.lines[before:]
        name = layer.symbols[moved].name
        layer.symbols[moved] = Symbol(name, params)
        scope = layer.scope()
        with scope.bound(*definition.vars) as names:
            words = scope.text(body)
            head = f"{layer.typed(params[:-1])}(v : {kind_of(self.v)}) {binders(names)}"
        self.statement.append(f"Definition {name} {head}: R :=\n  {words}.")

    def _scope(self, inductive: Tensor | None = None) -> Scope:
        symbols = {
            tensor: replace(symbol, derivative=self.derivatives.get(tensor, ""), inductive=tensor is inductive)
            for tensor, symbol in self.layer.symbols.items()
        }
        return Scope(
            symbols,
            self.layer.functions,
            point={self.x: "(c u)"},
            at={self.x: "(c t)"},
            tangent=self.tangents,
        )

    def proof(self, kind: str, term: Term, names: Mapping[Var, str]) -> str:
        """A proof from a premise of the theorem."""
        premise, free = self.layer.premise(kind, term)
        self.premises[premise.name] = premise
        return f"({' '.join((f'H_{premise.name}', *(w for var in free for w in (names[var], 'H' + names[var]))))})"

    def _lemma(self, definition: Definition, moved: Tensor) -> None:
        layer, tensor = self.layer, definition.tensor
        scope = self._scope()
        name = layer.names.new(f"D_{layer.symbols[tensor].name}")
        with scope.bound(*definition.vars) as names:
            sizes = [scope.size(var.dim) for var in definition.vars]
            node = scope.lower(definition.body)
            prover = CurveProof(self)
            proof = prover.prove(node)
            here = scope.application(Entry(tensor, definition.vars))
            there = scope.child(point=scope.at).application(Entry(moved, definition.vars))
        own, tangent = layer.symbols[tensor].name, layer.symbols[moved].name
        self.lemmas += [
            f"Lemma {name} {binders(names, sizes)}: is_derive (fun u => {here}) t ({there}).",
            "Proof using All.",
            f"  unfold {own}, {tangent}. refine (is_derive_eq _ t _ _ {proof} _).",
            f"  {prover.script()}.",
            "Qed.",
        ]
        self.derivatives[tensor] = name

    def chain(self, loss: Term, left: Term) -> str:
        """The lemma about the loss along the curve."""
        scope = self._scope()
        prover = CurveProof(self)
        proof = prover.prove(scope.lower(loss))
        there = scope.child(point=scope.at, derivatives=False, tangent=None).text(left)
        name = f"chain_{self.label}"
        self.lemmas += [
            f"Lemma {name} : is_derive (fun u => {scope.text(loss)}) t ({there}).",
            "Proof using All.",
            f"  refine (is_derive_eq _ t _ _ {proof} _). {prover.script()}.",
            "Qed.",
        ]
        return name

    def section(self) -> list[str]:
        """The whole section."""
        layer = self.layer
        others = layer.typed(t for t in layer.explicit if t is not self.x)
        scope = layer.scope()
        variables = tuple(Var("ijklmn"[k % 6], dim) for k, dim in enumerate(self.x.dims))
        with scope.bound(*variables) as names:
            every = forall(names, [scope.size(dim) for dim in self.x.dims])
            entry, velocity = " ".join(("c u", *names)), " ".join(("v", *names))
        kind = kind_of(self.x)
        points = {self.x: "(c t)"}
        lines = [f"Section Derivative_{self.label}.", f"Variables {others}(c : R -> {kind}) (t : R) (v : {kind})."]
        lines.append(f"Hypothesis c_derivative : {every}is_derive (fun u => {entry}) t ({velocity}).")
        for premise in self.premises.values():
            words = " ".join((premise.name, *(points.get(p, layer.symbols[p].name) for p in premise.params)))
            lines.append(f"Hypothesis H_{premise.name} : {words}.")
        return [*lines, *self.lemmas, f"End Derivative_{self.label}."]
