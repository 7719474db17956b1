"""Every entry is proved by both judges, and an error planted in any of its steps is refused by both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from symres import catalogue
from symres.derivation.document import Derivation
from symres.derivation.ledger import Ledger
from symres.judge import canonical, recheck
from symres.kernel.terms import ZERO, Term
from tests.derivations.planted import planted, planted_json

IDS = [
    "residual-function",
    "residual-forward",
    "residual-forward-identity",
    "residual-backward",
    "residual-backward-additive",
    "residual-linear-weights",
    "residual-linear-weights-preactivation",
    "layernorm-forward",
    "layernorm-backward",
    "batchnorm-forward",
    "batchnorm-backward",
    "batchnorm-backward-evaluation",
    "norm-three-terms",
    "norm-moments",
    "norm-scale-invariance",
    "norm-scale-invariance-backward",
    "norm-axes",
    "norm-axes-backward",
    "padding-bias",
    "layernorm-batch-independence",
    "small-batch-degenerate",
    "small-batch-degenerate-backward",
    "rmsnorm-backward",
    "groupnorm-backward",
    "residual-projection",
    "residual-feature-reuse",
    "residual-forward-relu-sum",
]


@cache
def derived(id: str) -> Derivation:
    return catalogue.derive(id)


@pytest.mark.parametrize("id", IDS)
def test_all_checks_pass(id: str) -> None:
    record = derived(id).record
    assert {"kernel", "second judge"} <= {check.judge for check in record}
    assert [check for check in record if not check.passed] == []


@pytest.mark.parametrize("id", IDS)
def test_every_step_is_a_claim_of_the_certificate(id: str) -> None:
    derivation = derived(id)
    claims = {claim["label"] for claim in derivation.certificate["claims"]}
    assert {step.label for step in derivation.steps} <= claims
    if derivation.kind == "gradient":
        assert any(claim["kind"] == "gradient" for claim in derivation.certificate["claims"])


@pytest.mark.parametrize("id", IDS)
def test_the_kernel_refuses_an_error_in_any_step(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step, tried = Ledger.step, []

    def with_errors(
        self: Ledger, label: str, parts: Any, *rest: Any, rewrite: Callable[[Term], Term] | None = None, **more: Any
    ) -> Any:
        vanishes = self.difference(parts[-1], ZERO) is None
        for error, wrong in [("a term too many", parts[-1] + 1)] if vanishes else planted(parts[-1]):
            sides = (rewrite(parts[-2]), rewrite(wrong)) if rewrite else (parts[-2], wrong)
            assert self.difference(*sides) is not None, f"{label}: {error} was accepted"
            tried.append(error)
        return step(self, label, parts, *rest, rewrite=rewrite, **more)

    monkeypatch.setattr(Ledger, "step", with_errors)
    import_module(catalogue.load(id).module).build()
    assert tried


@pytest.mark.parametrize("id", IDS)
def test_the_second_judge_refuses_an_error_in_any_claim(id: str) -> None:
    certificate = derived(id).certificate
    sides = {claim["label"]: "gradient" if claim["kind"] == "gradient" else "right" for claim in certificate["claims"]}
    zeros = judged(certificate, [{**claim, sides[claim["label"]]: ["num", "0"]} for claim in certificate["claims"]])
    claims = []
    for claim in certificate["claims"]:
        label, side = claim["label"], sides[claim["label"]]
        # Where both sides vanish, a sign or a factor is no error.
        vanishes = zeros[label] == "passed"
        errors = [("a term too many", ["add", claim[side], ["num", "1"]])] if vanishes else planted_json(claim[side])
        claims += [{**claim, side: wrong, "label": f"{label}: {error}"} for error, wrong in errors]
    # A term behind a product of masks is zero at most points: what is missed at some points is tried at others.
    for _ in range(6):
        verdicts = judged(certificate, claims) if claims else {}
        claims = [claim for claim in claims if verdicts[claim["label"]] != "failed"]
    assert [claim["label"] for claim in claims] == []


def judged(certificate: Mapping[str, Any], claims: list[dict[str, Any]]) -> dict[str, str]:
    """What the second judge says of other claims about the same definitions."""
    changed = {**certificate, "claims": claims}
    report = recheck(json.dumps({**changed, "hash": canonical(changed)}))
    return {result.label: result.verdict for result in report.claims}


@pytest.mark.parametrize("id", IDS)
def test_a_lemma_that_is_used_is_an_entry_with_the_equality_in_it(id: str) -> None:
    for name in derived(id).uses:
        zeros = [claim for claim in derived(name).certificate["claims"] if claim["kind"] == "equal"]
        assert any(claim["right"] == ["num", "0"] for claim in zeros), f"{name} says of no sum that it vanishes"
