"""Generated NumPy code: against the layer in plain NumPy, the plain evaluation, and finite differences."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symres.numeric.codegen import backward_source, compile_source, forward_source
from symres.numeric.evaluate import Evaluation, evaluate
from symres.numeric.sizes import sizes_of
from tests.numeric.layers import LAYERS, Layer

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
