"""A backward function whose shapes fit only where two sizes happen to be equal: NumPy raises at all other sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from symres.errors import SymresError
from symres.numeric.evaluate import Evaluation
from symres.trace.guard import CodeRaised
from symres.trace.numeric import run_numpy
from symres.trace.run import trace, trace_pair
from symres.trace.signals import ShapeMismatch
from symres.verify.concrete import asked_for, size_names
from symres.verify.reality import random_arrays
from symres.verify.verdict import REFUTED, UNDECIDED, GradientVerdict, Verdict


def shapes_do_not_fit(
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None,
    options: Mapping[str, Any],
    found: ShapeMismatch,
) -> Verdict:
    """``refuted`` when the forward function runs at different sizes and NumPy confirms that the backward one raises."""
    names = asked_for(options)
    sizes: Mapping[str, int] = {}
    try:
        traced = trace_pair(forward, backward, **options, sizes=dict.fromkeys(size_names(options["shapes"]), 3))
        names = list(traced.claimed)
        program = trace(forward, options["shapes"], options["set"], timeout=options["timeout"])
        rng = np.random.default_rng(0)
        for sizes in _different(size_names(options["shapes"])):
            run = Evaluation({}, sizes)
            outputs = list(program.outputs.values())[: len(traced.upstream)]
            shapes = [tuple(run.integer(length) for length in value.shape) for value in outputs]
            if any(length < 1 for shape in shapes for length in shape):
                continue
            arrays = random_arrays(program.inputs, sizes, rng)
            for tensor, shape in zip(traced.upstream, shapes, strict=True):
                arrays[tensor.name] = rng.standard_normal(shape)
            run_numpy(traced, forward, backward, arrays, sizes, options)
    except CodeRaised as raised:
        shown = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        reason = f"the backward function does not run at {shown}: {raised}"
        return Verdict({name: GradientVerdict(name, REFUTED, reason) for name in names}, 0.0, reason=reason)
    except (SymresError, ValueError):
        pass  # NumPy could not be asked; then the shapes are all that is known
    return Verdict({name: GradientVerdict(name, UNDECIDED, str(found)) for name in names}, 0.0, reason=str(found))


def _different(names: list[str]) -> Iterator[dict[str, int]]:
    """Sizes that are all different, growing and falling, near and far apart."""
    for step in (1, 3):
        yield {name: 2 + step * place for place, name in enumerate(names)}
        yield {name: 2 + step * place for place, name in enumerate(reversed(names))}
