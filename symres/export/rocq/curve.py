"""The section of a certificate in which one input moves along any differentiable curve: one lemma for each definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from symres.export.rocq.curves import CurveProof
from symres.export.rocq.indices import before_last
from symres.export.rocq.layer import Layer, Premise
from symres.export.rocq.scope import Scope
from symres.export.rocq.symbols import Symbol
from symres.export.rocq.tangent import Tangents
from symres.export.rocq.writing import binders, forall, kind_of
from symres.kernel.terms import Entry, Tensor, Term, Var
from symres.language.certificate import Recurrence
from symres.language.program import Definition


@dataclass
class Curve:
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
            insides=self.layer.insides,
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
