"""The arguments of a traced call: symbolic arrays by their shapes, float defaults as symbols, the rest as it is."""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symres.errors import UsageError
from symres.kernel.terms import ONE, ZERO, Num, Size, Tensor, Term, mul, neg, walk
from symres.language.program import Axis, Value
from symres.language.shapes import Shape
from symres.trace.array import Array, as_array
from symres.trace.axes import axis_of
from symres.trace.polynomials import exact_quotient
from symres.trace.signals import Refine
from symres.trace.sizes import integer

_NEW_SIZES = ("K", "E", "M", "P", "Q", "R", "S", "U", "V")


@dataclass(frozen=True)
class Sizes:
    """How the sizes read: as concrete numbers, as products that the code assumes, as others that they turned out to equal.

    ``open`` are the sizes of arguments whose shapes are being inferred.
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    products: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    equal: Mapping[str, tuple[Term, ...]] = field(default_factory=dict)
    open: frozenset[str] = frozenset()

    def atoms(self, term: Term) -> tuple[Term, ...]:
        """The atomic sizes of which a size is the product."""
        if not isinstance(term, Size):
            return (term,)
        parts = self.equal.get(term.name)
        if parts is None and term.name in self.numbers:
            return (Num(self.numbers[term.name]),)
        parts = parts or self.products.get(term.name)
        return (term,) if parts is None else tuple(atom for part in parts for atom in self.atoms(part))

    def refined(self, request: Refine, used: Iterable[str]) -> Sizes:
        """The sizes with one more factorisation; a factor that the request leaves open gets a new name."""
        taken = {*used, *self.numbers, *self.products, *self.equal}
        parts_known = (part for parts in (*self.products.values(), *self.equal.values()) for part in parts)
        taken |= {size.name for part in parts_known for size in walk(part) if isinstance(size, Size)}
        fresh = itertools.chain(_NEW_SIZES, (f"K{k}" for k in itertools.count(2)))
        names = (name for name in fresh if name not in taken)
        parts = tuple(Size(next(names)) if factor is None else factor for factor in request.factors)
        if request.size_name in self.open:
            new = {part.name for part, asked in zip(parts, request.factors, strict=True) if asked is None}  # type: ignore[attr-defined]
            return replace(self, equal={**self.equal, request.size_name: parts}, open=self.open | new)
        return replace(self, products={**self.products, request.size_name: parts})

    def equated(self, left: Term, right: Term) -> Sizes | None:
        """The sizes with one that is open put equal to another length; ``None`` if neither is open.

        Where open sizes have numbers, all different, a length stands for the size that has it.
        """
        if not self.open or ZERO in (left, right):
            return None
        holders = {Num(number): Size(name) for name, number in self.numbers.items() if name in self.open}
        left, right = holders.get(left, left), holders.get(right, right)  # type: ignore[call-overload]
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Size) and one.name in self.open and one not in walk(other) and other is not ONE:
                return replace(self, equal={**self.equal, one.name: axis_of(other)})
            spare = exact_quotient(one, other)
            if isinstance(spare, Size) and spare.name in self.open:
                return replace(self, equal={**self.equal, spare.name: (ONE,)})
        return None

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
    integers: dict[str, Term] = field(default_factory=dict)
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
            self.integers[name] = mul(*self.sizes.atoms(Size(name))) if shape.bound is None else shape.bound
            self.kept[name] = integer(self.integers[name])
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
        found = {name: Shape(self.axes[name], tensor.kind, tensor.bound) for name, tensor in self.tensors.items()}
        own = {name: None if term is Size(name) else term for name, term in self.integers.items()}
        return found | {name: Shape((), "size", term) for name, term in own.items()}

    def argument(self, parameter: inspect.Parameter) -> Any:
        """The value of a parameter: as fixed, by its shape, or its default; ``MISSING`` if there is none."""
        name = parameter.name
        if name in self.collections:
            arrays = {key: self.array(key, self.shapes[f"{name}.{key}"]) for key in self.collections[name]}
            return collection(fixed_value(self.fixed.get(name)), arrays)
        if name in self.fixed:
            return fixed_value(self.fixed[name])
        if name in self.shapes:
            return self.array(name, self.shapes[name])
        default = parameter.default
        if isinstance(default, (float, np.floating)) and np.isfinite(default):
            return self.default(name, float(default))
        if default is parameter.empty:
            return MISSING
        return copy.deepcopy(default)

    @property
    def collections(self) -> dict[str, list[str]]:
        """The dicts among the arguments, whose arrays have shapes as ``name.key``."""
        found: dict[str, list[str]] = {}
        for full in self.shapes:
            name, dot, key = full.partition(".")
            if dot:
                found.setdefault(name, []).append(key)
        return found


class Parameters(dict[str, Any]):
    """Arrays by key, as an item or as an attribute."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(name)


def collection(value: Any, arrays: Mapping[str, Any]) -> Any:
    """A dict with arrays entered, beside the values that it has already."""
    return Parameters({**(value if isinstance(value, dict) else {}), **arrays})


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
