"""The arguments of a traced call: symbolic arrays by their shapes, float defaults as symbols, the rest as it is."""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symres.errors import UsageError
from symres.kernel.terms import Num, Size, Tensor, Term, mul, neg, walk
from symres.language.program import Axis, Value
from symres.language.shapes import Shape
from symres.trace.array import Array, as_array
from symres.trace.signals import Refine
from symres.trace.sizes import integer

_NEW_SIZES = ("K", "E", "M", "P", "Q", "R", "S", "U", "V")


@dataclass(frozen=True)
class Sizes:
    """How the sizes that the user named read: concrete numbers, or products that the code assumes."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    products: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)

    def atoms(self, term: Term) -> tuple[Term, ...]:
        """The atomic sizes of which a size is the product."""
        if not isinstance(term, Size):
            return (term,)
        if term.name in self.numbers:
            return (Num(self.numbers[term.name]),)
        parts = self.products.get(term.name)
        return (term,) if parts is None else tuple(atom for part in parts for atom in self.atoms(part))

    def refined(self, request: Refine, used: Iterable[str]) -> Sizes:
        """The sizes with one more factorisation; a factor that the request leaves open gets a new name."""
        taken = {*used, *self.numbers, *self.products}
        taken |= {size.name for parts in self.products.values() for part in parts for size in walk(part)
                  if isinstance(size, Size)}  # fmt: skip
        fresh = itertools.chain(_NEW_SIZES, (f"K{k}" for k in itertools.count(2)))
        names = (name for name in fresh if name not in taken)
        parts = tuple(Size(next(names)) if factor is None else factor for factor in request.factors)
        return Sizes(self.numbers, {**self.products, request.size_name: parts})

    def assumptions(self) -> list[str]:
        """The factorisations in words."""
        said = []
        for name, parts in self.products.items():
            known = [part for part in parts if not (isinstance(part, Size) and part.name in _NEW_SIZES)]
            shown = "·".join(map(repr, parts))
            if len(known) == len(parts):
                said.append(f"{name} = {shown}")
            else:
                said += [f"{name} is divisible by {part!r} ({name} = {shown})" for part in known]
        return said


@dataclass
class Inputs:
    """The symbolic arrays made for one trace, by name, and how each argument gets its value."""

    shapes: Mapping[str, Shape]
    fixed: Mapping[str, Any]
    sizes: Sizes
    tensors: dict[str, Tensor] = field(default_factory=dict)
    axes: dict[str, tuple[Axis, ...]] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)

    def array(self, name: str, shape: Shape) -> Any:
        """The symbolic array of a name, or the symbolic integer; the same each time.

        Raises:
            UsageError: if the name is given two shapes.
        """
        if name in self.kept:
            return self.kept[name]
        shape = shape.read(self.sizes.atoms)
        if shape.kind == "size":
            self.kept[name] = integer(mul(*self.sizes.atoms(Size(name))))
            return self.kept[name]
        tensor = shape.tensor(name)
        self.tensors[name], self.axes[name] = tensor, shape.axes
        self.kept[name] = Array.symbol(tensor, shape.axes)
        return self.kept[name]

    def default(self, name: str, value: float) -> Array:
        """The symbol that stands for a float default, of the same sign."""
        if name in self.kept:
            known: Array = self.kept[name]
            return known
        tensor = Tensor(name, (), "positive" if value else "nonnegative")
        self.tensors[name], self.axes[name] = tensor, ()
        body = tensor() if value >= 0 else neg(tensor())
        made = self.kept[name] = Array.from_value(Value((), (), body), scalar=True)
        return made

    def given(self) -> dict[str, Shape]:
        """The shapes of all symbols, as they are now."""
        return {name: Shape(self.axes[name], tensor.kind, tensor.bound) for name, tensor in self.tensors.items()}

    def argument(self, parameter: inspect.Parameter) -> Any:
        """The value of a parameter: as fixed, by its shape, or its default; ``MISSING`` if there is none."""
        name = parameter.name
        if name in self.fixed:
            return fixed_value(self.fixed[name])
        if name in self.shapes:
            return self.array(name, self.shapes[name])
        default = parameter.default
        if isinstance(default, (float, np.floating)) and np.isfinite(default):
            return self.default(name, float(default))
        if default is parameter.empty:
            return self._container(name)
        return copy.deepcopy(default)

    def _container(self, name: str) -> Any:
        """A dict of arrays whose shapes are given as ``name.key``."""
        keys = [known for known in self.shapes if known.startswith(f"{name}.")]
        if not keys:
            return MISSING
        return Parameters({key.split(".", 1)[1]: self.array(key.split(".", 1)[1], self.shapes[key]) for key in keys})


class Parameters(dict[str, Any]):
    """Arrays by key, as an item or as an attribute."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)


MISSING: Any = object()
"""An argument that has no value."""


def fixed_value(value: Any) -> Any:
    """A copy of a value of ``--set``, with NumPy arrays made symbolic constants."""
    return as_array(value.copy()) if isinstance(value, np.ndarray) else copy.deepcopy(value)


def missing(name: str, function: str) -> UsageError:
    """The error for an argument about which nothing is known."""
    return UsageError(
        f"no shape is given for the argument {name!r} of {function}",
        remedy=f'Pass shapes="{name}: N D" for an array, "{name}: int" for a size, or a value with set.',
    )
