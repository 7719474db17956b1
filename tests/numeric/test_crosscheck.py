"""Cross-checks: every method accepts the right gradients and refuses planted faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from symres.kernel.terms import Apply, Fun, Lam, Tensor, Term, Var, mul, power
from symres.language.functions import absolute, relu
from symres.language.program import Value
from symres.numeric.crosscheck import DEFAULT, METHODS, Subject, crosscheck, deviation, method
from symres.numeric.evaluate import evaluate
from symres.numeric.frameworks import is_installed, with_module
from symres.numeric.points import MARGIN, distance_to_kinks, points, random_functions
from tests.numeric.layers import LAYERS, B, D, Layer, N, batch_norm, layer_norm, total

NOT_JAX = [name for name in METHODS if name not in ("jax", "numpy")]


def subject(layer: Layer, **more: Any) -> Subject:
    return Subject(layer.program, layer.adjoints, layer.gradients, forward=layer.reference, **more)


@pytest.mark.parametrize("make", LAYERS, ids=lambda make: make.__name__)
def test_right_gradients_pass_every_method(make: Callable[[], Layer]) -> None:
    records = crosscheck(subject(make()))
    assert [record.method for record in records] == [name for name in DEFAULT if name != "numpy"]
    for record in records:
        assert record.passed, record
        assert len(record.sizes) >= 2
    assert {value for sizes in records[0].sizes[:1] for value in sizes.values()} == {1}


def times(factor: Term | int) -> Callable[[Value], Value]:
    return lambda value: replace(value, body=mul(factor, value.body))


FAULTS = {
    "sign": times(-1),
    "one over the size": times(power(D, -1)),
    "a small factor": times(1 + power(D, -1) * power(10**5, -1)),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", NOT_JAX)
def test_planted_faults_are_refused_by_every_method(name: str, fault: str) -> None:
    layer = layer_norm()
    layer.gradients["x"] = FAULTS[fault](layer.gradients["x"])
    (record,) = crosscheck(subject(layer), [name])
    assert record.passed == (name == "forward"), record  # the forward pass is right


def test_a_gradient_summed_over_the_wrong_axis_is_refused() -> None:
    layer = layer_norm()
    layer.gradient(
        layer.program.inputs["beta"], lambda d: total(B, lambda b: Tensor("∂y", (B, D))(b, d)) * power(B, -1)
    )
    records = crosscheck(subject(layer))
    assert [record.method for record in records if not record.passed] == ["finite", "complex", "sympy"]


def test_a_reference_written_by_hand_is_compared() -> None:
    def by_hand(dout: Any, x: Any, gamma: Any, eps: Any) -> tuple[Any, Any]:
        hat = (x - x.mean(0)) / np.sqrt(x.var(0) + eps)
        g = gamma * dout
        dx = (g - g.mean(0) - hat * (g * hat).mean(0)) / np.sqrt(x.var(0) + eps)
        return dx, (dout * hat).sum(0)

    (record,) = crosscheck(subject(batch_norm(), reference=by_hand), ["numpy"])
    assert record.passed
    (record,) = crosscheck(subject(batch_norm(), reference=lambda *a, **k: by_hand(*a, **k)[::-1]), ["numpy"])
    assert record.error == np.inf  # the shapes do not fit


def test_a_forward_function_that_is_not_the_program_is_refused() -> None:
    layer = layer_norm()
    layer.reference = lambda x, gamma, beta, eps: x
    assert [record.passed for record in crosscheck(subject(layer), ["forward", "finite"])] == [False, False]


def test_several_outputs_and_a_cache_behind_them() -> None:
    layer = Layer("two", lambda x: (2 * x, x**2, "cache"))
    x = layer.input("x", N)
    first, second = layer.output("y", (N,), lambda n: 2 * x(n)), layer.output("z", (N,), lambda n: x(n) ** 2)
    layer.gradient(x, lambda n: 2 * first(n) + 2 * x(n) * second(n))
    assert all(record.passed for record in crosscheck(subject(layer)))


def general() -> Layer:
    """x + F(x) for each sample, and an unknown elementwise function of it."""
    layer = Layer("general", lambda x, F, f: f(x + np.stack([F(row) for row in x])))
    x = layer.input("x", N, D)

    def F(n: Term, d: Term, *derivatives: Any) -> Term:
        k = Var("k", D)
        return Apply("F", (D,), (d,), (Lam((k,), x(n, k)),), derivatives)

    s = layer.define("s", (N, D), lambda n, d: x(n, d) + F(n, d))
    g = layer.output("y", (N, D), lambda n, d: Fun("f", s(n, d)))
    ds = layer.adjoint(s, lambda n, d: g(n, d) * Fun("f'", s(n, d)))
    layer.gradient(x, lambda n, d: ds(n, d) + total(D, lambda k: ds(n, k) * F(n, k, (0, (d,)))))
    return layer


def test_unknown_functions_are_random_ones_with_their_derivatives() -> None:
    records = crosscheck(subject(general()))
    assert [record.method for record in records] == ["forward", "finite", "complex"]
    assert all(record.passed for record in records)
    layer = general()
    layer.gradients["x"] = times(2)(layer.gradients["x"])
    assert [record.passed for record in crosscheck(subject(layer))] == [True, False, False]


def test_random_functions_have_the_derivatives_that_their_names_say() -> None:
    rng = np.random.default_rng(0)
    functions = random_functions(general().program, {"N": 2, "D": 3}, rng)
    x, h = rng.normal(size=3), 1e-6
    for name, derivative in (("f", "f'"), ("f'", "f''")):
        quotient = (functions[name](x + h) - functions[name](x - h)) / (2 * h)
        np.testing.assert_allclose(functions[derivative](x), quotient, rtol=1e-6)
    for name, derivative in (("F", "F.1"), ("F.1", "F.1.1")):
        columns = [(functions[name](x + h * e) - functions[name](x - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(functions[derivative](x), np.stack(columns, axis=-1), rtol=1e-5, atol=1e-9)


def test_points_keep_away_from_kinks() -> None:
    layer = Layer("kinks", lambda x: None)
    x = layer.input("x", N)
    layer.output("y", (N,), lambda n: relu(x(n)) + absolute(x(n) - 1))
    for point in points(layer.program, count=8):
        assert np.abs(point.arrays["x"]).min() >= MARGIN
        assert np.abs(point.arrays["x"] - 1).min() >= MARGIN
    run = evaluate(layer.program, {"x": np.array([1.2, 0.5])}, {"N": 2})
    assert distance_to_kinks(layer.program, run) == pytest.approx(0.2)


def test_deviation_is_relative_to_the_larger_of_gradient_and_upstream() -> None:
    layer = layer_norm()
    point = next(points(layer.program))
    upstream = np.abs(point.upstream["y"]).max()
    assert deviation(np.array([1e-3]), np.array([0.0]), point) == pytest.approx(1e-3 / upstream)
    assert deviation(np.array([200.0]), np.array([100.0]), point) == pytest.approx(1.0)
    assert deviation(np.zeros(2), np.zeros(3), point) == np.inf


def test_all_ones_upstream_would_check_nothing() -> None:
    """The reason for random upstream gradients: the gradient of Σ LN(x) by x is 0 at γ = 1."""
    layer = layer_norm()
    point = list(points(layer.program))[-1]
    ones = replace(
        point,
        arrays={**point.arrays, "gamma": np.ones_like(point.arrays["gamma"])},
        upstream={"y": np.ones_like(point.upstream["y"])},
    )
    assert np.abs(subject(layer).derived(ones)["x"]).max() < 1e-12
    assert np.abs(subject(layer).derived(point)["x"]).max() > 1e-3


@pytest.mark.skipif(not is_installed("jax"), reason="jax is not installed")
def test_jax_runs_the_function_or_else_the_traced_program() -> None:
    (record,) = crosscheck(subject(layer_norm()), ["jax"])
    assert record.passed
    assert record.detail == "the function"

    def in_place(x: Any, w: Any, b: Any) -> Any:
        y = np.zeros((len(x), w.shape[1]))
        y += x @ w
        y[:] = y + b
        return y

    from tests.numeric.layers import linear

    layer = linear()
    layer.reference = in_place
    (record,) = crosscheck(subject(layer), ["jax"])
    assert record.passed
    assert record.detail == "the traced program"
    layer.gradients["x"] = times(2)(layer.gradients["x"])
    (record,) = crosscheck(subject(layer), ["jax"])
    assert not record.passed


def test_a_second_method_of_one_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="a method finite already"):
        method("finite", tolerance=1.0)(lambda subject, point: 0.0)


def helper(x: Any) -> Any:
    return np.exp(x)


def user(x: Any, scale: float = 2.0) -> Any:
    return scale * helper(x)


def test_numpy_is_replaced_in_helpers_too() -> None:
    class Module:
        exp = staticmethod(lambda x: "replaced ")

    replaced = with_module(user, Module)
    assert replaced(1.0, scale=2) == "replaced replaced "
    assert user(0.0) == 2.0


@pytest.mark.parametrize("name", [name for name in NOT_JAX if name != "forward"])
def test_a_missing_variance_path_is_refused_by_every_method(name: str) -> None:
    layer = layer_norm()
    tensors = {tensor.name: tensor for tensor in layer.program.definitions}
    rstd, (dhat,) = tensors["rstd"], (definition.tensor for definition in layer.adjoints)
    layer.gradient(
        layer.program.inputs["x"],
        lambda b, d: rstd(b) * (dhat(b, d) - power(D, -1) * total(D, lambda k: dhat(b, k))),
    )
    (record,) = crosscheck(subject(layer), [name])
    assert not record.passed


def test_points_are_where_the_program_is_defined() -> None:
    """The unbiased variance of one sample is 0/0: the smallest point has two."""
    layer = Layer("unbiased", lambda x: np.var(x, ddof=1))
    x = layer.input("x", N)
    mean = layer.define("mu", (), lambda: power(N, -1) * total(N, lambda n: x(n)))
    layer.output("y", (), lambda: power(N - 1, -1) * total(N, lambda n: (x(n) - mean()) ** 2))
    assert min(point.sizes["N"] for point in points(layer.program, count=6)) == 2
