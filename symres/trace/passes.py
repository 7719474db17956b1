"""A forward and a backward pass run one after the other, on symbols or on numbers, by one set of conventions.

An :class:`Environment` says what the arguments are and how functions are run; the rest is the same for a trace and for
NumPy, so that the two can be compared.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from symres.errors import UsageError
from symres.trace.arguments import MISSING, missing
from symres.trace.binding import Returned, bind
from symres.trace.claims import Result, assign, kept_results, marks, results
from symres.trace.layers import Functions


class Environment(Protocol):
    """Symbols or numbers."""

    def translate(self, value: Any) -> Any:
        """A function or class as it is to be run."""

    def argument(self, parameter: inspect.Parameter) -> Any:
        """The value of a parameter, or ``MISSING``."""

    def upstream(self, name: str, output: Any) -> Any:
        """The gradient that arrives at an output."""

    def constructing(self) -> AbstractContextManager[None]:
        """What surrounds the constructor of a class: the values that it gives to parameters mean nothing."""

    def adopt(self, instance: Any, arguments: Mapping[str, Any]) -> None:
        """Make the arrays that a constructor made arguments of their own."""

    def differentiable(self) -> list[str]:
        """The arguments whose gradients may be asked for, in order."""

    def is_array(self, value: Any) -> bool:
        """Whether the value is an array of real numbers, or a number computed from arrays."""

    def named(self) -> Mapping[str, Any]:
        """The arrays among the arguments, by name, those included that a constructor made."""

    def running(self, name: str, values: Mapping[str, Any]) -> AbstractContextManager[None]:
        """What surrounds a run of the user's function of that name, which can reach the values."""


@dataclass
class Passes:
    """What went in and came out: outputs, upstream gradients by output, and the result claimed for each argument.

    ``unit`` says that the backward function takes no upstream gradient: its results belong to a gradient of 1.
    """

    arguments: dict[str, Any]
    outputs: dict[str, Any]
    upstream: dict[str, Any] = field(default_factory=dict)
    claimed: dict[str, Result] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)
    unit: bool = False


def run_passes(layer: Functions, environment: Environment, grads: Sequence[str] | None = None) -> Passes:
    """Run both passes.

    Raises:
        UsageError: where the functions, the arguments and ``grads`` do not fit together.
    """
    arguments, result = run_forward(layer, environment)
    if layer.backward is None:
        return _self_contained(layer, environment, arguments, result, grads)
    parameters = layer.backward_parameters()
    returned = Returned.read(result, layer.labels())
    known = {**arguments, **_extra(parameters, arguments, environment)}
    bound = bind(returned, parameters, known, environment.is_array, layer.backward_name)
    upstream = {out: environment.upstream(parameter, bound.outputs[out]) for out, parameter in bound.upstream.items()}
    names = {id(value): name for name, value in environment.named().items()}
    # The backward function may overwrite what the forward one returned; the outputs are what they were before that.
    outputs = {name: copy.copy(value) for name, value in bound.outputs.items()}
    before = marks(layer.state(), names, environment.is_array)
    values = {**bound.values, **{bound.upstream[out]: value for out, value in upstream.items()}}
    with environment.running(layer.backward_name, {**environment.named(), **values, "": layer.state()}):
        given = layer.run_backward(environment, values)
    found = results(given, layer.backward_labels(), environment.is_array)
    found += kept_results(layer.state(), names, before, environment.is_array)
    taken = list(bound.upstream.values())
    claimed = assign(found, environment.differentiable(), grads, taken, layer.backward_name)
    passes = Passes(arguments, outputs, upstream, claimed, bound.how, unit=not bound.upstream)
    if passes.unit:
        _add_unit(passes, environment, layer.backward_name)
    return passes


def run_forward(layer: Functions, environment: Environment) -> tuple[dict[str, Any], Any]:
    """The arguments and what the forward pass returns.

    Raises:
        UsageError: for an argument about which nothing is known.
    """
    arguments: dict[str, Any] = {}
    for parameter in layer.parameters():
        value = environment.argument(parameter)
        if value is MISSING:
            raise missing(parameter.name, layer.name)
        arguments[parameter.name] = value
    with environment.running(layer.name, arguments):
        return arguments, layer.run_forward(environment, arguments)


def _extra(
    parameters: Sequence[inspect.Parameter], arguments: Mapping[str, Any], environment: Environment
) -> dict[str, Any]:
    """Values for parameters of the backward function that the forward one does not have: given ones and defaults."""
    found = {
        parameter.name: environment.argument(parameter) for parameter in parameters if parameter.name not in arguments
    }
    return {name: value for name, value in found.items() if value is not MISSING}


def _self_contained(
    layer: Functions, environment: Environment, arguments: dict[str, Any], result: Any, grads: Sequence[str] | None
) -> Passes:
    """A function that returns a loss together with its gradients."""
    labels = layer.labels()
    if not isinstance(result, (tuple, list)) or len(result) < 2:
        raise UsageError(f"{layer.name} has no backward function", remedy="Name it after the forward function.")
    name = labels[0] if isinstance(labels, tuple) and isinstance(labels[0], str) else "loss"
    rest = labels[1:] if isinstance(labels, tuple) else None
    found = results(tuple(result[1:]), rest, environment.is_array)
    claimed = assign(found, environment.differentiable(), grads, (), layer.name)
    passes = Passes(arguments, {name: result[0]}, {}, claimed, {}, unit=True)
    _add_unit(passes, environment, layer.name)
    return passes


def _add_unit(passes: Passes, environment: Environment, name: str) -> None:
    for out, value in passes.outputs.items():
        if getattr(value, "ndim", 0):
            raise UsageError(
                f"{name} takes no upstream gradient, but {out} is an array",
                remedy="The backward function takes the gradient at the output as its first argument.",
            )
        passes.upstream[out] = environment.upstream(f"d{out}", value)
