"""The plain evaluation against NumPy written by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symres.errors import Undefined, UsageError
from symres.kernel.terms import Apply, Fun, Iverson, Lam, Maximum, Size, Sum, Tensor, Var, delta, power, sum_
from symres.language.constants import INFINITY, PI
from symres.language.functions import maximum
from symres.language.program import Definition, Program, Value
from symres.numeric.evaluate import Evaluation, evaluate
from symres.numeric.sizes import sizes_of

B, D = Size("B"), Size("D")
b, i, j = Var("b", B), Var("i", D), Var("j", D)
x, w = Tensor("x", (B, D)), Tensor("w", (D, D))
rng = np.random.default_rng(5)
X, W = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
RUN = Evaluation({"x": X, "w": W}, {"B": 3, "D": 4})


def test_sums_products_and_powers() -> None:
    term = sum_(j, x(b, j) * w(j, i)) + power(D, -1) * sum_(j, power(x(b, j), 2)) - Fraction(1, 2) * i
    expected = X @ W + (X**2).sum(1, keepdims=True) / 4 - np.arange(4) / 2
    np.testing.assert_allclose(RUN.term(term, (b, i)), expected, rtol=1e-14)


def test_a_sum_over_a_body_that_does_not_depend_on_the_index_counts_it() -> None:
    assert RUN.term(Sum(i, x(b, j)), (b, j)) == pytest.approx(4 * X)


def test_an_index_bound_again_inside_means_the_inner_one() -> None:
    inner = Sum(i, x(b, i))
    assert RUN.term(Sum(i, inner * x(b, i)), (b,)) == pytest.approx(X.sum(1) ** 2)


def test_brackets_delta_and_entries_out_of_range() -> None:
    assert RUN.term(delta(i, j), (i, j)) == pytest.approx(np.eye(4))
    assert RUN.term(Iverson(">=", i - j), (i, j)) == pytest.approx(np.tri(4))
    shifted = np.hstack([np.zeros((3, 1)), X[:, :-1]])
    assert RUN.term(x(b, i - 1), (b, i)) == pytest.approx(shifted)
    assert RUN.term(Fun("floordiv", i + 1, 2), (i,)) == pytest.approx([0, 1, 1, 2])


def test_maximum_constants_and_definitions_of_functions() -> None:
    assert RUN.term(Maximum(i, x(b, i)), (b,)) == pytest.approx(X.max(1))
    assert RUN.term(PI(), ()) == pytest.approx(np.pi)
    assert RUN.term(maximum(x(b, i), 0), (b, i)) == pytest.approx(np.maximum(X, 0))
    assert RUN.term(Fun("sigmoid", x(b, i)), (b, i)) == pytest.approx(1 / (1 + np.exp(-X)))
    masked = Iverson(">=", i - j) * w(i, j) - (1 - Iverson(">=", i - j)) * INFINITY()
    assert RUN.term(Fun("exp", masked), (i, j)) == pytest.approx(np.exp(np.where(np.tri(4), W, -np.inf)))


def test_maximum_of_nothing_is_undefined() -> None:
    with pytest.raises(Undefined, match="maximum over i is over nothing"):
        Evaluation({"x": np.zeros((3, 0))}, {"B": 3, "D": 0}).term(Maximum(i, x(b, i)), (b,))


def test_general_functions_for_each_sample() -> None:
    k = Var("k", D)
    argument = Lam((k,), x(b, k))
    run = Evaluation(
        {"x": X}, {"B": 3, "D": 4}, {"F": lambda u: np.sin(W @ u), "F.1": lambda u: np.cos(W @ u)[:, None] * W}
    )
    value = run.term(Apply("F", (D,), (i,), (argument,)), (b, i))
    np.testing.assert_allclose(value, np.sin(X @ W.T))
    jacobian = run.term(Apply("F", (D,), (i,), (argument,), ((0, (j,)),)), (b, i, j))
    np.testing.assert_allclose(jacobian, np.cos(X @ W.T)[:, :, None] * W)


def test_exact_rationals() -> None:
    run = Evaluation({"x": np.array([[Fraction(1, 3), Fraction(2)]], object)}, {"B": 1, "D": 2}, exact=True)
    assert run.term(Sum(i, x(b, i) ** -2), (b,))[0] == Fraction(37, 4)
    assert run.term(power(D, -1) * x(b, i), (b, i))[0, 0] == Fraction(1, 6)


def test_programs_and_grouped_axes() -> None:
    G, K = Size("G"), Size("K")
    y = Tensor("y", (B, G, K))
    k, g = Var("k", K), Var("g", G)
    mu = Tensor("mu", (B, G))
    program = Program("f", {"y": y}, {"y": ((B,), (G, K))})
    program.definitions[mu] = Definition(mu, ((B,), (G,)), (b, g), power(K, -1) * Sum(k, y(b, g, k)))
    value = Value(((B,), (G, K)), (b, g, k), y(b, g, k) - mu(b, g))
    Y = rng.normal(size=(3, 6))
    run = evaluate(program, {"y": Y}, {"B": 3, "G": 2, "K": 3})
    grouped = Y.reshape(3, 2, 3)
    np.testing.assert_allclose(run.value(value), (grouped - grouped.mean(2, keepdims=True)).reshape(3, 6))


def test_sizes_are_read_off_the_shapes_and_checked() -> None:
    program = Program("f", {"x": x, "w": w})
    assert sizes_of(program, {"x": X, "w": W}) == {"B": 3, "D": 4}
    with pytest.raises(UsageError, match="an axis of w has the length 5, 4 was expected"):
        sizes_of(program, {"x": X, "w": np.zeros((4, 5))})
    with pytest.raises(UsageError, match=r"x has 2 axes, its array has the shape \(3,\)"):
        sizes_of(program, {"x": np.zeros(3), "w": W})


def test_what_has_no_value_is_named() -> None:
    for term, message in (
        (Tensor("q")(), "tensor q"),
        (Size("Q"), "size Q"),
        (i, "index i"),
        (Fun("f", 1), "function f"),
    ):
        with pytest.raises(UsageError, match=message):
            RUN.term(term)
