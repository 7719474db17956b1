"""Tracing: a NumPy function, or a forward and a backward function, run once on symbolic arrays.

What comes back is a :class:`~symres.language.program.Program`: the named intermediates in the order in which the code
made them, and the outputs. Where the code divides a size by another one, the trace starts again with an axis that is
the product of the two, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Entry, mul
from symres.language.program import Program, Value
from symres.language.shapes import Shape
from symres.trace.array import Array, as_array
from symres.trace.axes import length, regroup
from symres.trace.binding import Returned
from symres.trace.driver import traced
from symres.trace.gradnames import gradient_like
from symres.trace.layers import Functions, layer_of
from symres.trace.numeric import run_numpy
from symres.trace.passes import Passes, run_forward, run_passes
from symres.trace.polynomials import same
from symres.trace.signals import Notes
from symres.trace.symbolic import SymbolicEnvironment
from symres.trace.tidy import at
from symres.trace.traced import Traced

__all__ = ["Traced", "run_numpy", "trace", "trace_pair"]

# ---------------------------------------------------------------- one function


def trace(
    function: Callable[..., Any] | type | str,
    shapes: str | Mapping[str, str | Shape] | None = None,
    set: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    timeout: float | None = None,
) -> Program:
    """The function as index expressions.

    Args:
        function: a NumPy function, a class with ``forward``, or ``"FILE.py:NAME"``.
        shapes: ``"x: B D, gamma: D"``; where left out, annotations are read.
        set: values for arguments that are no arrays, or for scalars that are not to be symbols.
        sizes: numbers for some of the sizes; by default all stay symbols.
        timeout: seconds that the function may run.

    Raises:
        UsageError: if an argument has no shape and no value, or a name is unknown.
        Unsupported: for what tracing does not know, with the line of the source.
        NeedsConcreteSizes: if the code can be traced at concrete sizes only.
    """
    layer = layer_of(function)

    def once(environment: SymbolicEnvironment, notes: Notes) -> Program:
        _, result = run_forward(layer, environment)
        outputs = _outputs(result, layer, environment)
        return _program(layer, environment, notes, outputs)

    return traced(layer, once, shapes, set, sizes, timeout)


def _outputs(result: Any, layer: Functions, environment: SymbolicEnvironment) -> dict[str, Any]:
    """The arrays that a function returns, by name; what it keeps for a backward pass is no output."""
    returned = Returned.read(result, layer.labels())
    found: dict[str, Any] = {}
    for position, (item, label) in enumerate(zip(returned.items, returned.names, strict=True)):
        kept = label in environment.inputs.tensors and not gradient_like(label or "", environment.inputs.tensors)
        if isinstance(item, (Array, int, float)) and not (position and kept):
            name = label or ("y" if len(returned.items) == 1 else f"y{position + 1}")
            found[name if name not in found else f"{name}_{position + 1}"] = item
    if not found:
        raise Unsupported(f"{layer.name} returns no array")
    return found


# ---------------------------------------------------------------- forward and backward


def trace_pair(
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None = None,
    shapes: str | Mapping[str, str | Shape] | None = None,
    grads: Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    timeout: float | None = None,
) -> Traced:
    """A forward function, and a backward function on what it kept and on symbolic upstream gradients.

    Raises:
        UsageError: if the functions, shapes, values or ``grads`` do not fit together.
        Unsupported: for what tracing does not know, with the line of the source.
        NeedsConcreteSizes: if the code can be traced at concrete sizes only.
    """
    layer = layer_of(forward, backward)

    def once(environment: SymbolicEnvironment, notes: Notes) -> Traced:
        return _pair(layer, environment, notes, run_passes(layer, environment, grads))

    return traced(layer, once, shapes, set, sizes, timeout)


def _pair(layer: Functions, environment: SymbolicEnvironment, notes: Notes, passes: Passes) -> Traced:
    program = _program(layer, environment, notes, passes.outputs)
    claimed = {
        name: _in_axes_of(program, name, _value(as_array(result.value), name))
        for name, result in passes.claimed.items()
    }
    if passes.unit:
        (tensor,) = environment.gradients.values()
        claimed = {name: Value(one.axes, one.vars, mul(tensor(), one.body)) for name, one in claimed.items()}
    said = [*program.assumptions, *notes.kinks, *environment.said]
    return Traced(
        program,
        claimed,
        tuple(environment.gradients.values()),
        program.outputs,
        passes.how,
        said,
        ", ".join(f"{name}: {shape}" for name, shape in environment.inputs.given().items()),
        tuple(environment.differentiable()),
        environment.inputs.collections,
        environment.inputs.integers,
        tuple(notes.facts),
        tuple(notes.opaque),
    )


def _in_axes_of(program: Program, name: str, value: Value) -> Value:
    """A claimed gradient with its axes cut as those of its variable are, where the lengths agree."""
    axes = program.axes[name]
    if value.axes == axes or len(value.axes) != len(axes):
        return value
    if not all(same(length(one), length(other)) for one, other in zip(value.axes, axes, strict=True)):
        return value
    groups, reading = regroup(value.axes, value.vars, [dim for axis in axes for dim in axis])
    names = tuple(var for group in groups for var in group)
    if tuple(var.dim for var in names) != tuple(dim for axis in axes for dim in axis):
        return value
    return Value(axes, names, at(value.body, reading))


# ---------------------------------------------------------------- what both share


def _output_names(environment: SymbolicEnvironment, outputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs by names that mean nothing else: that of the intermediate which is returned, or a new one."""
    session, inputs = environment.session, environment.inputs
    found: dict[str, Array] = {}
    for name, array in outputs.items():
        body = array.value.body
        whole = isinstance(body, Entry) and body.args == array.value.vars
        if isinstance(body, Entry) and whole and body.tensor in session.definitions:
            name = body.tensor.name
        elif name in session.taken or name in found:
            name = session.unique("out" if name in inputs.tensors else name)
        found[name] = array
    return found


def _program(layer: Functions, environment: SymbolicEnvironment, notes: Notes, outputs: Mapping[str, Any]) -> Program:
    inputs = environment.inputs
    arrays = {name: as_array(value) for name, value in outputs.items()}
    drawn = {name: entry for name, entry in notes.opaque.items() if name not in environment.replaced}
    return Program(
        layer.name,
        {**inputs.tensors, **{name: tensor for name, (tensor, _) in drawn.items()}},
        {**inputs.axes, **{name: axes for name, (_, axes) in drawn.items()}},
        environment.session.definitions,
        {name: _value(array, name) for name, array in _output_names(environment, arrays).items()},
        [*inputs.sizes.assumptions(), *notes.assumptions],
    )


def _value(array: Array, name: str) -> Value:
    """The contents of a result.

    Raises:
        Unsupported: if it still depends on the index of a loop, which would be a fault of the summary.
    """
    value = array.value
    loose = value.body.free - frozenset(value.vars)
    if loose:
        raise Unsupported(f"{name} depends on the index {min(var.name for var in loose)} of a loop")
    return value
