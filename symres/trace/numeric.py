"""The user's own code on numbers, by the conventions of the trace: what the trace is compared with."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from symres.trace.arguments import MISSING
from symres.trace.claims import attributes
from symres.trace.guard import running


@dataclass
class Numbers:
    """Outputs and claimed gradients as NumPy arrays."""

    outputs: dict[str, Any]
    claimed: dict[str, Any]


class NumericEnvironment:
    """Arguments are numbers, functions are the user's own.

    ``arrays`` are the values of the symbolic inputs, in their NumPy shapes; ``gradients`` those of the upstream
    gradients in their order; ``sizes`` the values of integer arguments that stand for sizes; ``fixed`` those of the others.
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        gradients: Sequence[Any],
        sizes: Mapping[str, int],
        fixed: Mapping[str, Any],
        order: Sequence[str],
    ) -> None:
        self.arrays, self.sizes, self.fixed, self.order = arrays, sizes, fixed, order
        self._gradients = iter(gradients)

    def translate(self, value: Any) -> Any:
        """The function itself."""
        return value

    def argument(self, parameter: inspect.Parameter) -> Any:
        """A copy of a value."""
        name = parameter.name
        if name in self.fixed:
            return copy.deepcopy(self.fixed[name])
        if name in self.arrays:
            return _copied(self.arrays[name])
        if name in self.sizes:
            return self.sizes[name]
        if parameter.default is parameter.empty:
            return MISSING
        return copy.deepcopy(parameter.default)

    def upstream(self, name: str, output: Any) -> Any:
        """The next of the given upstream gradients."""
        return _copied(next(self._gradients))

    def adopt(self, instance: Any, arguments: Mapping[str, Any]) -> None:
        """Arrays of the constructor get the values of the symbols that stand for them."""
        for prefix, name, value in list(attributes(instance)):
            if f"{prefix}{name}" in self.arrays and isinstance(value, np.ndarray):
                value[...] = self.arrays[f"{prefix}{name}"]

    def differentiable(self) -> list[str]:
        """The arguments in the order of the trace."""
        return list(self.order)

    def is_array(self, value: Any) -> bool:
        """Whether the value is an array or a number of NumPy's."""
        return isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__")

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Floating-point warnings are not shown."""
        with running(name, (), []), np.errstate(all="ignore"):
            yield


def _copied(value: Any) -> Any:
    array = np.array(value)
    return array if array.ndim else array[()]
