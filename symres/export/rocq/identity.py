"""Identity certificates: two terms are equal for all sizes, all inputs and all indices in range."""

from __future__ import annotations

from dataclasses import dataclass

from symres.errors import Unsupported
from symres.export.rocq.document import Document, Theorem
from symres.export.rocq.layer import Layer
from symres.export.rocq.names import identifier
from symres.export.rocq.proving import Balance, Conditions, register
from symres.export.rocq.scripts import Scripts
from symres.export.rocq.statement import Statement
from symres.export.rocq.writing import binders, forall
from symres.kernel.terms import Entry, Tensor, walk
from symres.language.certificate import EqualClaim
from symres.language.program import Definition


@dataclass
class Identities:
    """The equalities of a statement, stated and proved.

    Args:
        statement: what is claimed.
        unchecked: write proofs of claims that are not proved here, for tests that Coq refuses them.
    """

    statement: Statement
    unchecked: bool = False

    def document(self) -> Document:
        """The certificate.

        Raises:
            Unsupported: if a part of the statement is not covered, or an equality is not proved here.
        """
        statement = self.statement
        bodies = [d.body for d in statement.definitions]
        bodies += [side for claim in statement.equalities for side in (claim.left, claim.right)]
        used = {node.tensor for body in bodies for node in walk(body) if isinstance(node, Entry)}
        layer = self.layer = Layer((), tuple(t for t in statement.inputs.values() if t in used), tuple(bodies))
        self.definitions: dict[Tensor, Definition] = {}
        for definition in statement.definitions:
            layer.define(definition.tensor, definition.vars, definition.body)
            self.definitions[definition.tensor] = definition
        document = Document(identifier(statement.id), statement.title)
        for claim in statement.equalities:
            section, theorem = self._equality(claim)
            document.proofs += section
            document.theorems.append(theorem)
        document.statement = [*layer.size_lines(), *layer.header, "", *layer.lines]
        return document

    def _equality(self, claim: EqualClaim) -> tuple[list[str], Theorem]:
        layer, statement = self.layer, self.statement
        label = identifier(claim.label)
        keep = tuple(d.tensor for d in reversed(statement.definitions))
        balance = Balance(label, claim.left, claim.right, self.definitions, keep)
        algebra = balance.solve()
        if algebra is None:
            if not self.unchecked:
                raise Unsupported(f"the claim {claim.label} of {statement.id} is not proved here")
            algebra = balance.algebra()
        register(layer, algebra)
        conditions = Conditions(layer)
        scripts = Scripts(algebra, layer.scope(), conditions)
        scope = scripts.scope
        with scope.bound(*claim.vars) as names:
            closing = balance.proof(scripts)
            words = f"{scope.text(claim.left)} =\n    {scope.text(claim.right)}"
            sizes = [scope.size(var.dim) for var in claim.vars]
        lemma = layer.names.new(f"{label}_holds")
        section = [f"Section Claim_{label}."]
        section += [f"Hypothesis {h} : {p.name}." for h, p in conditions.assumed.items()]
        section += scripts.lines
        section += [f"Lemma {lemma} {binders(names, sizes)}: {words}.", "Proof using All."]
        section += [*(f"  {line}" for line in closing), "Qed.", f"End Claim_{label}."]
        premises = "".join(f"{p.name} -> " for p in conditions.assumed.values())
        name = layer.names.new(f"{identifier(statement.id)}_{label}")
        claim_text = f"{premises}{forall(names, sizes)}{words}"
        return section, Theorem(name, "", (), claim_text, [f"  exact {lemma}."])
