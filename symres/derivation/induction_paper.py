"""An induction proof as a document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from symres.derivation.certificate import certificate
from symres.derivation.document import Check, Derivation
from symres.derivation.heading import Heading
from symres.derivation.notation import State
from symres.derivation.record import kernel_check, second_judge
from symres.kernel.terms import Entry, Var
from symres.language.formula import Display, Relation, definition
from symres.language.program import Definition

if TYPE_CHECKING:
    from symres.derivation.induction import Induction


def present(proof: Induction, head: Heading) -> Derivation:
    """The finished derivation, checked by the second judge and numerically."""
    parts = [each.recurrence() if isinstance(each, State) else each for each in proof.named]
    document = certificate(head.id, head.kind, head.title, parts, proof.ledger.claims)
    depths = tuple({proof.depth.name: count} for count in proof.instanced)
    instances = [Check("kernel", "the statements at these depths, without induction", True, depths)] if depths else []
    kernel = kernel_check(len(proof.ledger.claims))
    return Derivation(
        id=head.id,
        title=head.title,
        subject=head.subject,
        kind=head.kind,
        verdict=head.verdict,
        statement=(*proof.opening, *map(Display, proof.displayed)),
        assumptions=tuple(proof.conditions),
        notation=tuple(proof.notes),
        definitions=tuple(_defined(proof)),
        parts=tuple(proof.parts),
        remarks=(*head.remarks, *proof.remarks),
        sources=head.sources,
        record=(kernel, *instances, second_judge(document), *proof.numerical()),
        certificate=document,
    )


def _defined(proof: Induction) -> Iterable[Relation]:
    """The definitions; of a state how it goes on, and how it begins unless that is an input."""
    for each in proof.named:
        if isinstance(each, Definition):
            yield definition(Entry(each.tensor, each.vars), each.body)
            continue
        dims = each.tensor.dims[1:]
        layer, *rest = proof.indices.axes((Var("i", proof.depth), *(Var("d", dim) for dim in dims)))
        if not isinstance(each.base(*rest), Entry):
            yield proof.indices.relation(definition(each(0, *rest), each.base(*rest)))
        yield proof.indices.relation(definition(each(layer + 1, *rest), each.step(layer, *rest)))
