"""The trace against reality: what the user's code computes in NumPy must be what was traced.

Without this, a fault in tracing could make a wrong function look right or a right one wrong. Where the two disagree, no
verdict is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from symres.errors import SymresError
from symres.kernel.terms import Size, Tensor, walk
from symres.numeric.evaluate import Evaluation
from symres.trace.numeric import run_numpy
from symres.trace.traced import Traced
from symres.verify.verdict import UNDECIDED, Verdict

_PATTERNS = ((3, 2, 4, 5, 2, 3), (2, 4, 3, 2, 3, 2))
_TOLERANCE = 1e-6


def disagreement(
    verdict: Verdict,
    traced: Traced,
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None,
    options: Mapping[str, Any],
) -> Verdict:
    """The verdict, or ``undecided`` for every gradient when NumPy computes something else than was traced."""
    for seed, pattern in enumerate(_PATTERNS):
        try:
            problem = _compare(traced, forward, backward, options, pattern, seed)
        except SymresError:
            continue
        if problem:
            reason = f"the traced expressions and NumPy disagree ({problem}), so the trace is not relied on"
            gradients = {
                name: replace(gradient, verdict=UNDECIDED, reason=reason, witness=None, diagnosis=None, difference=None)
                for name, gradient in verdict.gradients.items()
            }
            return replace(verdict, gradients=gradients, reason=reason)
    return verdict


def _compare(
    traced: Traced,
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None,
    options: Mapping[str, Any],
    pattern: tuple[int, ...],
    seed: int,
) -> str:
    program = traced.program
    tensors = {**program.inputs, **{tensor.name: tensor for tensor in traced.upstream}}
    names = sorted(
        {node.name for t in tensors.values() for dim in t.dims for node in walk(dim) if isinstance(node, Size)}
    )
    turned = range(len(pattern))
    choices = [{name: pattern[(k + turn) % len(pattern)] for k, name in enumerate(names)} for turn in turned]
    sizes = next(filter(traced.admits, choices), None)
    if sizes is None:
        return ""
    arrays = random_arrays(tensors, sizes, np.random.default_rng(seed))
    with np.errstate(all="ignore"):
        real = run_numpy(traced, forward, backward, arrays, sizes, options)
        run = Evaluation(dict(arrays), sizes)
        run.arrays.setdefault("pi", np.asarray(np.pi))
        run.arrays.setdefault("infinity", np.asarray(1e30))
        for definition in program.definitions.values():
            run.define(definition)
        for name, value in program.outputs.items():
            if not _close(run.value(value), real.outputs[name]):
                return f"in the output {name}"
        for name, value in traced.claimed.items():
            if not _close(run.value(value), real.claimed[name]):
                return f"in the gradient of {name}"
    return ""


def random_arrays(tensors: Mapping[str, Tensor], sizes: Mapping[str, int], rng: Any) -> dict[str, Any]:
    """Random values of the kinds and shapes of the tensors, one axis for each atomic size."""
    run = Evaluation({}, sizes)
    arrays: dict[str, Any] = {}
    for name, tensor in tensors.items():
        shape = tuple(run.integer(dim) for dim in tensor.dims)
        if tensor.kind == "int":
            arrays[name] = rng.integers(0, run.integer(tensor.bound) if tensor.bound is not None else 2, shape)
        elif tensor.kind == "bool":
            arrays[name] = rng.integers(0, 2, shape).astype(bool)
            arrays[name][(..., *[slice(1)] * bool(shape))] = (
                True  # a mask that masks everything leaves nothing to normalise
            )
        else:
            arrays[name] = rng.uniform(0.1, 1.5, shape) if tensor.kind != "real" else rng.standard_normal(shape)
    return arrays


def _close(traced: Any, real: Any) -> bool:
    traced, real = np.asarray(traced, dtype=float), np.asarray(real, dtype=float)
    if traced.size != real.size:
        return False
    finite = np.isfinite(real.ravel())
    difference = np.abs(traced.ravel()[finite] - real.ravel()[finite])
    scale = max(1.0, float(np.max(np.abs(real.ravel()[finite]), initial=0.0)))
    return bool(np.max(difference, initial=0.0) <= _TOLERANCE * scale)
