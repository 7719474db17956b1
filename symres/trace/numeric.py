"""The user's own code on numbers, by the conventions of the trace: what the trace is compared with."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from symres.language.program import Axis
from symres.trace.arguments import MISSING, collection
from symres.trace.guard import running, time_limit
from symres.trace.layers import layer_of
from symres.trace.passes import run_passes
from symres.trace.state import input_name, kept, replace
from symres.trace.traced import Traced, at_sizes


@dataclass
class Numbers:
    """Outputs and claimed gradients as NumPy arrays."""

    outputs: dict[str, Any]
    claimed: dict[str, Any]


class NumericEnvironment:
    """Arguments are numbers, functions are the user's own.

    ``arrays`` are the values of the symbolic inputs, in their NumPy shapes; ``gradients`` those of the upstream
    gradients in their order; ``fixed`` those of the other arguments; ``order`` the arguments whose gradients may be
    asked for; ``collections`` the arrays in each dict among the arguments.
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        gradients: Sequence[Any],
        fixed: Mapping[str, Any],
        order: Sequence[str],
        collections: Mapping[str, Sequence[str]],
    ) -> None:
        self.arrays, self.fixed, self.order = arrays, fixed, order
        self.collections = collections
        self._gradients = iter(gradients)
        self._named: dict[str, Any] = {}

    def translate(self, value: Any) -> Any:
        """The function itself."""
        return value

    def argument(self, parameter: inspect.Parameter) -> Any:
        """A copy of a value."""
        name = parameter.name
        if name in self.collections:
            arrays = {key: _copied(self.arrays[key]) for key in self.collections[name]}
            return collection(copy.deepcopy(self.fixed.get(name)), arrays)
        if name in self.fixed:
            return copy.deepcopy(self.fixed[name])
        if name in self.arrays:
            return _copied(self.arrays[name])
        if parameter.default is parameter.empty:
            return MISSING
        return copy.deepcopy(parameter.default)

    def upstream(self, name: str, output: Any) -> Any:
        """The next of the given upstream gradients."""
        return _copied(next(self._gradients))

    def constructing(self) -> AbstractContextManager[None]:
        """Nothing to do."""
        return nullcontext()

    def adopt(self, instance: Any, arguments: Mapping[str, Any]) -> None:
        """Arrays of the constructor get the values of the symbols that stand for them."""
        for name, value in self.fixed.items():
            if name not in arguments and hasattr(instance, name):
                setattr(instance, name, value)
        given = {id(value): name for name, value in arguments.items()}
        self._named = {name: value for name, value in arguments.items() if self.is_array(value)}
        for one in list(kept(instance, given)):
            path = input_name(one, arguments)
            known = path in self.arrays and not one.gradient and id(one.value) not in given
            if known and isinstance(one.value, np.ndarray):
                self._named[path] = _copied(self.arrays[path])
                replace(instance, one.value, self._named[path])

    def named(self) -> Mapping[str, Any]:
        """The arrays of the object by name."""
        return self._named

    def differentiable(self) -> list[str]:
        """The arguments in the order of the trace."""
        return list(self.order)

    def is_array(self, value: Any) -> bool:
        """Whether the value is an array or a number of NumPy's."""
        return isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__")

    @contextmanager
    def running(self, name: str, values: Mapping[str, Any]) -> Iterator[None]:
        """Floating-point warnings are not shown."""
        with running(name, (), []), np.errstate(all="ignore"):
            yield


def _copied(value: Any) -> Any:
    array = np.array(value)
    return array if array.ndim else array[()]


_DRAWS = ("rand", "randn", "random", "random_sample", "standard_normal", "uniform", "normal", "binomial")


@contextmanager
def random_numbers(values: Sequence[Any]) -> Iterator[None]:
    """Let NumPy's functions draw the given arrays one after the other; where one is ``None``, numbers of their own."""
    waiting = iter(values)

    def instead(draw: Callable[..., Any]) -> Callable[..., Any]:
        def drawn(*args: Any, **kwargs: Any) -> Any:
            value = next(waiting, None)
            return draw(*args, **kwargs) if value is None else _copied(value)

        return drawn

    own = {name: getattr(np.random, name) for name in _DRAWS}
    try:
        for name, draw in own.items():
            setattr(np.random, name, instead(draw))
        yield
    finally:
        for name, draw in own.items():
            setattr(np.random, name, draw)


def run_numpy(
    pair: Traced,
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None,
    arrays: Mapping[str, Any],
    sizes: Mapping[str, int],
    options: Mapping[str, Any],
) -> Numbers:
    """The user's own code on numbers: outputs and claimed gradients by the conventions of the trace.

    Args:
        pair: the trace of the two functions.
        forward: the function, class or place that was traced.
        backward: likewise.
        arrays: values of the symbolic inputs and upstream gradients, one axis for each atomic size; they are copied.
        sizes: the values of the symbolic sizes.
        options: ``set`` and ``grads`` of the trace.

    Raises:
        CodeRaised: for an exception of the code.
    """
    program = pair.program
    inputs = {name: _numpy_shape(np.asarray(arrays[name]), program.axes[name]) for name in program.inputs}
    layer = layer_of(forward, backward)
    gradients = [
        _numpy_shape(np.asarray(arrays[tensor.name]), value.axes)
        for tensor, value in zip(pair.upstream, program.outputs.values(), strict=True)
    ]
    fixed = {name: at_sizes(term, sizes) for name, term in pair.integers.items()} | dict(options.get("set") or {})
    environment = NumericEnvironment(inputs, gradients, fixed, pair.differentiable, pair.collections)
    drawn = [inputs.get(name) for name in pair.drawn]
    with time_limit(options.get("timeout")), random_numbers(drawn):
        passes = run_passes(layer, environment, options.get("grads"))
    claimed = {name: np.asarray(result.value, dtype=float) for name, result in passes.claimed.items()}
    if passes.unit:
        (factor,) = passes.upstream.values()
        claimed = {name: factor * value for name, value in claimed.items()}
    outputs = zip(program.outputs, passes.outputs.values(), strict=True)
    return Numbers({name: np.asarray(out, dtype=float) for name, out in outputs}, claimed)


def _numpy_shape(array: Any, axes: Sequence[Axis]) -> Any:
    """An array with one axis for each atomic size, in its NumPy shape."""
    lengths = iter(array.shape)
    return array.reshape([math.prod(next(lengths) for _ in axis) for axis in axes])
