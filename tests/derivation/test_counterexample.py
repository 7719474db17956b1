"""Refutations: an example that the claim survives is refused, and so is a wrong one."""

# ruff: noqa: F722, F821, RET504, UP037

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symres.derivation.counterexample import refute
from symres.derivation.heading import Heading
from symres.derivation.ledger import RefusedStep
from symres.errors import UsageError

HEAD = Heading("example", "An example", "residual", "counterexample", "refuted", ())


def cancelled(x: "D"):
    return x - x


def halved(x: "D"):
    return x - x / 2


def unit(u: ""):
    return np.maximum(0, 3 - u)


def square(x):
    s = x**2
    return s


def double(x):
    t = 2 * x
    return t


def root(x):
    r = np.sqrt(x)
    return r


def test_a_gradient_that_does_not_vanish_is_refused() -> None:
    refute("").vanishing_gradient("zero", cancelled, reason="all is taken away")
    with pytest.raises(RefusedStep):
        refute("").vanishing_gradient("half", halved, reason="all is taken away")


@pytest.mark.parametrize(("u", "dead"), [(2, False), (Fraction(5, 2), False), (4, True), (Fraction(7, 2), True)])
def test_a_unit_is_dead_where_its_sum_is_negative(u: Fraction | int, dead: bool) -> None:
    if dead:
        refute("").vanishing_gradient("unit", unit, "u", at={"u": u}, reason="negative")
    else:
        with pytest.raises(RefusedStep):
            refute("").vanishing_gradient("unit", unit, "u", at={"u": u}, reason="negative")


@pytest.mark.parametrize("x", [0, 2])
def test_a_point_at_which_the_claim_holds_is_no_counterexample(x: int) -> None:
    with pytest.raises(UsageError, match="no counterexample"):
        refute("").different("square", square, double, {"x": x}, reason="")


def test_a_point_at_which_it_fails_is_one_with_its_exact_numbers() -> None:
    derivation = (
        refute("Squares are doubles.")
        .different("square", square, double, {"x": Fraction(1, 2)}, reason="a quarter is not 1")
        .nearest("residual-function", "something else")
        .document(HEAD)
    )
    assert {step.label: step.relation.parts[1].value for step in derivation.steps} == {  # type: ignore[attr-defined]
        "square-s": Fraction(1, 4),
        "square-t": 1,
    }
    assert all(check.passed for check in derivation.record)


def test_an_irrational_value_is_refused() -> None:
    with pytest.raises(UsageError, match="no exact value"):
        refute("").different("root", root, double, {"x": 2}, reason="")


def test_a_refutation_needs_an_example_and_a_true_statement() -> None:
    with pytest.raises(UsageError, match="needs an example"):
        refute("").document(HEAD)
    with pytest.raises(UsageError, match="needs an example"):
        refute("").vanishing_gradient("zero", cancelled, reason="all is taken away").document(HEAD)
