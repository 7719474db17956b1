"""Claims written in NumPy: a function of the named values of a program, whose results are said to be the gradients.

The function is traced once, with its parameters standing for what the program calls by these names; run on numbers it
is the NumPy reference of the cross-check. There is no second copy of a claim.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symres.calculus.reverse import Backward
from symres.derivation.indices import Indices
from symres.errors import UsageError
from symres.kernel.terms import Entry, Tensor, Term, transform
from symres.language.program import Axis, Definition, Program, Value
from symres.numeric.evaluate import evaluate
from symres.numeric.sizes import sizes_of

Function = Callable[..., Any]


@dataclass(frozen=True)
class Claim:
    """The results of a claim function, one for each input differentiated by, and the values that it names itself."""

    values: Mapping[str, Value]
    definitions: tuple[Definition, ...]
    function: Function | None = None


def known_values(backward: Backward) -> dict[str, tuple[Tensor, tuple[Axis, ...]]]:
    """What a claim may speak of, by name: inputs, named values and upstream gradients, each with its axes."""
    program = backward.program
    found = {name: (tensor, program.axes[name]) for name, tensor in program.inputs.items()}
    found |= {tensor.name: (tensor, definition.axes) for tensor, definition in program.definitions.items()}
    upstream = {tensor.name: (tensor, program.outputs[name].axes) for name, tensor in backward.upstream.items()}
    return found | upstream


def claimed(function: Function | Program, backward: Backward, wrt: tuple[str, ...], indices: Indices) -> Claim:
    """Trace a claim about the gradients by ``wrt``, in this order.

    Raises:
        UsageError: if a parameter is no value of the program, or the results do not fit ``wrt``.
    """
    known = known_values(backward)
    program = function if isinstance(function, Program) else _traced(function, known)
    if len(program.outputs) != len(wrt):
        raise UsageError(
            f"{program.name} returns {len(program.outputs)} values for the gradients by {', '.join(wrt)}",
            remedy="Return one gradient for each of them, in this order.",
        )
    program = indices.program(program)
    own = {tensor.name for tensor in program.definitions}
    if clash := own & known.keys():
        raise UsageError(f"{program.name} gives another meaning to {', '.join(sorted(clash))}")

    def same(node: Term) -> Term | None:
        if isinstance(node, Entry) and node.tensor.name in known:
            return Entry(known[node.tensor.name][0], node.args)
        return None

    definitions = tuple(replace(d, body=transform(d.body, same)) for d in program.definitions.values())
    values = {
        name: replace(value, body=transform(value.body, same))
        for name, value in zip(wrt, program.outputs.values(), strict=True)
    }
    for name, value in values.items():
        dims, wanted = tuple(var.dim for var in value.vars), backward.program.inputs[name].dims
        if dims != wanted:
            raise UsageError(f"the gradient by {name} has the shape {wanted}, {program.name} returns {dims}")
    return Claim(values, definitions, None if isinstance(function, Program) else function)


def _traced(function: Function, known: Mapping[str, tuple[Tensor, tuple[Axis, ...]]]) -> Program:
    from symres.trace import trace

    parameters = list(inspect.signature(function).parameters)
    if unknown := [name for name in parameters if name not in known]:
        raise UsageError(
            f"{function.__name__} speaks of {', '.join(unknown)}", remedy=f"Known here are {', '.join(known)}."
        )
    return trace(function, shapes=", ".join(f"{name}: {shape_text(known[name][1])}" for name in parameters))


def shape_text(axes: tuple[Axis, ...]) -> str:
    """A shape as :func:`symres.trace` reads it."""
    return " ".join("*".join(repr(dim) for dim in axis) or "1" for axis in axes)


def reference(claim: Claim, backward: Backward) -> Function | None:
    """The claim as a function of the upstream gradients and the inputs, for the numerical cross-check."""
    if claim.function is None:
        return None
    function, program = claim.function, backward.program
    parameters = list(inspect.signature(function).parameters)

    def gradients(*upstream: Any, **inputs: Any) -> Any:
        run = evaluate(program, inputs, sizes_of(program, inputs))
        values = dict(zip((tensor.name for tensor in backward.upstream.values()), upstream, strict=True)) | inputs
        for tensor, definition in program.definitions.items():
            shape = tuple(run.length(axis) for axis in definition.axes)
            values[tensor.name] = np.asarray(run.arrays[tensor.name]).reshape(shape)
        return function(*(values[name] for name in parameters))

    return gradients
