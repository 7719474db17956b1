"""Entries chosen by integer labels: ``x[n, y[n]]`` inside functions, and brackets over a range that is a number."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symres.kernel.decide import equal
from symres.kernel.terms import ONE, ZERO, Fun, Iverson, Num, Size, Tensor, Term, Var, delta, power, sum_

N, C = Size("N"), Size("C")
X, W = Tensor("x", (N, C)), Tensor("w", (N, C))
Y, Z = Tensor("y", (N,), "int", C), Tensor("z", (N,), "int", C)
ROW, J, K = Var("i", N), Var("j", C), Var("k", C)
HIT = Iverson("=", Y(ROW) - J)


def exp(term: Term) -> Term:
    return Fun("exp", term)


PARTITION = sum_(K, exp(X(ROW, K)))
EQUAL: dict[str, tuple[Term, Term]] = {
    "an entry where the label is hit": (HIT * X(ROW, J), HIT * X(ROW, Y(ROW))),
    "a function there": (HIT * exp(X(ROW, J)) / exp(X(ROW, Y(ROW))), HIT),
    "a function of the chosen entry": (sum_(K, delta(Y(ROW), K) * exp(X(ROW, K))), exp(X(ROW, Y(ROW)))),
    "an unknown function": (
        sum_(K, delta(Y(ROW), K) * Fun("f", X(ROW, K) + W(ROW, J))),
        Fun("f", X(ROW, Y(ROW)) + W(ROW, J)),
    ),
    "a root": (sum_(K, delta(Y(ROW), K) * power(X(ROW, K), Fraction(1, 2))), power(X(ROW, Y(ROW)), Fraction(1, 2))),
    "two chosen entries": (sum_(K, delta(Y(ROW), K) * X(ROW, K) * W(ROW, K)), X(ROW, Y(ROW)) * W(ROW, Y(ROW))),
    "two labels": (
        sum_((K, J), delta(Y(ROW), K) * delta(Z(ROW), J) * exp(X(ROW, K) + W(ROW, J))),
        exp(X(ROW, Y(ROW)) + W(ROW, Z(ROW))),
    ),
    "softmax at the label": (
        sum_(K, delta(Y(ROW), K) / (exp(X(ROW, Y(ROW))) / PARTITION) * exp(X(ROW, K)) / PARTITION**2 * exp(X(ROW, J))),
        exp(X(ROW, J)) / PARTITION,
    ),
}
B = Var("b", Num(2))
FIRST, SECOND = Iverson("=", B), Iverson("=", B - 1)


@pytest.mark.parametrize("name", EQUAL)
def test_chosen_entries(name: str) -> None:
    left, right = EQUAL[name]
    assert equal(left, right)
    assert not equal(left, 2 * right)
    assert not equal(left, right + W(ROW, J))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1 - FIRST) * (1 - SECOND), ZERO),
        (FIRST + SECOND, ONE),
        (FIRST * X(ROW, J) + (1 - FIRST) * W(ROW, J), (1 - SECOND) * X(ROW, J) + SECOND * W(ROW, J)),
    ],
)
def test_every_value_of_a_range_that_is_a_number(left: Term, right: Term) -> None:
    assert equal(left, right)
    assert not equal(left, right + FIRST)


def test_different_labels_are_not_the_same() -> None:
    assert not equal(exp(X(ROW, Y(ROW))), exp(X(ROW, Z(ROW))))
    assert not equal(HIT * X(ROW, J), X(ROW, Y(ROW)))


def test_sums_over_a_few_numbers_are_their_terms() -> None:
    pair = Tensor("u", (Num(2), N))
    number, row = Var("k", Num(2)), Var("i", N)
    written = pair(0, row) + pair(1, row)
    assert equal(sum_(number, pair(number, row)), written)
    assert equal(Fun("f", sum_(number, pair(number, row))), Fun("f", written))
    assert not equal(sum_(number, pair(number, row)), written + pair(0, row))
