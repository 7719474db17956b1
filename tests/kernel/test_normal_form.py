"""The normal form against an oracle: what it calls equal is equal, and rewriting never changes it."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symres.errors import BudgetExceeded, Undefined
from symres.kernel.decide import equal
from symres.kernel.terms import Fun, Iverson, Num, Term, Var, add, delta, mul, power, sum_
from tests.kernel.oracle import agree
from tests.kernel.strategies import EPS, MASK, A, C, D, N, U, V, X, Y, random_term, rewrite

SEEDS = st.integers(min_value=0, max_value=10**9)


def scope() -> list[Var]:
    return [Var("n", N), Var("i", D), Var("i", D)]


@given(SEEDS)
@settings(max_examples=120, deadline=None)
def test_rewriting_does_not_change_the_normal_form(seed: int) -> None:
    rng = random.Random(seed)
    term = random_term(rng, scope(), 3)
    other = rewrite(rng, rewrite(rng, term))
    assert agree(term, other, points=1)  # the rewriting itself is right
    with contextlib.suppress(BudgetExceeded, Undefined, ZeroDivisionError):
        assert equal(term, other)


@given(SEEDS)
@settings(max_examples=120, deadline=None)
def test_what_is_called_equal_is_equal(seed: int) -> None:
    rng = random.Random(seed)
    variables = scope()
    term = random_term(rng, variables, 3, shifts=rng.random() < 0.5)
    other = damage(rng, rewrite(rng, term), variables)
    try:
        same = equal(term, other)
    except (BudgetExceeded, Undefined, ZeroDivisionError):
        return
    if same:
        assert agree(term, other)


def damage(rng: random.Random, term: Term, variables: list[Var]) -> Term:
    """A small change somewhere, of the kind people make."""
    children = term.children
    if children and rng.random() < 0.75:
        place = rng.randrange(len(children))
        changed = damage(rng, children[place], variables)
        try:
            return term.rebuild((*children[:place], changed, *children[place + 1 :]))
        except (TypeError, ValueError):
            return term
    options = [mul(-1, term), add(term, 1), mul(2, term), mul(term, C()), power(term, 2), mul(term, power(N, -1))]
    return rng.choice(options)


n, i, j, k = Var("n", N), Var("i", D), Var("j", D), Var("k", D)

TRUE = {
    "a sum counts its range": (sum_(i, Num(1)), D),
    "swapped double sums": (sum_(i, sum_(j, A(i, j))), sum_(k, sum_(i, A(k, i)))),
    "a transposed double sum of a product": (sum_(i, sum_(j, A(i, j) * A(j, i))), sum_(i, sum_(j, A(j, i) * A(i, j)))),
    "delta contraction": (sum_(k, delta(i, k) * A(k, j)), A(i, j)),
    "two deltas": (sum_(k, delta(i, k) * delta(k, j)), delta(i, j)),
    "delta ties free indices": (delta(i, j) * U(i), delta(i, j) * U(j)),
    "a one-hot row sums to one": (sum_(k, delta(k, Y(n))), Num(1)),
    "an entry at a label": (X(n, Y(n)), sum_(k, delta(k, Y(n)) * X(n, k))),
    "a label twice": (sum_(k, delta(k, Y(n)) * delta(k, Y(n)) * X(n, k)), X(n, Y(n))),
    "a mask is its own square": (MASK(n, i) ** 2, MASK(n, i)),
    "complementary masks": (MASK(n, i) * (1 - MASK(n, i)), Num(0)),
    "a bracket and its complement": (Iverson(">=", i - j), 1 - Iverson(">=", j - i - 1)),
    "a bracket decided by the range": (Iverson(">=", i), Num(1)),
    "the square of a sum": (sum_(i, U(i)) ** 2, sum_(i, sum_(j, U(i) * U(j)))),
    "the defining relation of a quotient": (
        EPS() * power(EPS() + U(i) ** 2, -1),
        1 - U(i) ** 2 * power(EPS() + U(i) ** 2, -1),
    ),
    "a quotient under a sum": (
        sum_(i, U(i) ** 2 * power(EPS() + U(i) ** 2, -1)) + sum_(i, EPS() * power(EPS() + U(i) ** 2, -1)),
        D,
    ),
    "a mask inside a function": (MASK(n, i) * Fun("f", MASK(n, i) * U(i)), MASK(n, i) * Fun("f", U(i))),
    "step is odd about a half": (Fun("step", -U(i)), 1 - Fun("step", U(i))),
    "step of a relu": (Fun("step", U(i) * Fun("step", U(i))), Fun("step", U(i))),
    "step ignores positive factors": (Fun("step", U(i) * EPS() * N), Fun("step", U(i))),
    "exp of a sum": (Fun("exp", U(i) + V(n)), Fun("exp", V(n)) * Fun("exp", U(i))),
}

FALSE = {
    "a sum is not an entry": (sum_(i, U(i)), U(i)),
    "the index is not captured": (sum_(i, U(i) * U(i)), U(i) * sum_(i, U(i))),
    "two indices are not one": (sum_(i, A(i, i)), sum_(i, sum_(j, A(i, j)))),
    "a matrix is not its transpose": (A(i, j), A(j, i)),
    "mean and sum": (sum_(i, U(i)) / D, sum_(i, U(i))),
    "one size for another": (sum_(i, U(i)) / N, sum_(i, U(i)) / D),
    "biased and unbiased": (sum_(i, U(i)) / D, sum_(i, U(i)) / (D - 1)),
    "step of the square": (Fun("step", U(i) ** 2 - EPS()), Fun("step", U(i) - EPS())),
    "strict and weak order": (Iverson(">=", i - j), Iverson(">=", i - j - 1)),
    "an unknown function is not linear": (Fun("f", U(i) + U(j)), Fun("f", U(i)) + Fun("f", U(j))),
    "unknown functions of distinct arguments": (Fun("f", U(i)), Fun("f", V(n))),
    "a root is not linear": (power(EPS() + U(i) ** 2, -1), power(EPS(), -1) + power(U(i), -2)),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_identity_is_proved(name: str) -> None:
    left, right = TRUE[name]
    assert equal(left, right)
    assert agree(left, right) or "exp" in name


@pytest.mark.parametrize("name", FALSE)
def test_false_identity_is_not_proved(name: str) -> None:
    left, right = FALSE[name]
    assert not agree(left, right)
    assert not equal(left, right)


def test_dividing_by_zero_is_refused() -> None:
    with pytest.raises(Undefined):
        equal(power(U(i) - U(i), -1), Num(1))


def test_an_expression_that_explodes_is_refused() -> None:
    wide = add(*(U(Num(place)) for place in range(30)))
    with pytest.raises(BudgetExceeded):
        equal(power(wide, 9), Num(0))
