"""Roots of rational numbers multiply out: an ε written as a number is as good as one written as a symbol."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symres.kernel.decide import equal
from symres.kernel.terms import ONE, Fun, Num, Size, Tensor, Term, Var, power, sum_

HALF = Fraction(1, 2)
X = Tensor("x", (Size("N"),))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (power(2, HALF) * power(2, HALF), Num(2)),
        (power(2, HALF) * power(2, -HALF), ONE),
        (power(power(2, HALF), -1), power(2, -HALF)),
        (power(12, HALF), 2 * power(3, HALF)),
        (power(Fraction(2, 3), HALF) * power(6, HALF), Num(2)),
        (Fun("exp", -((Tensor("u")() * power(2, -HALF)) ** 2)), Fun("exp", -(Tensor("u")() ** 2) / 2)),
    ],
)
def test_roots_of_numbers(left: Term, right: Term) -> None:
    assert equal(left, right)
    assert not equal(left, right + 1)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100000), HALF, Fraction(3, 2), Fraction(2)])
def test_the_root_relation_with_a_number(epsilon: Fraction) -> None:
    n = Var("n", Size("N"))
    variance = sum_(n, X(n) ** 2)
    rstd = power(variance + epsilon, -HALF)
    assert equal(rstd * rstd * (variance + epsilon), ONE)
    assert equal(rstd**2 * variance, 1 - epsilon * rstd**2)
    assert not equal(rstd * rstd * variance, ONE)
