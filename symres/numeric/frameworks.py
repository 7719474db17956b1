"""Gradients by automatic differentiation frameworks, where they are installed."""

from __future__ import annotations

import importlib.util
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from symres.language.program import Program
from symres.numeric.codegen import compile_source, forward_source
from symres.numeric.points import Point


def is_installed(name: str) -> bool:
    """Whether a framework can be imported."""
    return importlib.util.find_spec(name) is not None


def with_module(function: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """A copy of a Python function that finds ``module`` wherever it, or a function beside it, says NumPy."""
    if not isinstance(function, types.FunctionType):
        return function
    old = function.__globals__
    new: dict[str, Any] = {}
    for name, value in old.items():
        if value is np:
            new[name] = module
        elif isinstance(value, types.FunctionType) and value.__globals__ is old:
            new[name] = _copied(value, new)
        else:
            new[name] = value
    return _copied(function, new)


def _copied(function: types.FunctionType, scope: dict[str, Any]) -> types.FunctionType:
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def gradients_by_jax(
    program: Program, forward: Callable[..., Any] | None, point: Point, names: list[str]
) -> tuple[dict[str, Any], str]:
    """The gradients of Σ upstream · output by ``jax.grad`` in double precision, and what was differentiated.

    The user's function is run with ``jax.numpy`` for NumPy; where it does not run so (it changes arrays in place, say),
    the traced program written out in NumPy is.
    """
    import jax
    import jax.numpy as jnp

    written = compile_source(forward_source(program, in_place=False)) if not point.functions else None
    candidates = [(forward, "the function"), (written, "the traced program")]
    failure: Exception | None = None
    with jax.enable_x64(True):
        fixed = {name: jnp.asarray(array) for name, array in point.arrays.items() if name not in names}
        for function, what in candidates:
            if function is None:
                continue
            run = with_module(function, jnp)

            def loss(given: dict[str, Any], run: Callable[..., Any] = run) -> Any:
                outputs = outputs_of(run(**fixed, **given), len(program.outputs))
                return sum(
                    jnp.sum(point.upstream[name] * out) for name, out in zip(program.outputs, outputs, strict=True)
                )

            try:
                found = jax.grad(loss)({name: jnp.asarray(point.arrays[name]) for name in names})
            except Exception as error:  # whatever the user's code raises on arrays that are no NumPy arrays
                failure = error
                continue
            return {name: np.asarray(found[name]) for name in names}, what
    raise failure if failure is not None else ValueError("there is no function to differentiate")


def outputs_of(returned: Any, count: int) -> tuple[Any, ...]:
    """The outputs among what a function returned: a cache may follow them."""
    if isinstance(returned, dict):
        returned = tuple(returned.values())
    if count == 1 and not isinstance(returned, tuple | list):
        return (returned,)
    return tuple(returned[:count])
