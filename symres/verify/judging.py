"""The verdict on one claimed gradient: the kernel, then the second judge; a counterexample where the kernel says no."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from symres.calculus.folding import Folding
from symres.calculus.reverse import Backward, tensors
from symres.errors import SymresError, Undefined
from symres.judge import Refused, recheck
from symres.kernel.terms import Num, Tensor, Term
from symres.language.certificate import GradientClaim, certificate
from symres.language.equality import Expanded, gap_term, proved_equal, proved_equal_entrywise
from symres.verify.diagnosis import diagnose
from symres.verify.guards import guard
from symres.verify.verdict import PROVED, REFUTED, UNDECIDED, Diagnosis, GradientVerdict, Witness
from symres.verify.witness import Claim, find, largest_difference, seen


def judge_gradient(claim: Claim, backward: Backward, fixed: Mapping[str, int] | None = None) -> GradientVerdict:
    """The verdict on one claim, for all sizes or at the sizes that ``fixed`` gives.

    Numbers are looked at first, because looking is cheap: where they differ, a counterexample is all that is needed.
    """
    name = claim.wrt
    tried, different = seen(claim, fixed)
    if different:
        witness = find(claim, fixed)
        if witness is not None:
            return _refuted(claim, backward, witness, fixed)
    try:
        if _equal(claim):
            return GradientVerdict(name, PROVED, vars=claim.claimed.vars, expected=claim.derived.body)
        why = "no proof was found"
    except Undefined as problem:
        return GradientVerdict(name, UNDECIDED, f"{problem.message}: the functions have no value at any input")
    except SymresError as problem:
        why = str(problem)
    witness = None if different else find(claim, fixed)
    if witness is not None:
        return _refuted(claim, backward, witness, fixed)
    return GradientVerdict(name, UNDECIDED, f"{why}; {_evidence(tried, different)}", vars=claim.claimed.vars)


def _evidence(tried: int, different: bool) -> str:
    if different:
        return "the two differ in floating point, but no small exact counterexample was found"
    if tried:
        return f"at {tried} random points the two agree in floating point; that is evidence, not a proof"
    return "no point was found at which both have a value"


def _equal(claim: Claim) -> bool:
    claimed, derived = claim.claimed.body, claim.derived.at(claim.claimed.vars)
    if proved_equal(claimed, derived, Expanded(claim.definitions(), upstream=claim.upstream.values())):
        return True
    if claim.claimed.vars and not all(isinstance(var.dim, Num) for var in claim.claimed.vars):
        return False
    # At concrete sizes a loop was unrolled; sums are written out too, and the entries compared one by one.
    return proved_equal_entrywise(claimed, derived, claim.claimed.vars, claim.definitions())


def second_opinion(document: Mapping[str, Any]) -> dict[str, str]:
    """By gradient, why the second judge does not confirm it; empty when it confirms all.

    A certificate that the judge refuses to read is a reason too.
    """
    try:
        report = recheck(json.dumps(document))
    except Refused as refusal:
        return {
            str(claim["wrt"]): f"the second judge refuses the certificate: {refusal}" for claim in document["claims"]
        }
    return {
        result.label: f"the second judge does not confirm it: {result.reason or result.verdict}"
        for result in report.claims
        if result.verdict != "passed"
    }


def certify(id: str, claims: list[Claim]) -> dict[str, Any]:
    """The certificate of some claims on one pair of functions."""
    first = claims[0]
    parts = [first.program]
    return certificate(
        id,
        "gradient",
        f"The backward pass of {first.program.name}",
        parts,
        [
            GradientClaim(
                claim.wrt,
                tuple(claim.upstream),
                tuple(tensor.name for tensor in claim.upstream.values()),
                claim.wrt,
                claim.claimed.vars,
                claim.claimed.body,
            )
            for claim in claims
        ],
        also=(*first.upstream.values(), *(first.program.inputs[claim.wrt] for claim in claims)),
    )


def _refuted(claim: Claim, backward: Backward, witness: Witness, fixed: Mapping[str, int] | None) -> GradientVerdict:
    diagnosis = _explain(claim, backward, fixed)
    if diagnosis is not None and diagnosis.guard:
        size = largest_difference(claim, fixed)
        text = f"{diagnosis.explanation}; at random points the two differ by up to {size:.1e} of the largest entry"
        diagnosis = replace(diagnosis, explanation=text)
    reason = diagnosis.explanation if diagnosis is not None else "the claimed gradient is not the derivative"
    return GradientVerdict(
        claim.wrt,
        REFUTED,
        reason,
        vars=claim.claimed.vars,
        difference=difference(claim),
        expected=claim.derived.at(claim.claimed.vars),
        witness=witness,
        diagnosis=diagnosis,
        sizes=(dict(fixed),) if fixed else (),
    )


def _explain(claim: Claim, backward: Backward, fixed: Mapping[str, int] | None) -> Diagnosis | None:
    try:
        return diagnose(claim, backward, fixed) or guard(claim)
    except SymresError:
        return None


LONGEST_DIFFERENCE = 40


def difference(claim: Claim) -> Term | None:
    """Claimed − true in closed form, in the names of the forward pass; None where it would fill pages."""
    true = claim.derived.at(claim.claimed.vars)
    names = forward_names(claim)
    inner = {tensor: definition for tensor, definition in claim.definitions().items() if tensor not in names}
    try:
        term = gap_term(claim.claimed.body, true, inner)
        if len(term.children) > LONGEST_DIFFERENCE:
            return None
        return Folding({tensor: claim.program.definitions[tensor] for tensor in names}).fold(term).term
    except (SymresError, ZeroDivisionError):
        return None


def forward_names(claim: Claim) -> list[Tensor]:
    """The intermediates of the forward pass: those definitions in which no upstream gradient takes part."""
    upstream = set(claim.upstream.values())
    names: list[Tensor] = []
    for tensor, definition in claim.program.definitions.items():
        used = tensors(definition.body)
        if used & upstream or any(t in claim.program.definitions and t not in names for t in used):
            continue
        names.append(tensor)
    return names
