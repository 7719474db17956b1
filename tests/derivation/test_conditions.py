"""Where programs are defined: what can be read off is not stated, what cannot is; and names that never collide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symres.derivation.conditions import NONNEGATIVE, POSITIVE, UNKNOWN, Conditions
from symres.derivation.heading import heading
from symres.derivation.outputs import upstream_tensors, without_loss
from symres.errors import UsageError
from symres.kernel.terms import Num, Size, Tensor, Term, Var, sum_
from symres.language.functions import exp
from symres.language.program import Program
from symres.trace.run import trace

N = Size("N")
i = Var("i", N)
x, p, m = Tensor("x", (N,)), Tensor("p", (N,), "positive"), Tensor("m", (N,), "bool")


@pytest.mark.parametrize(
    ("term", "sign"),
    [
        (Num(2), POSITIVE),
        (Num(0), NONNEGATIVE),
        (Num(-1), UNKNOWN),
        (N, POSITIVE),
        (x(i), UNKNOWN),
        (x(i) ** 2, NONNEGATIVE),
        (x(i) * x(i), NONNEGATIVE),
        (x(i) * x(i) * x(i), UNKNOWN),
        (p(i), POSITIVE),
        (p(i) * m(i), NONNEGATIVE),
        (sum_(i, x(i) ** 2) / N + p(i), POSITIVE),
        (sum_(i, x(i) ** 2) / N, NONNEGATIVE),
        (sum_(i, m(i)), NONNEGATIVE),
        (sum_(i, exp(x(i))), POSITIVE),
        (p(i) - 1, UNKNOWN),
        (x(i) ** 3, UNKNOWN),
    ],
)
def test_signs_that_can_be_read_off(term: Term, sign: int) -> None:
    assert Conditions(Program("f")).sign(term) == sign


def layer_norm(x, eps=1e-5):
    var = ((x - x.mean()) ** 2).mean()
    return (x - x.mean()) / np.sqrt(var + eps)


def standardised(x):
    var = ((x - x.mean()) ** 2).mean()
    return (x - x.mean()) / np.sqrt(var)


def ratio(x, w):
    return x / w


def logarithm(x):
    return np.log(x)


@pytest.mark.parametrize(
    ("function", "roots", "divisors"),
    [(layer_norm, 0, 0), (standardised, 1, 0), (ratio, 0, 1), (logarithm, 1, 0)],
)
def test_conditions_of_layers(function: Callable[..., object], roots: int, divisors: int) -> None:
    conditions = Conditions(trace(function, shapes="x: N, w: N" if function is ratio else "x: N"))
    assert (len(conditions.roots()), len(conditions.divisors())) == (roots, divisors)


def test_a_relu_is_a_kink() -> None:
    program = trace(lambda x: np.maximum(0, x), shapes="x: N")
    (kink,) = Conditions(program).kinks()
    assert repr(kink).startswith("x[")


def test_upstream_gradients_have_names_of_their_own() -> None:
    program = trace(lambda x, dy: x * dy, shapes="x: N, dy: N")
    (upstream,) = upstream_tensors(program, "dy").values()
    assert upstream.name not in program.inputs
    (plain,) = upstream_tensors(program, "g").values()
    assert plain.name == "g"


def test_an_output_named_loss_is_renamed() -> None:
    def objective(x, y):
        loss = (x * y).sum()
        return loss  # noqa: RET504

    program = without_loss(trace(objective, shapes="x: N, y: N"))
    assert list(program.outputs) == ["out"]
    assert all(tensor.name != "loss" for tensor in program.definitions)


def test_a_heading_names_what_is_missing() -> None:
    with pytest.raises(UsageError, match="lacks ID, SUBJECT, KIND, VERDICT, SOURCES"):
        heading(__name__)
