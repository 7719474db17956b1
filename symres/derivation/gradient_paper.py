"""A gradient proof as a document: its statement, its matrix form, its listing, its record."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from symres.calculus.collecting import collect
from symres.derivation.certificate import certificate
from symres.derivation.claim import reference
from symres.derivation.document import Derivation
from symres.derivation.heading import Heading
from symres.derivation.record import kernel_check, numerical, second_judge
from symres.kernel.normal import normal_form
from symres.kernel.terms import Entry, Tensor, Term, Var, delta, transform
from symres.language.formula import Block, Display, Relation, Text, adjoint, definition, equation
from symres.language.program import Definition, Program, Value
from symres.numeric.crosscheck import Subject
from symres.typeset.matrix import Matrix, Whole
from symres.typeset.recognise import matrix_form

if TYPE_CHECKING:
    from symres.derivation.gradient import GradientProof


def present(proof: GradientProof, head: Heading) -> Derivation:
    """The finished derivation, checked by the second judge and numerically."""
    claimed = proof.claim.definitions if proof.claim else ()
    parts: list[Program | Definition] = [proof.program, *proof.backward.adjoints.values(), *claimed]
    document = certificate(head.id, head.kind, head.title, parts, proof.ledger.claims)
    checked = subject(proof)
    record = (kernel_check(len(proof.ledger.claims)), second_judge(document), *numerical(checked))
    named = (*proof.program.definitions.values(), *proof.outputs)
    return Derivation(
        id=head.id,
        title=head.title,
        subject=head.subject,
        kind=head.kind,
        verdict=head.verdict,
        statement=tuple(statement(proof)),
        assumptions=proof.words.assumptions(),
        notation=proof.words.notation(proof.backward),
        definitions=tuple(definition(Entry(d.tensor, d.vars), d.body) for d in named),
        parts=tuple(proof.parts),
        matrix=(*matrices(proof), *jacobians(proof)),
        remarks=(*head.remarks, *proof.remarks),
        uses=tuple(proof.lemmas),
        sources=head.sources,
        record=record,
        listing=listing(proof),
        program=proof.program,
        result=result(proof),
        certificate=document,
        crosscheck=partial(numerical, checked),
    )


def subject(proof: GradientProof) -> Subject:
    """What the numerical cross-checks compare: the adjoints as the sweep made them, and the claim as it is written."""
    compare = reference(proof.claim, proof.backward) if proof.claim else None
    adjoints = list(proof.backward.adjoints.values())
    found = {name: proof.backward.gradient(name) for name in proof.wrt}
    derived = {name: Value(each.axes, each.vars, Entry(each.tensor, each.vars)) for name, each in found.items()}
    return Subject(proof.program, adjoints, derived, proof.backward.upstream, proof.function, compare)


def statement(proof: GradientProof) -> Iterable[Block]:
    """The gradients, in the form in which they are claimed."""
    where = proof.kept()
    yield proof.words.opening(proof.backward, where if len(where) == 1 else ())
    for name in proof.wrt:
        made = proof.backward.adjoints[proof.program.inputs[name]]
        yield Display(equation(Entry(made.tensor, made.vars), proof.values[name].at(*made.vars)))
    if len(where) > 1:
        yield Text("where")
        for each in where:
            yield Display(definition(Entry(each.tensor, each.vars), each.body))


def matrices(proof: GradientProof) -> Iterable[Block]:
    """The gradients in matrix form, where they have one; what is printed is checked entry by entry."""
    for name, value in proof.values.items():
        form = _matrix(value)
        if form is None:
            continue
        matrix, whole = form
        if proof.ledger.difference(matrix.at(whole.i, whole.j), value.body) is not None:
            continue  # not what was proved: it is not printed
        made = proof.backward.adjoints[proof.program.inputs[name]]
        yield Display(Relation((replace(whole, body=Entry(made.tensor, value.vars)), matrix), ("=",)))


def jacobians(proof: GradientProof) -> Iterable[Block]:
    """The Jacobians asked for: the gradient with a unit vector in place of the adjoint, one row after the other."""
    for of, by in proof.jacobians:
        made, gradient = proof.backward.adjoints[by], proof.forms.gradient(by).term
        *fixed, column = made.vars
        row = Var("k", of.dims[-1])

        def unit(node: Term, of: Tensor = of, row: Var = row) -> Term | None:
            own = isinstance(node, Entry) and node.tensor == adjoint(of)
            return delta(row, node.children[-1]) if own else None

        body = transform(gradient, unit)
        entries = collect(normal_form(body))
        form = matrix_form(entries, row, column)
        if form is not None and proof.ledger.difference(form.at(row, column), body) is None:
            left, right = Whole(of(*fixed, row), row), Whole(by(*fixed, column), column)
            yield Text("The Jacobian of {f} by {x} is", {"f": left, "x": right})
            yield Display(form)


def _matrix(value: Value) -> tuple[Matrix, Whole] | None:
    """A matrix form of a value and the indices that its rows and columns take the place of.

    A form of the whole array is preferred; one with diagonal matrices in it reads better row by row.
    """
    count = len(value.vars)
    places = [value.vars, value.vars[1:]] if count == 2 else [value.vars] if count == 1 else []
    forms = []
    for indices in places:
        found = matrix_form(value.body, *indices)
        if found is not None and not isinstance(found, Whole):
            forms.append((found, Whole(value.body, *indices)))
    return min(forms, key=lambda form: "Diagonal" in repr(form[0]), default=None)


def listing(proof: GradientProof) -> str:
    """The NumPy functions: the layer and the claim as they are written, or the generated backward function."""
    if proof.function is not None and proof.claim is not None and proof.claim.function is not None:
        return "\n\n".join(inspect.getsource(each).rstrip() for each in (proof.function, proof.claim.function)) + "\n"
    return proof.source()


def result(proof: GradientProof) -> dict[str, Any]:
    """The gradients as SymPy expressions, by input."""
    from symres.language.to_sympy import to_sympy

    return {name: to_sympy(value.body) for name, value in proof.values.items()}
