"""Terms as SymPy expressions and back: the meaning is kept, and no index is captured."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import Apply, Fun, Iverson, Lam, Sum, Term, Var, add, delta, power
from symres.language.constants import PI
from symres.language.from_sympy import SympyReader, from_sympy
from symres.language.functions import FUNCTIONS, absolute
from symres.language.to_sympy import to_sympy
from symres.numeric.evaluate import Evaluation
from tests.random_terms import TENSORS, N, a, eps, evaluation, i, j, terms, w, x, y

n = sp.Symbol("n", integer=True, positive=True)
II, JJ = sp.Idx("i", (0, n - 1)), sp.Idx("j", (0, n - 1))
k = sp.Symbol("i", integer=True)
X, Y = sp.IndexedBase("x", shape=(n,), real=True), sp.IndexedBase("y", shape=(n,), real=True)
RUN = evaluation()


def value(term: Term, *variables: Var) -> Any:
    return RUN.term(term, variables)


def back(term: Term) -> Term:
    return from_sympy(to_sympy(term), variables={"i": i, "j": j}, tensors={tensor.name: tensor for tensor in TENSORS})


# ---------------------------------------------------------------- to SymPy


def test_forms() -> None:
    assert to_sympy(x(i) * delta(i, j)) == X[II] * sp.KroneckerDelta(II, JJ)
    total = to_sympy(Sum(j, x(j)))
    assert total == sp.Sum(
        X[sp.Symbol("j", integer=True, nonnegative=True)], (sp.Symbol("j", integer=True, nonnegative=True), 0, n - 1)
    )
    assert total.subs(n, 3).doit() == (X[0] + X[1] + X[2]).subs(n, 3)
    assert to_sympy(Iverson(">=", i - j)) == sp.Heaviside(II - JJ, 1)
    assert to_sympy(Fun("step", x(i))) == sp.Heaviside(X[II], 0)
    assert to_sympy(Fun("sigmoid", x(i))) == 1 / (1 + sp.exp(-X[II]))
    assert to_sympy(PI()) == sp.pi
    assert to_sympy(power(N, -1) * Fraction(1, 2)) == 1 / (2 * n)


def test_a_bound_index_is_named_apart_from_a_free_one() -> None:
    clash = Var("i", N)
    expression = to_sympy(Sum(clash, x(clash)) * y(i))
    (total,) = expression.atoms(sp.Sum)
    assert total.limits[0][0].name != "i"
    assert expression.has(Y[II])


def test_nested_indices_of_one_name_are_named_apart() -> None:
    inner, outer = Var("k", N), Var("k", N)
    expression = to_sympy(Sum(outer, Sum(inner, w(outer, inner))))
    names = {limit[0].name for total in expression.atoms(sp.Sum) for limit in total.limits}
    assert len(names) == 2


def test_the_results_are_differentiated_by_sympy() -> None:
    assert sp.diff(to_sympy(Fun("tanh", x(i))), X[II]) == 1 - sp.tanh(X[II]) ** 2


# ---------------------------------------------------------------- from SymPy: the traps


def test_a_summed_and_a_free_index_of_one_name_are_two() -> None:
    expression = sp.Sum(X[k], (k, 0, n - 1)) * Y[k]
    reader = SympyReader()
    term = reader.read(expression)
    np.testing.assert_allclose(value(term, reader.variables["i"]), RUN.arrays["x"].sum() * RUN.arrays["y"])
    assert term.free == {reader.variables["i"]}


def test_a_sum_inside_a_sum_over_the_same_name() -> None:
    expression = sp.Sum(X[k] * sp.Sum(Y[k], (k, 0, n - 1)), (k, 0, n - 1))
    assert value(from_sympy(expression)) == pytest.approx(RUN.arrays["x"].sum() * RUN.arrays["y"].sum())


def test_two_limits_the_first_is_innermost() -> None:
    b, c = sp.symbols("b c", integer=True)
    W = sp.IndexedBase("w", shape=(n, n))
    term = from_sympy(sp.Sum(W[b, c] * X[b], (b, 0, n - 1), (c, 0, n - 1)))
    assert value(term) == pytest.approx((RUN.arrays["w"] * RUN.arrays["x"][:, None]).sum())


def test_tensors_indexed_from_one() -> None:
    reader = SympyReader(base=1)
    term = reader.read(sp.Sum(X[k], (k, 1, n)) * Y[k])
    np.testing.assert_allclose(value(term, reader.variables["i"]), RUN.arrays["x"].sum() * RUN.arrays["y"])
    assert value(from_sympy(sp.Sum(X[k], (k, 1, n)), base=1)) == pytest.approx(RUN.arrays["x"].sum())
    with pytest.raises(UsageError, match="the index i of x may leave its axis") as caught:
        from_sympy(sp.Sum(X[k], (k, 1, n)))
    assert "base=1" in str(caught.value)


def test_an_idx_is_summed_over_by_its_label_too() -> None:
    assert value(from_sympy(sp.Sum(X[II], (II, 0, n - 1)))) == pytest.approx(RUN.arrays["x"].sum())


def test_padded_reads_only_when_asked_for() -> None:
    with pytest.raises(UsageError, match="may leave its axis"):
        from_sympy(X[II - 1])
    reader = SympyReader(padded=True)
    term = reader.read(X[II - 1])
    np.testing.assert_allclose(value(term, reader.variables["i"]), np.r_[0, RUN.arrays["x"][:-1]])


def test_part_of_a_range() -> None:
    assert value(from_sympy(sp.Sum(X[k], (k, 1, n - 1)))) == pytest.approx(RUN.arrays["x"][1:].sum())


def test_conditions() -> None:
    z = sp.Symbol("a", real=True)
    for expression, expected in (
        (sp.Piecewise((z, z > 0), (0, True)), 0.7),
        (sp.Piecewise((1, z > 1), (2, z >= 0.5), (3, True)), 2),
        (sp.Max(0, z, 2 * z), 1.4),
        (sp.Min(1, z), 0.7),
        (sp.Abs(-z), 0.7),
        (sp.sign(z), 1),
        (sp.Heaviside(z), 1),
        (sp.Piecewise((1, (z > 0) & (z < 0.5)), (4, ~(z > 2)), (0, True)), 4),
    ):
        assert value(from_sympy(expression)) == pytest.approx(expected)


def test_decimals_are_exact() -> None:
    assert from_sympy(sp.Float("0.044715")) is add(Fraction(8943, 200000))


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_of_unknown_functions(order: int) -> None:
    f = sp.Function("f")
    z = sp.Symbol("a", real=True)
    term = from_sympy(sp.diff(f(2 * z + 1), z, order))
    expected = {1: 2 * np.cos(2.4), 2: -4 * np.sin(2.4)}[order]
    assert value(term) == pytest.approx(expected)


def test_other_derivatives_are_refused() -> None:
    with pytest.raises(Unsupported, match="unevaluated derivative"):
        from_sympy(sp.Derivative(sp.Sum(X[k], (k, 0, n - 1)), X[II]))


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        (sp.Product(X[k], (k, 0, n - 1)), Unsupported, "Product has no meaning"),
        (sp.Symbol("m", integer=True), UsageError, "the index m has no range"),
        (sp.Piecewise((1, sp.Symbol("a") > 0)), Unsupported, "without a last case"),
        (sp.Function("exp'")(sp.Symbol("a")), UsageError, "the name of a known one"),
        (sp.oo, Unsupported, "Infinity has no meaning"),
        (sp.IndexedBase("z")[II + 1], UsageError, "z has no shape"),
    ],
)
def test_what_is_refused(expression: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_sympy(expression)


# ---------------------------------------------------------------- round trips


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"floordiv"}))
def test_every_function_comes_back(name: str) -> None:
    args = (absolute(a()) + 1, eps())[: FUNCTIONS[name].arity]
    if name in ("arcsin", "arccos", "arctanh"):
        args = (eps(),)
    term = Fun(name, *args)
    assert value(back(term)) == pytest.approx(value(term))


def test_general_functions_come_back() -> None:
    argument = Lam((j,), w(i, j) * 2)
    term = Apply("F", (N,), (i,), (argument, Lam((j,), y(j))), ((1, (i,)),))
    returned = back(term)
    assert isinstance(returned, Apply)
    functions = {"F.2": lambda u, v: np.outer(u, v)}
    run = Evaluation(RUN.arrays, {"n": 3}, functions)
    np.testing.assert_allclose(run.term(returned, (i,)), run.term(term, (i,)))


@settings(max_examples=100, deadline=None)
@given(terms(depth=3))
def test_round_trip_keeps_the_meaning(term: Term) -> None:
    np.testing.assert_allclose(value(back(term), i, j), value(term, i, j), rtol=1e-9, atol=1e-9)


def test_sympy_is_imported_late() -> None:
    code = "import symres.language.from_sympy, sys; raise SystemExit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
