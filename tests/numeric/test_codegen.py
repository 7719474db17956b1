"""Generated NumPy code: against the layer in plain NumPy, the plain evaluation, and finite differences."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import Apply, Fun, Iverson, Lam, Num, Tensor, Term, Var, add
from symres.language.functions import exp, step
from symres.numeric.codegen import backward_source, compile_source, forward_source
from symres.numeric.evaluate import Evaluation, evaluate
from symres.numeric.parameters import defaults_of
from symres.numeric.sizes import sizes_of
from tests.numeric.layers import LAYERS, D, Layer, N, layer_norm, total

SIZES = ({}, {"N": 1, "B": 1}, {"D": 1, "K": 1, "T": 1}, {"H": 1, "G": 1, "M": 1}, dict.fromkeys("BDGHKMNT", 1))
DEFAULT = {"B": 3, "D": 5, "G": 2, "H": 4, "K": 3, "M": 4, "N": 6, "T": 5}


def arrays(layer: Layer, sizes: dict[str, int], rng: np.random.Generator) -> dict[str, Any]:
    """Random inputs; positive and integer ones as they must be."""
    run = Evaluation({}, sizes)
    found = {}
    for name, tensor in layer.program.inputs.items():
        shape = tuple(run.length(axis) for axis in layer.program.axes[name])
        if tensor.kind == "int":
            assert tensor.bound is not None
            found[name] = rng.integers(0, run.integer(tensor.bound), size=shape)
        else:
            values = rng.normal(size=shape)
            found[name] = values**2 + 0.1 if tensor.kind == "positive" else values
    return found


def results(returned: Any) -> tuple[Any, ...]:
    return returned if isinstance(returned, tuple) else (returned,)


@pytest.fixture(params=LAYERS, ids=lambda make: make.__name__)
def layer(request: pytest.FixtureRequest) -> Layer:
    make: Callable[[], Layer] = request.param
    return make()


@pytest.mark.parametrize("changed", SIZES, ids=str)
def test_forward_is_the_reference_and_the_evaluation(layer: Layer, changed: dict[str, int]) -> None:
    rng = np.random.default_rng(1)
    given = arrays(layer, DEFAULT | changed, rng)
    expected = layer.reference(**given)
    np.testing.assert_allclose(compile_source(forward_source(layer.program))(**given), expected, rtol=1e-9, atol=1e-12)
    run = evaluate(layer.program, given, sizes_of(layer.program, given))
    (output,) = layer.program.outputs.values()
    np.testing.assert_allclose(run.value(output), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("changed", SIZES, ids=str)
def test_backward_is_the_derivative_of_the_reference(layer: Layer, changed: dict[str, int]) -> None:
    rng = np.random.default_rng(2)
    given = arrays(layer, DEFAULT | changed, rng)
    upstream = rng.normal(size=np.shape(layer.reference(**given)))
    before = {name: np.array(array) for name, array in given.items()}
    function = compile_source(backward_source(layer.program, layer.adjoints, layer.gradients))
    gradients = results(function(upstream, **given))
    for name, array in before.items():
        np.testing.assert_array_equal(given[name], array)
    for name, gradient in zip(layer.gradients, gradients, strict=True):
        assert np.shape(gradient) == np.shape(given[name])
        direction = rng.normal(size=np.shape(given[name]))
        h = 1e-6
        up, down = (layer.reference(**{**given, name: given[name] + s * h * direction}) for s in (1, -1))
        quotient = np.sum(upstream * (up - down)) / (2 * h)
        assert np.sum(gradient * direction) == pytest.approx(quotient, rel=2e-6, abs=2e-8), name


def test_without_changing_arrays_in_place_the_results_are_the_same(layer: Layer) -> None:
    rng = np.random.default_rng(3)
    given = arrays(layer, DEFAULT, rng)
    upstream = rng.normal(size=np.shape(layer.reference(**given)))
    source = backward_source(layer.program, layer.adjoints, layer.gradients, in_place=False)
    assert "out=" not in source
    assert not re.search(r"[-+*/]= ", source)
    in_place = backward_source(layer.program, layer.adjoints, layer.gradients)
    ones, others = (results(compile_source(code)(upstream, **given)) for code in (source, in_place))
    for one, other in zip(ones, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_names_are_kept_apart() -> None:
    """An argument called like a size, an argument called dout, a tensor called like another's gradient."""
    layer = Layer("clash", lambda D, dout: D * dout + np.arange(len(D)) * len(D))
    d, dout = layer.input("D", D), layer.input("dout", D)
    dd = layer.define("dD", (D,), lambda i: d(i) * dout(i) + i * D)
    g = layer.output("y", (D,), lambda i: dd(i))
    layer.gradient(d, lambda i: g(i) * dout(i) * D)
    given = {"D": np.array([1.0, 2.0]), "dout": np.array([3.0, 4.0])}
    np.testing.assert_allclose(compile_source(forward_source(layer.program))(**given), [3.0, 10.0])
    source = backward_source(layer.program, [], layer.gradients)
    assert "def clash_backward(dout2, D, dout):" in source
    np.testing.assert_allclose(compile_source(source)(np.array([1.0, 10.0]), **given), [6.0, 80.0])


def test_results_without_some_axes_are_filled_out_and_are_numbers() -> None:
    layer = Layer("constants", lambda x: x)
    x = layer.input("x", N, D)
    g = layer.output("y", (), lambda: total(N, lambda n: total(D, lambda d: x(n, d))))
    layer.gradient(x, lambda n, d: g())
    function = compile_source(backward_source(layer.program, [], layer.gradients))
    np.testing.assert_array_equal(function(2.0, np.zeros((2, 3))), np.full((2, 3), 2.0))
    layer.gradient(x, lambda n, d: Num(0))
    assert "np.zeros((N, D))" in backward_source(layer.program, [], layer.gradients)
    layer.gradient(x, lambda n, d: step(x(n, d)))
    assert compile_source(backward_source(layer.program, [], layer.gradients))(2.0, np.ones((2, 3))).dtype == float


def test_a_gradient_that_is_an_argument_is_copied() -> None:
    layer = Layer("skip", lambda x: x)
    x = layer.input("x", N)
    g = layer.output("y", (N,), lambda n: x(n))
    layer.gradient(x, lambda n: g(n))
    upstream = np.ones(3)
    returned = compile_source(backward_source(layer.program, [], layer.gradients))(upstream, np.zeros(3))
    returned += 1
    np.testing.assert_array_equal(upstream, np.ones(3))


def test_long_signatures_and_results_are_broken_into_lines() -> None:
    layer = Layer("many", lambda **inputs: sum(inputs.values()))
    inputs = [layer.input(f"a_rather_long_name_{k}", N) for k in range(9)]
    g = layer.output("y", (N,), lambda n: add(*(each(n) for each in inputs)))
    for each in inputs:
        layer.gradient(each, lambda n: g(n))
    source = backward_source(layer.program, [], layer.gradients)
    assert max(map(len, source.splitlines())) <= 110
    found = compile_source(source)(np.ones(2), **{each.name: np.zeros(2) for each in inputs})
    assert [part.tolist() for part in found] == [[1.0, 1.0]] * 9


def test_unknown_functions_are_keyword_arguments() -> None:
    layer = Layer("unknown", lambda x: x)
    x, w = layer.input("x", N, D), layer.input("w", D)
    k, m = Var("k", D), Var("m", D)

    def F(n: Term, d: Term, *derivatives: Any) -> Term:
        return Apply("F", (D,), (d,), (Lam((k,), x(n, k)), Lam((m,), w(m))), derivatives)

    g = layer.output("y", (N, D), lambda n, d: Fun("f", x(n, d)) + F(n, d))
    layer.gradient(x, lambda n, d: g(n, d) * Fun("f'", x(n, d)) + total(D, lambda i: g(n, i) * F(n, i, (0, (d,)))))
    layer.gradient(w, lambda d: total(N, lambda n: total(D, lambda i: g(n, i) * F(n, i, (1, (d,))))))
    forward = compile_source(forward_source(layer.program))
    source = backward_source(layer.program, [], layer.gradients)
    assert "def unknown_backward(dout, x, w, *, df, dF_1, dF_2):" in source
    x_, w_, g_ = (np.random.default_rng(0).normal(size=shape) for shape in ((2, 3), 3, (2, 3)))
    np.testing.assert_allclose(forward(x_, w_, f=np.exp, F=lambda u, v: np.sin(u) * v), np.exp(x_) + np.sin(x_) * w_)
    dx, dw = compile_source(source)(
        g_, x_, w_, df=np.exp, dF_1=lambda u, v: np.diag(np.cos(u) * v), dF_2=lambda u, v: np.diag(np.sin(u))
    )
    np.testing.assert_allclose(dx, g_ * (np.exp(x_) + np.cos(x_) * w_))
    np.testing.assert_allclose(dw, (g_ * np.sin(x_)).sum(0))


def test_what_has_no_code_is_named() -> None:
    layer = Layer("unknown", lambda x: x)
    layer.input("x", N)
    k = Var("k", N)
    layer.output("y", (N,), lambda n: Apply("F", (N,), (n,), (Lam((k,), Num(1)),)))
    with pytest.raises(Unsupported, match="an argument of F that is constant along an axis"):
        forward_source(layer.program)
    layer.output("y", (N,), lambda n: Tensor("z", (N,))(n))
    with pytest.raises(UsageError, match="the tensor z is neither an argument nor defined"):
        forward_source(layer.program)


def test_layer_norm_reads_as_a_careful_person_would_write_it() -> None:
    layer = layer_norm()
    source = backward_source(layer.program, layer.adjoints, layer.gradients, defaults={"eps": 1e-5})
    assert source == LAYER_NORM


LAYER_NORM = '''import numpy as np


def layer_norm_backward(dout, x, gamma, beta, eps=1e-05):
    """The gradients of sum(dout * y) for y = layer_norm(x, gamma, beta, eps).

    Shapes: dout (B, D), x (B, D), gamma (D,), beta (D,), eps scalar.
    Returns: dx (B, D), dgamma (D,), dbeta (D,).
    """
    D = dout.shape[1]
    mu = x.mean(axis=-1, keepdims=True)
    x_centred = x - mu
    var = np.einsum("bd,bd->b", x_centred, x_centred)[:, None] / D
    rstd = 1 / np.sqrt(var + eps)
    dx_hat = gamma * dout
    mean_dx_hat = dx_hat.mean(axis=-1, keepdims=True)
    x_hat = np.multiply(rstd, x_centred, out=x_centred)
    mean_dx_hat_x_hat = np.einsum("bd,bd->b", dx_hat, x_hat)[:, None] / D
    dgamma = np.einsum("bd,bd->d", dout, x_hat)
    # dx = rstd * (dx_hat - mean_dx_hat - mean_dx_hat_x_hat * x_hat)
    dx = np.subtract(dx_hat, mean_dx_hat, out=dx_hat)
    x_hat *= mean_dx_hat_x_hat
    dx -= x_hat
    dx *= rstd
    dbeta = dout.sum(axis=0)
    return dx, dgamma, dbeta
'''


def test_float_defaults_are_those_of_the_function() -> None:
    def layer(x: Any, groups: int = 4, eps: float = 1e-5, mode: str = "train") -> Any:
        return x

    assert defaults_of(layer) == {"eps": 1e-5}
    assert defaults_of(None) == {}


def test_a_default_before_an_argument_without_one_is_left_out() -> None:
    layer = layer_norm()
    source = forward_source(layer.program, defaults={"x": 1.0, "eps": 0.5})
    assert "def layer_norm(x, gamma, beta, eps=0.5):" in source


def test_single_precision_stays_single_precision(layer: Layer) -> None:
    given = {
        name: array.astype(np.float32) if array.dtype == float else array
        for name, array in ((n, np.asarray(a)) for n, a in arrays(layer, DEFAULT, np.random.default_rng(4)).items())
    }
    upstream = np.ones(np.shape(layer.reference(**given)), np.float32)
    function = compile_source(backward_source(layer.program, layer.adjoints, layer.gradients))
    assert {part.dtype for part in results(function(upstream, **given))} == {np.dtype(np.float32)}


def test_what_is_masked_may_be_as_large_as_it_likes() -> None:
    """Σ_k [i ≥ k] exp(x_ik): the exponential of a masked 1000 is not taken, so that it cannot make 0 · ∞."""
    layer = Layer("masked", lambda x: (np.exp(x) * np.tri(len(x))).sum(1))
    x = layer.input("x", N, N)
    g = layer.output("y", (N,), lambda i: total(N, lambda k: Iverson(">=", i - k) * exp(x(i, k))))
    layer.gradient(x, lambda i, k: g(i) * exp(x(i, k)) * Iverson(">=", i - k))
    given = np.array([[0.0, 1000.0], [1.0, 2.0]])
    found = compile_source(forward_source(layer.program))(given)
    gradient = compile_source(backward_source(layer.program, [], layer.gradients))(np.array([1.0, 3.0]), given)
    np.testing.assert_allclose(found, [1.0, np.e + np.e**2])
    np.testing.assert_allclose(gradient, [[1.0, 0.0], [3 * np.e, 3 * np.e**2]])
