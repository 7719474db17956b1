"""Random numbers: tensors that are unknown but fixed, and count as inputs of the function."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Tensor
from symres.trace.array import Array
from symres.trace.creation import axes_of
from symres.trace.kinds import astype
from symres.trace.registry import lookup, numpy_function
from symres.trace.signals import notes
from symres.trace.sizes import is_integer_like


def drawn(name: str, shape: Any, kind: str = "real") -> Array:
    """Random numbers: an unknown but fixed tensor, which counts as an input of the function."""
    axes = axes_of(shape)
    dims = tuple(dim for axis in axes for dim in axis)
    tensor = Tensor(f"{name}{len(notes().opaque) + 1}", dims, kind)
    notes().opaque[tensor.name] = (tensor, axes)
    notes().assume(f"the random numbers {tensor.name} are drawn once and then fixed")
    return Array.symbol(tensor, axes)


def _random(name: str, kind: str, sized: bool) -> None:
    def draw(*args: Any, size: Any = None, **others: Any) -> Array:
        shape = size if size is not None else args if not sized else ()
        if len(args) == 1 and not sized and not is_integer_like(args[0]):
            shape = args[0]
        return drawn("random", () if shape is None else shape, kind)

    numpy_function(f"random.{name}")(draw)


for _name, _kind, _sized in (
    ("rand", "nonnegative", False), ("randn", "real", False), ("random", "nonnegative", False),
    ("random_sample", "nonnegative", False), ("standard_normal", "real", False), ("uniform", "real", True),
    ("normal", "real", True),
):  # fmt: skip
    _random(_name, _kind, _sized)


@numpy_function("random.binomial")
def binomial(n: Any, p: Any, size: Any = None) -> Array:
    """One trial each: an unknown 0/1 mask."""
    if n != 1:
        raise Unsupported("np.random.binomial with more than one trial")
    mask = drawn("mask", () if size is None else size, "bool")
    return astype(mask, "int")


class Generator:
    """``np.random.default_rng()``: the same unknowns as the functions of ``np.random``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lookup(f"random.{name}")


@numpy_function("random.default_rng", "random.RandomState")
def generator(*_: Any) -> Generator:
    """A generator; its seed is without effect."""
    return Generator()


@numpy_function("random.seed")
def seed(*_: Any) -> None:
    """Without effect: random numbers are unknowns."""
