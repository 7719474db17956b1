"""What is traced: a function with its backward function, a class with both methods, or PyTorch's ``Function`` style."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

from symres.errors import UsageError
from symres.trace.returns import Labels, return_labels
from symres.trace.source import load

_FORWARD = ("forward", "__call__", "fprop", "call", "apply", "fwd")
_BACKWARD = ("backward", "backprop", "bprop", "grad", "backward_pass", "gradient", "bwd", "vjp")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
Environment = Any
Arguments = Mapping[str, Any]


def parameters_of(function: Any, skip: int = 0) -> list[inspect.Parameter]:
    """The parameters of a function that can be given by name, without the first few."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = [one for one in inspect.signature(function).parameters.values() if one.kind not in variadic]
    return found[skip:]


def call_by_name(function: Any, parameters: Sequence[inspect.Parameter], values: Arguments, *first: Any) -> Any:
    """Call a function with values for some of its parameters."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name not in values:
            continue
        if parameter.kind in _POSITIONAL and len(named) == 0 and len(positional) == parameters.index(parameter):
            positional.append(values[parameter.name])
        else:
            named[parameter.name] = values[parameter.name]
    return function(*first, *positional, **named)


@dataclass
class Functions:
    """Two functions; ``backward`` may be missing, when only the forward one is traced."""

    forward: Callable[..., Any]
    backward: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        """The name of the forward function."""
        return getattr(self.forward, "__name__", "function")

    @property
    def backward_name(self) -> str:
        """The name of the backward function."""
        return getattr(self.backward, "__name__", "backward")

    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of the forward pass."""
        return parameters_of(self.forward)

    def run_forward(self, environment: Environment, arguments: Arguments) -> Any:
        """What the forward pass returns."""
        return call_by_name(environment.translate(self.forward), self.parameters(), arguments)

    def labels(self) -> str | Labels | None:
        """The names in the forward function's return statement."""
        return return_labels(self.forward)

    def backward_parameters(self) -> list[inspect.Parameter]:
        """The parameters of the backward function."""
        return parameters_of(self.backward)

    def run_backward(self, environment: Environment, values: Arguments) -> Any:
        """What the backward function returns."""
        return call_by_name(environment.translate(self.backward), self.backward_parameters(), values)

    def backward_labels(self) -> str | Labels | None:
        """The names in the backward function's return statement."""
        return return_labels(self.backward)

    def state(self) -> Any:
        """The object that keeps values between the passes."""
        return None


@dataclass
class Layer(Functions):
    """A class that keeps its values on ``self``."""

    cls: type = object
    instance: Any = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.cls.__name__

    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of ``forward``, then those of the constructor."""
        own = parameters_of(self.forward, skip=1)
        known = {parameter.name for parameter in own}
        return own + [one for one in self._constructor() if one.name not in known]

    def _constructor(self) -> list[inspect.Parameter]:
        made = inspect.getattr_static(self.cls, "__init__")
        return [] if made is object.__init__ else parameters_of(made, skip=1)

    def run_forward(self, environment: Environment, arguments: Arguments) -> Any:
        """Make the object and call its ``forward``."""
        with environment.constructing():
            self.instance = call_by_name(environment.translate(self.cls), self._constructor(), arguments)
        environment.adopt(self.instance, arguments)
        method = getattr(self.instance, self.forward.__name__)
        return call_by_name(method, parameters_of(self.forward, skip=1), arguments)

    def backward_parameters(self) -> list[inspect.Parameter]:
        """The parameters of the method ``backward``."""
        return parameters_of(self.backward, skip=1)

    def run_backward(self, environment: Environment, values: Arguments) -> Any:
        """Call the method ``backward``."""
        method = getattr(self.instance, self.backward_name)
        return call_by_name(method, self.backward_parameters(), values)

    def state(self) -> Any:
        """The object."""
        return self.instance


@dataclass
class Made(Layer):
    """An object that was made already: its arrays become inputs of their own sizes."""

    original: Any = None

    def _constructor(self) -> list[inspect.Parameter]:
        return []

    def run_forward(self, environment: Environment, arguments: Arguments) -> Any:
        """Call ``forward`` of a copy of the object."""
        self.instance = copy.deepcopy(environment.translate(self.original))
        environment.adopt(self.instance, arguments)
        method = getattr(self.instance, self.forward.__name__)
        return call_by_name(method, parameters_of(self.forward, skip=1), arguments)


class Context(SimpleNamespace):
    """The ``ctx`` of PyTorch's ``autograd.Function``."""

    saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for the backward pass."""
        self.saved_tensors = tensors

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The older name of ``saved_tensors``."""
        return self.saved_tensors

    @property
    def needs_input_grad(self) -> Any:
        """Every gradient is wanted."""
        return _Always()

    def mark_non_differentiable(self, *_: Any) -> None:
        """Without effect."""

    def mark_dirty(self, *_: Any) -> None:
        """Without effect."""

    def set_materialize_grads(self, _: bool) -> None:
        """Without effect."""


class _Always:
    """True at every index."""

    def __getitem__(self, key: Any) -> bool:
        return True


@dataclass
class Static(Layer):
    """A class with static methods ``forward(ctx, …)`` and ``backward(ctx, …)``."""

    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of ``forward`` after ``ctx``."""
        return parameters_of(self.forward, skip=1)

    def run_forward(self, environment: Environment, arguments: Arguments) -> Any:
        """Call ``forward`` with a context of our own."""
        self.instance = Context()
        method = getattr(environment.translate(self.cls), self.forward.__name__)
        return call_by_name(method, self.parameters(), arguments, self.instance)

    def run_backward(self, environment: Environment, values: Arguments) -> Any:
        """Call ``backward``; its results stand in the order of the arguments of ``forward``."""
        method = getattr(environment.translate(self.cls), self.backward_name)
        found = call_by_name(method, self.backward_parameters(), values, self.instance)
        names = [parameter.name for parameter in self.parameters()]
        given = list(found) if isinstance(found, (tuple, list)) else [found]
        return {f"d_{name}": value for name, value in zip(names, given, strict=False)}

    def state(self) -> Any:
        """Gradients are returned only."""
        return None


def layer_of(forward: Any, backward: Any = None) -> Functions:
    """What two callables, a class, an instance's class or places ``FILE.py:NAME`` stand for.

    Raises:
        UsageError: if the backward function is missing, or something is no function.
    """
    forward = load(forward) if isinstance(forward, str) else forward
    backward = load(backward) if isinstance(backward, str) else backward
    custom = getattr(forward, "fwd", None), getattr(forward, "bwd", None)
    if backward is None and all(map(callable, custom)) and not isinstance(forward, type):
        return Functions(*custom)  # type: ignore[arg-type]
    if isinstance(forward, type):
        return _class(forward, backward)
    if isinstance(forward, MethodType) and not isinstance(forward.__self__, type):
        second = getattr(backward, "__func__", backward) or _method(type(forward.__self__), _BACKWARD)
        return Made(forward.__func__, second, type(forward.__self__), original=forward.__self__)
    if backward is None and not isinstance(forward, (type, FunctionType)) and _method(type(forward), _BACKWARD):
        first, second = _method(type(forward), _FORWARD), _method(type(forward), _BACKWARD)
        if first is not None:
            return Made(first, second, type(forward), original=forward)
    owner = _owner(forward)
    if owner is not None:
        return Layer(forward, backward, owner)
    if not callable(forward):
        raise UsageError(f"{forward!r} is no function")
    return Functions(forward, backward)


def _class(cls: type, backward: Any) -> Functions:
    first, second = _method(cls, _FORWARD), backward
    if first is None:
        raise UsageError(f"the class {cls.__name__} has no method forward", remedy="It may be named __call__.")
    if backward is None:
        second = _method(cls, _BACKWARD)
    parameters = list(inspect.signature(first).parameters)
    static = isinstance(inspect.getattr_static(cls, first.__name__), staticmethod)
    if static and parameters[:1] and parameters[0] in ("ctx", "self", "context"):
        return Static(first, second, cls)
    if static:
        return Functions(first, second)
    return Layer(first, second, cls)


def _method(cls: type, names: Sequence[str]) -> Callable[..., Any] | None:
    owned = {name for base in cls.__mro__ if base is not object for name in vars(base)}
    found = next((getattr(cls, name) for name in names if name in owned), None)
    return found if callable(found) else None


def _owner(function: Any) -> type | None:
    """The class of a method that was given as a plain function."""
    head, dot, _ = getattr(function, "__qualname__", "").rpartition(".")
    cls = getattr(function, "__globals__", {}).get(head) if dot else None
    return cls if isinstance(cls, type) and next(iter(inspect.signature(function).parameters), "") == "self" else None
