"""Tracing: a NumPy function, or a forward and a backward function, run once on symbolic arrays.

What comes back is a :class:`~symres.language.program.Program`: the named intermediates in the order in which the code
made them, and the outputs. Where the code divides a size by another one, the trace starts again with an axis that is
the product of the two, and says so.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import Size, Tensor, mul, walk
from symres.language.program import Axis, Program, Value
from symres.language.shapes import Shape, annotated_shape, parse_shapes
from symres.trace.arguments import MISSING, Inputs, Sizes
from symres.trace.array import Array, as_array
from symres.trace.axes import length, regroup
from symres.trace.claims import attributes
from symres.trace.gradnames import gradient_like
from symres.trace.guard import running, time_limit
from symres.trace.layers import Functions, layer_of
from symres.trace.numeric import Numbers, NumericEnvironment
from symres.trace.passes import Passes, run_forward, run_passes
from symres.trace.polynomials import same
from symres.trace.session import Session
from symres.trace.signals import Notes, Refine, recording
from symres.trace.tidy import at
from symres.trace.world import World

_MOST_RESTARTS = 12
_Result = TypeVar("_Result")


@dataclass
class Traced:
    """A pair of traced functions.

    ``program`` has the definitions of both passes; ``claimed`` is what the backward function gives for each argument,
    in its own shape; ``upstream`` the gradients at the outputs, in their order; ``conventions`` what each parameter of the
    backward function was given; ``notes`` what else a reader should know; ``differentiable`` the arguments whose
    gradients may be asked for.
    """

    program: Program
    claimed: dict[str, Value]
    upstream: tuple[Tensor, ...]
    outputs: dict[str, Value]
    conventions: dict[str, str]
    notes: list[str]
    shapes: str
    differentiable: tuple[str, ...] = ()


class SymbolicEnvironment:
    """Arguments are symbols, functions are compiled again for them."""

    def __init__(self, shapes: Mapping[str, Shape], fixed: Mapping[str, Any], sizes: Sizes) -> None:
        self.inputs = Inputs(shapes, fixed, sizes)
        self.session = Session()
        self.session.taken |= set(shapes)
        self.world = World(self.session)
        self.printed: list[str] = []
        self.gradients: dict[str, Tensor] = {}

    def translate(self, value: Any) -> Any:
        """The function compiled again."""
        new = self.world.translate(value)
        self.session.roots = self.world.scopes()
        return new

    def argument(self, parameter: inspect.Parameter) -> Any:
        """A symbol, or the value it has."""
        name = parameter.name
        if name not in self.inputs.shapes and name not in self.inputs.fixed:
            shape = annotated_shape(parameter.annotation, name)
            if shape is not None:
                return self.inputs.array(name, shape)
        value = self.inputs.argument(parameter)
        if value is not MISSING:
            self.session.taken.add(name)
        return value

    def upstream(self, name: str, output: Any) -> Array:
        """A tensor of the output's axes."""
        array = as_array(output)
        tensor = Tensor(self.session.unique(name), tuple(dim for axis in array.axes for dim in axis))
        self.gradients[tensor.name] = tensor
        self.inputs.kept[tensor.name] = symbol = Array.symbol(tensor, array.axes)
        return symbol

    def adopt(self, instance: Any, arguments: Mapping[str, Any]) -> None:
        """Arrays that the constructor made become inputs: a proof for all of their values, not for ones and zeros."""
        given = {id(value) for value in arguments.values()}
        found = [(prefix, name, value) for prefix, name, value in attributes(instance) if _real(value)]
        names = [f"{prefix}{name}" for prefix, name, value in found]
        for prefix, name, value in found:
            full = f"{prefix}{name}"
            if id(value) in given or gradient_like(name, [*names, *arguments]) or full in self.inputs.kept:
                continue
            array = as_array(value)
            kind = "nonnegative" if "var" in name else "real"
            shape = self.inputs.shapes.get(full, Shape(array.axes, kind))
            symbol = self.inputs.array(full, shape)
            self.session.taken.add(full)
            _replace(instance, value, symbol)

    def differentiable(self) -> list[str]:
        """The real arrays among the arguments, and scalars that were given as such."""
        tensors = self.inputs.tensors
        return [
            name
            for name, tensor in tensors.items()
            if tensor.kind in ("real", "positive", "nonnegative") and (tensor.dims or name in self.inputs.shapes)
        ]

    def is_array(self, value: Any) -> bool:
        """Whether the value is a symbolic array of real numbers."""
        return isinstance(value, Array)

    def running(self, name: str) -> AbstractContextManager[None]:
        """Errors get their places."""
        return running(name, self.world.files, self.printed)


def _real(value: Any) -> bool:
    if isinstance(value, Array):
        return value.kind == "float" and bool(value.axes)
    return getattr(getattr(value, "dtype", None), "kind", "") == "f" and bool(getattr(value, "shape", ()))


def _replace(instance: Any, old: Any, new: Any) -> None:
    """Put an array in the place of another one, in an object and the dicts and layers that it holds."""
    for container in (vars(instance), *(one for one in vars(instance).values() if isinstance(one, (dict, list)))):
        pairs = list(container.items() if isinstance(container, dict) else enumerate(container))
        for key, value in pairs:
            if value is old:
                container[key] = new
            elif hasattr(value, "__dict__") and not isinstance(value, (Array, type)):
                _replace(value, old, new)


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

    return _traced(layer, once, shapes, set, sizes, timeout)


def _outputs(result: Any, layer: Functions, environment: SymbolicEnvironment) -> dict[str, Any]:
    """The arrays that a function returns, by name; what it keeps for a backward pass is no output."""
    from symres.trace.binding import Returned

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

    return _traced(layer, once, shapes, set, sizes, timeout)


def _pair(layer: Functions, environment: SymbolicEnvironment, notes: Notes, passes: Passes) -> Traced:
    program = _program(layer, environment, notes, passes.outputs)
    claimed = {
        name: _in_axes_of(program, name, _value(as_array(result.value), name))
        for name, result in passes.claimed.items()
    }
    if passes.unit:
        (tensor,) = environment.gradients.values()
        claimed = {name: Value(one.axes, one.vars, mul(tensor(), one.body)) for name, one in claimed.items()}
    said = [*program.assumptions, *notes.kinks, *environment.printed]
    return Traced(
        program,
        claimed,
        tuple(environment.gradients.values()),
        program.outputs,
        passes.how,
        said,
        ", ".join(f"{name}: {shape}" for name, shape in environment.inputs.given().items()),
        tuple(environment.differentiable()),
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


def run_numpy(
    traced: Traced,
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None,
    arrays: Mapping[str, Any],
    sizes: Mapping[str, int],
    options: Mapping[str, Any],
) -> Numbers:
    """The user's own code on numbers: outputs and claimed gradients by the conventions of the trace.

    Args:
        traced: the trace of the two functions.
        forward: the function, class or place that was traced.
        backward: likewise.
        arrays: values of the symbolic inputs and upstream gradients, one axis for each atomic size; they are copied.
        sizes: the values of the symbolic sizes.
        options: ``set`` and ``grads`` of the trace.

    Raises:
        CodeRaised: for an exception of the code.
    """
    program = traced.program
    inputs = {name: _numpy_shape(np.asarray(arrays[name]), program.axes[name]) for name in program.inputs}
    layer = layer_of(forward, backward)
    gradients = [
        _numpy_shape(np.asarray(arrays[tensor.name]), value.axes)
        for tensor, value in zip(traced.upstream, program.outputs.values(), strict=True)
    ]
    environment = NumericEnvironment(inputs, gradients, sizes, options.get("set") or {}, traced.differentiable)
    with time_limit(options.get("timeout")):
        passes = run_passes(layer, environment, options.get("grads"))
    claimed = {name: np.asarray(result.value, dtype=float) for name, result in passes.claimed.items()}
    if passes.unit:
        (factor,) = passes.upstream.values()
        claimed = {name: factor * value for name, value in claimed.items()}
    return Numbers({name: np.asarray(out, dtype=float) for name, out in passes.outputs.items()}, claimed)


def _numpy_shape(array: Any, axes: Sequence[Axis]) -> Any:
    """An array with one axis for each atomic size, in its NumPy shape."""
    lengths = iter(array.shape)
    return array.reshape([math.prod(next(lengths) for _ in axis) for axis in axes])


# ---------------------------------------------------------------- what both share


def _traced(
    layer: Functions,
    once: Callable[[SymbolicEnvironment, Notes], _Result],
    shapes: str | Mapping[str, str | Shape] | None,
    fixed: Mapping[str, Any] | None,
    numbers: Mapping[str, int] | None,
    timeout: float | None,
) -> _Result:
    """Run ``once`` with fresh symbols until no size has to be split any more."""
    known = parse_shapes(shapes)
    _check_names(layer, [*known, *(fixed or {})])
    sizes = Sizes(dict(numbers or {}))
    with time_limit(timeout):
        for _ in range(_MOST_RESTARTS):
            environment = SymbolicEnvironment(known, dict(fixed or {}), sizes)
            with recording(torch=_uses_torch(layer)) as notes:
                try:
                    return once(environment, notes)
                except Refine as request:
                    sizes = sizes.refined(request, _names(environment.inputs.tensors.values()))
    raise Unsupported("the shapes ask for ever more factors of the sizes")


def _names(tensors: Any) -> list[str]:
    dims = [dim for tensor in tensors for dim in tensor.dims]
    return [node.name for dim in dims for node in walk(dim) if isinstance(node, Size)]


def _uses_torch(layer: Functions) -> bool:
    scope = getattr(layer.forward, "__globals__", {})
    return any(getattr(value, "__name__", "") == "torch" for value in scope.values())


def _check_names(layer: Functions, names: Sequence[str]) -> None:
    """Refuse a shape or a value for an argument that does not exist."""
    import difflib

    known = [parameter.name for parameter in layer.parameters()]
    if layer.backward is not None:
        known += [parameter.name for parameter in layer.backward_parameters()]
    if layer.state() is not None or hasattr(layer, "cls"):
        return  # attributes that a constructor makes have shapes too
    for name in names:
        head = name.split(".")[0]
        if head not in known:
            near = difflib.get_close_matches(head, known, n=1)
            remedy = f"Did you mean {near[0]}?" if near else f"Its arguments are {', '.join(known)}."
            raise UsageError(f"{layer.name} has no argument {head!r}", remedy=remedy)


def _program(layer: Functions, environment: SymbolicEnvironment, notes: Notes, outputs: Mapping[str, Any]) -> Program:
    inputs = environment.inputs
    opaque = {name: tensor for name, (tensor, _) in notes.opaque.items()}
    axes = {name: axes for name, (_, axes) in notes.opaque.items()}
    return Program(
        layer.name,
        {**inputs.tensors, **opaque},
        {**inputs.axes, **axes},
        environment.session.definitions,
        {name: _value(as_array(value), name) for name, value in outputs.items()},
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
