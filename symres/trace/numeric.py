"""The user's own code on numbers, by the conventions of the trace: what the trace is compared with."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from symres.trace.arguments import MISSING, collection
from symres.trace.guard import running
from symres.trace.state import kept, replace


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

    def adopt(self, instance: Any, arguments: Mapping[str, Any]) -> None:
        """Arrays of the constructor get the values of the symbols that stand for them."""
        for name, value in self.fixed.items():
            if name not in arguments and hasattr(instance, name):
                setattr(instance, name, value)
        given = {id(value): name for name, value in arguments.items()}
        self._named = {name: value for name, value in arguments.items() if self.is_array(value)}
        for one in list(kept(instance, given)):
            known = one.path in self.arrays and not one.gradient and id(one.value) not in given
            if known and isinstance(one.value, np.ndarray):
                self._named[one.path] = _copied(self.arrays[one.path])
                replace(instance, one.value, self._named[one.path])

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
