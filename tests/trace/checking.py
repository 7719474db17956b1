"""A trace against reality: values of all outputs and claimed gradients at numbers, by the tests' own evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from symres.kernel.terms import Size, Tensor, walk
from symres.trace.run import Traced, run_numpy, trace_pair
from tests.trace.definitions import Evaluator

EXAMPLES = Path(__file__).parent / "examples"
NUMBERS = ((2, 3, 4, 5, 2, 3, 2), (4, 3, 5, 2, 3, 2, 3), (3, 1, 2, 2, 1, 3, 2))


def example(name: str) -> str:
    """``FILE.py:NAME`` of an example ``file:name``."""
    file, function = name.split(":")
    return f"{EXAMPLES / file}.py:{function}"


def tensors_of(traced: Traced) -> dict[str, Tensor]:
    return {**traced.program.inputs, **{tensor.name: tensor for tensor in traced.upstream}}


def sizes_of(traced: Traced) -> list[str]:
    terms = [dim for tensor in tensors_of(traced).values() for dim in tensor.dims]
    terms += [tensor.bound for tensor in tensors_of(traced).values() if tensor.bound is not None]
    terms += list(traced.integers.values())
    return list(dict.fromkeys(node.name for term in terms for node in walk(term) if isinstance(node, Size)))


def draw(tensor: Tensor, evaluator: Evaluator, rng: np.random.Generator) -> np.ndarray:
    shape = tuple(int(evaluator.term(dim)) for dim in tensor.dims)
    if tensor.kind == "int":
        assert tensor.bound is not None
        return rng.integers(0, int(evaluator.term(tensor.bound)), shape)
    if tensor.kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.normal(size=shape) if tensor.kind == "real" else rng.uniform(0.2, 2, shape)


def agrees(traced: Traced, forward: Any, backward: Any, sizes: Mapping[str, int], options: Mapping[str, Any]) -> None:
    """Outputs and claimed gradients are what the user's code computes in NumPy."""
    rng = np.random.default_rng(5)
    evaluator = Evaluator(sizes, {})
    arrays = {name: draw(tensor, evaluator, rng) for name, tensor in tensors_of(traced).items()}
    real = run_numpy(traced, forward, backward, arrays, sizes, options)
    evaluator = Evaluator(sizes, arrays)
    for tensor, definition in traced.program.definitions.items():
        whole = SimpleNamespace(axes=definition.axes, vars=definition.vars, body=definition.body)
        shape = tuple(int(evaluator.term(dim)) for dim in tensor.dims)
        evaluator.arrays[tensor.name] = evaluator.value(whole).reshape(shape)
    for name, value in traced.program.outputs.items():
        np.testing.assert_allclose(evaluator.value(value), real.outputs[name], rtol=1e-8, atol=1e-8, err_msg=name)
    for name, value in traced.claimed.items():
        found = evaluator.value(value)
        assert found.shape == np.shape(real.claimed[name]), name
        np.testing.assert_allclose(found, real.claimed[name], rtol=1e-8, atol=1e-8, err_msg=f"gradient of {name}")


def check(forward: Any, backward: Any = None, **options: Any) -> Traced:
    """Trace a pair and compare it with NumPy at several sizes."""
    traced = trace_pair(forward, backward, **options)
    names = sizes_of(traced)
    compared = 0
    for numbers in NUMBERS:
        sizes = dict(zip(names, numbers, strict=False))
        if traced.admits(sizes):
            agrees(traced, forward, backward, sizes, options)
            compared += 1
    assert compared
    return traced
