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

from symres.calculus.reverse import Backward, tensors
from symres.derivation.indices import Indices
from symres.errors import UsageError
from symres.kernel.terms import Entry, Tensor, Term, transform
from symres.language.program import Axis, Definition, Program, Value
from symres.language.shapes import Shape
from symres.numeric.evaluate import evaluate
from symres.numeric.sizes import sizes_of

Function = Callable[..., Any]


@dataclass(frozen=True)
class Claim:
    """The results of a claim function, one for each input differentiated by, and the values that it names itself."""

    values: Mapping[str, Value]
    definitions: tuple[Definition, ...]
    function: Function | None = None


Known = Mapping[str, tuple[Tensor, tuple[Axis, ...]]]


def known_values(program: Program, upstream: Mapping[str, Tensor] | None = None) -> Known:
    """What a claim may speak of, by name: inputs, named values, outputs or upstream gradients, each with its axes."""
    found = {name: (tensor, program.axes[name]) for name, tensor in program.inputs.items()}
    found |= {tensor.name: (tensor, definition.axes) for tensor, definition in program.definitions.items()}
    if upstream is None:
        outputs = {name: Tensor(name, tuple(var.dim for var in value.vars)) for name, value in program.outputs.items()}
        return found | {name: (tensor, program.outputs[name].axes) for name, tensor in outputs.items()}
    return found | {tensor.name: (tensor, program.outputs[name].axes) for name, tensor in upstream.items()}


def spoken(function: Function | Program, known: Known, indices: Indices) -> Program:
    """A function of named values as a program in which they are the ones of the derivation.

    Raises:
        UsageError: if a parameter is not known, or a name is given a second meaning.
    """
    program = indices.program(function if isinstance(function, Program) else _traced(function, known))
    own = {tensor.name for tensor in program.definitions}
    if clash := own & known.keys():
        raise UsageError(f"{program.name} gives another meaning to {', '.join(sorted(clash))}")

    def same(node: Term) -> Term | None:
        if isinstance(node, Entry) and node.tensor.name in known:
            return Entry(known[node.tensor.name][0], node.args)
        return None

    definitions = {tensor: replace(d, body=transform(d.body, same)) for tensor, d in program.definitions.items()}
    outputs = {name: replace(value, body=transform(value.body, same)) for name, value in program.outputs.items()}
    return _without_names_of_results(replace(program, definitions=definitions, outputs=outputs))


def _without_names_of_results(program: Program) -> Program:
    """``dx = …; return dx`` claims what stands on the right; the name dx is that of the gradient."""
    outputs, definitions = dict(program.outputs), dict(program.definitions)
    for name, value in program.outputs.items():
        own = value.body.tensor if isinstance(value.body, Entry) else None
        if own in definitions:
            outputs[name] = replace(value, body=definitions[own].at(value.body.children))
    terms = [value.body for value in outputs.values()]
    used = set[Tensor]()
    for tensor, definition in reversed(definitions.items()):
        if any(tensor in tensors(term) for term in terms):
            used.add(tensor)
            terms.append(definition.body)
    return replace(program, outputs=outputs, definitions={t: d for t, d in definitions.items() if t in used})


def claimed(function: Function | Program, backward: Backward, wrt: tuple[str, ...], indices: Indices) -> Claim:
    """Trace a claim about the gradients by ``wrt``, in this order.

    Raises:
        UsageError: if a parameter is no value of the program, or the results do not fit ``wrt``.
    """
    program = spoken(function, known_values(backward.program, backward.upstream), indices)
    if len(program.outputs) != len(wrt):
        raise UsageError(
            f"{program.name} returns {len(program.outputs)} values for the gradients by {', '.join(wrt)}",
            remedy="Return one gradient for each of them, in this order.",
        )
    values = dict(zip(wrt, program.outputs.values(), strict=True))
    for name, value in values.items():
        dims, wanted = tuple(var.dim for var in value.vars), backward.program.inputs[name].dims
        if dims != wanted:
            raise UsageError(f"the gradient by {name} has the shape {wanted}, {program.name} returns {dims}")
    return Claim(values, tuple(program.definitions.values()), None if isinstance(function, Program) else function)


def _traced(function: Function, known: Known) -> Program:
    from symres.trace.run import trace

    parameters = list(inspect.signature(function).parameters)
    if unknown := [name for name in parameters if name not in known]:
        raise UsageError(
            f"{function.__name__} speaks of {', '.join(unknown)}", remedy=f"Known here are {', '.join(known)}."
        )
    return trace(function, shapes={name: Shape(known[name][1], known[name][0].kind) for name in parameters})


def named_arrays(
    program: Program, inputs: Mapping[str, Any], functions: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The named values and outputs of a program at concrete inputs, in their NumPy shapes."""
    run = evaluate(program, inputs, sizes_of(program, inputs), functions)
    values = dict(inputs)
    for tensor, definition in program.definitions.items():
        shape = tuple(run.length(axis) for axis in definition.axes)
        values[tensor.name] = np.asarray(run.arrays[tensor.name]).reshape(shape)
    return values | {name: run.value(value) for name, value in program.outputs.items()}


def call(function: Function, values: Mapping[str, Any]) -> Any:
    """The function at named values."""
    return function(*(values[name] for name in inspect.signature(function).parameters))


def reference(claim: Claim, backward: Backward) -> Function | None:
    """The claim as a function of the upstream gradients and the inputs, for the numerical cross-check."""
    if claim.function is None:
        return None
    function = claim.function

    def gradients(*upstream: Any, **inputs: Any) -> Any:
        names = [tensor.name for tensor in backward.upstream.values()]
        return call(function, named_arrays(backward.program, inputs) | dict(zip(names, upstream, strict=True)))

    return gradients
