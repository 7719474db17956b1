"""Running a trace until it needs no other sizes: shapes are completed, factorisations are assumed where code asks."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import Size, walk
from symres.language.shapes import Shape, annotated_shape, parse_shapes
from symres.trace.arguments import Sizes
from symres.trace.guard import time_limit
from symres.trace.hints import keys_of
from symres.trace.infer import infer
from symres.trace.layers import Functions, Layer
from symres.trace.signals import NeedsConcreteSizes, Notes, Refine, ShapeMismatch, recording
from symres.trace.symbolic import SymbolicEnvironment

_MOST_RESTARTS = 40
Result = TypeVar("Result")
Once = Callable[[SymbolicEnvironment, Notes], Result]


def traced(
    layer: Functions,
    once: Once[Result],
    shapes: str | Mapping[str, str | Shape] | None,
    fixed: Mapping[str, Any] | None,
    numbers: Mapping[str, int] | None,
    timeout: float | None,
) -> Result:
    """Run ``once`` with symbols for the arguments; shapes that are missing are inferred first.

    Raises:
        UsageError: for a name that is no argument, and for an argument whose shape cannot be inferred.
        Unsupported: for code that cannot be traced.
    """
    values = dict(fixed or {})
    known = _in_collections(layer, parse_shapes(shapes), values)
    _check_names(layer, [*known, *values])
    with time_limit(timeout):
        missing = unknown(layer, known, values)
        if missing:

            def attempt(trial: Mapping[str, Shape], sizes: Sizes) -> tuple[Result, Sizes, Notes]:
                return attempted(layer, once, trial, values, sizes)

            known = infer(layer, attempt, known, missing)
        try:
            return attempted(layer, once, known, values, Sizes(dict(numbers or {})))[0]
        except NeedsConcreteSizes as reason:
            if missing:
                reason.shapes = ", ".join(f"{name}: {shape}" for name, shape in known.items())
            raise


def attempted(
    layer: Functions, once: Once[Result], shapes: Mapping[str, Shape], fixed: Mapping[str, Any], sizes: Sizes
) -> tuple[Result, Sizes, Notes]:
    """Run ``once`` with fresh symbols until no size has to be split, and no open one put equal to another, any more."""
    for _ in range(_MOST_RESTARTS):
        environment = SymbolicEnvironment(shapes, fixed, sizes)
        with recording(torch=_uses_torch(layer)) as notes:
            try:
                return once(environment, notes), sizes, notes
            except Refine as request:
                sizes = sizes.refined(request, _size_names(environment))
            except (ShapeMismatch, NeedsConcreteSizes) as problem:
                equated = sizes.equated(*problem.lengths) if problem.lengths else None
                if equated is None:
                    raise
                sizes = equated
    raise Unsupported("the shapes ask for ever more factors of the sizes")


def _size_names(environment: SymbolicEnvironment) -> list[str]:
    dims = [dim for tensor in environment.inputs.tensors.values() for dim in tensor.dims]
    named = [node.name for dim in dims for node in walk(dim) if isinstance(node, Size)]
    return named + [name for name, shape in environment.inputs.shapes.items() if shape.kind == "size"]


def _uses_torch(layer: Functions) -> bool:
    scope = getattr(layer.forward, "__globals__", {})
    return any(getattr(value, "__name__", "") == "torch" for value in scope.values())


# ---------------------------------------------------------------- the arguments


def unknown(layer: Functions, shapes: Mapping[str, Shape], fixed: Mapping[str, Any]) -> list[inspect.Parameter]:
    """The parameters that have no shape, no value, no annotation that gives one, and no default."""
    heads = {name.split(".")[0] for name in shapes} | set(fixed)
    return [
        parameter
        for parameter in layer.parameters()
        if parameter.name not in heads
        and parameter.default is parameter.empty
        and annotated_shape(parameter.annotation, parameter.name) is None
    ]


def _in_collections(layer: Functions, shapes: Mapping[str, Shape], fixed: Mapping[str, Any]) -> dict[str, Shape]:
    """Shapes of names that are no arguments belong to the one argument without a shape that is read by such keys."""
    names = [parameter.name for parameter in layer.parameters()]
    loose = [name for name in shapes if "." not in name and name not in names]
    lacking = unknown(layer, shapes, fixed)
    if len(lacking) != 1 or isinstance(layer, Layer) or not set(loose) & keys_of(layer.forward, lacking[0].name):
        return dict(shapes)
    return {f"{lacking[0].name}.{name}" if name in loose else name: shape for name, shape in shapes.items()}


def _check_names(layer: Functions, names: Sequence[str]) -> None:
    """Refuse a shape or a value for an argument that does not exist."""
    if isinstance(layer, Layer):
        return  # what a constructor makes has names of its own
    known = [parameter.name for parameter in layer.parameters()]
    if layer.backward is not None:
        known += [parameter.name for parameter in layer.backward_parameters()]
    for name in names:
        head = name.split(".")[0]
        if head not in known:
            near = difflib.get_close_matches(head, known, n=1)
            remedy = f"Did you mean {near[0]}?" if near else f"Its arguments are {', '.join(known)}."
            raise UsageError(f"{layer.name} has no argument {head!r}", remedy=remedy)
