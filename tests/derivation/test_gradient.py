"""Gradient and identity proofs: what they say, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symres.derivation.chain import about
from symres.derivation.gradient import derive
from symres.derivation.heading import Heading
from symres.derivation.indices import Indices
from symres.derivation.ledger import Ledger, RefusedStep
from symres.errors import UsageError
from symres.kernel.terms import Size, Tensor, Var, sum_
from symres.language.program import Definition

SHAPES = "x: B D, gamma: D"
HEAD = Heading("a-gradient", "A gradient", "tests", "gradient", "theorem", ())


def layer_norm(x, gamma, eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    x_hat = (x - mu) * rstd
    return gamma * x_hat


def mean(u):
    return u.mean(axis=-1, keepdims=True)


def right(dy, gamma, x_hat, rstd):
    d = gamma * dy
    return rstd * (d - mean(d) - x_hat * mean(d * x_hat))


def gamma_outside(dy, gamma, x_hat, rstd):
    return gamma * rstd * (dy - mean(dy) - x_hat * mean(dy * x_hat))


def two_terms(dy, gamma, x_hat, rstd):
    d = gamma * dy
    return rstd * (d - mean(d))


def wrong_sign(dy, gamma, x_hat, rstd):
    d = gamma * dy
    return rstd * (d - mean(d) + x_hat * mean(d * x_hat))


def wrong_axis(dy, gamma, x_hat, rstd):
    d = gamma * dy
    return rstd * (d - d.mean(axis=0) - x_hat * mean(d * x_hat))


def no_mean(dy, gamma, x_hat, rstd):
    d = gamma * dy
    return rstd * (d - d.sum(axis=-1, keepdims=True) - x_hat * mean(d * x_hat))


def statistics_as_constants(dy, gamma, rstd):
    return rstd * gamma * dy


def started() -> Any:
    return derive(layer_norm, shapes=SHAPES, wrt="x", upstream="dy")


def test_the_claim_is_proved_in_its_own_names() -> None:
    proof = started().use("norm-three-terms").conclude(right)
    labels = [step.label for part in proof.parts for step in part.steps]
    assert labels[-1] == "dx" and "zero-1" in labels
    assert [each.tensor.name for each in proof.kept()] == ["d"]


@pytest.mark.parametrize("claim", [gamma_outside, two_terms, wrong_sign, wrong_axis, no_mean, statistics_as_constants])
def test_wrong_claims_are_refused_with_their_difference(claim: Callable[..., Any]) -> None:
    with pytest.raises(RefusedStep) as refused:
        started().conclude(claim)
    assert refused.value.label == "dx"


def test_without_a_claim_the_three_terms_are_found() -> None:
    proof = started().conclude()
    rho, inner = proof.values["x"].body.children
    assert repr(rho) == "rstd[b]" and len(inner.children) == 3
    document = proof.document(HEAD)
    assert all(check.passed for check in document.record)
    assert "def layer_norm_backward(dout, x, gamma, " in document.listing


def test_what_a_claim_may_speak_of() -> None:
    def stranger(dy, sigma):
        return dy * sigma

    with pytest.raises(UsageError, match="stranger speaks of sigma"):
        started().conclude(stranger)

    def too_few(dy, x_hat):
        return dy * x_hat

    with pytest.raises(UsageError, match="returns 1 values for the gradients by x, gamma"):
        derive(layer_norm, shapes=SHAPES, wrt=("x", "gamma"), upstream="dy").conclude(too_few)

    def wrong_shape(dy, x_hat):
        return (dy * x_hat).sum(axis=0)

    with pytest.raises(UsageError, match="the gradient by x has the shape"):
        started().conclude(wrong_shape)

    def other_meaning(dy, x, rstd):
        mu = x.sum(axis=-1, keepdims=True)
        return dy * mu * rstd

    with pytest.raises(UsageError, match="gives another meaning to mu"):
        started().conclude(other_meaning)


def test_unknown_arguments_are_named() -> None:
    with pytest.raises(UsageError, match="layer_norm has no argument weight"):
        derive(layer_norm, shapes=SHAPES, wrt="weight")


def test_a_lemma_about_vanishing_sums_needs_one() -> None:
    def linear(x, w):
        return x * w

    with pytest.raises(UsageError, match="has nothing to say here"):
        derive(linear, wrt="x", shapes="x: B D, w: D").use("norm-three-terms")


def test_an_output_named_loss_is_not_the_loss() -> None:
    def objective(x):
        loss = (x**2).sum()
        return loss  # noqa: RET504

    proof = derive(objective, shapes="x: N").conclude()
    assert list(proof.program.outputs) == ["y"]


# ---------------------------------------------------------------- identities


def x_hat_mean(x_hat):
    return x_hat.mean(axis=-1)


def test_an_identity_and_its_near_miss() -> None:
    proof = about(layer_norm, SHAPES).chain("mean", x_hat_mean, 0, reasons=["it is centred"])
    assert [check.error for check in proof.compare()] == [pytest.approx(0, abs=1e-12)]
    with pytest.raises(RefusedStep):
        about(layer_norm, SHAPES).chain("mean", x_hat_mean, 1, reasons=["it is not"])


def test_a_chain_has_a_reason_for_every_link() -> None:
    with pytest.raises(ValueError, match="2 links and 1 reasons"):
        about(layer_norm, SHAPES).chain("mean", x_hat_mean, 0, 0, reasons=["only one"])


# ---------------------------------------------------------------- the ledger


def test_a_name_has_one_meaning_and_a_label_one_step() -> None:
    size = Size("N")
    n = Var("n", size)
    x, s = Tensor("x", (size,)), Tensor("s", ())
    total = Definition(s, (), (), sum_(n, x(n)))
    ledger = Ledger(Indices(), [total])
    with pytest.raises(UsageError, match="the name 's' stands for two things"):
        ledger.define(total)
    ledger.step("one", (s(), sum_(n, x(n))), "definition", "by definition")
    with pytest.raises(UsageError, match="two steps are labelled 'one'"):
        ledger.step("one", (s(), s()), "definition", "again")


def test_a_refusal_says_what_was_claimed_and_what_is_left() -> None:
    size = Size("N")
    n = Var("n", size)
    x = Tensor("x", (size,))
    with pytest.raises(RefusedStep, match=r"step 'half' is refused: .* is not proved; left - right = ") as refused:
        Ledger(Indices()).step("half", (sum_(n, x(n)), 2 * sum_(n, x(n))), "fold", "wrong")
    assert repr(refused.value.difference).startswith("-")
