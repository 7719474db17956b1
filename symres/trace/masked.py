"""Selections by a boolean mask: ``x[m]`` has a length that depends on data, but what is done with it need not.

A selection is kept as the full array with its mask. Elementwise operations with numbers and with selections by the
same mask, sums over all of it, and assignment back under the same mask are exact; anything else is refused.
"""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Term, add, mul
from symres.trace import writing
from symres.trace.array import Array, as_array
from symres.trace.elementwise import UFUNC_NAMES, Selected, broadcast, check_kind, fit
from symres.trace.registry import call
from symres.trace.tidy import addends, complement, factors


class Masked(Selected):
    """The entries of ``array`` where ``mask`` holds."""

    __array_priority__ = 2000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Array, mask: Array) -> None:
        axes, names, (body, _) = broadcast([array, mask])
        self.array = Array.result(axes, names, body, array.kind)
        self.mask = mask

    def apply(self, ufunc: str, *operands: Any) -> Masked:
        """An elementwise function of selections by one mask and of numbers."""
        full = [_full(operand, self) for operand in operands]
        return Masked(call(ufunc, *full), self.mask)

    def __neg__(self) -> Masked:
        return self.apply("negative", self)

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """The sum of all selected entries."""
        return call("sum", call("multiply", self.array, self.mask), *args, **kwargs)

    def mean(self) -> Any:
        """The mean of all selected entries."""
        return call("true_divide", self.sum(), self.size)

    @property
    def size(self) -> Any:
        """The number of selected entries, which depends on the mask."""
        ones = call("ones_like", self.array)
        return call("sum", call("multiply", ones, self.mask))

    def copy(self) -> Masked:
        """The same selection."""
        return Masked(self.array, self.mask)

    def astype(self, *args: Any, **kwargs: Any) -> Masked:
        """The selection of another kind."""
        return Masked(call("astype", self.array, *args, **kwargs), self.mask)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.__name__ not in UFUNC_NAMES:
            raise Unsupported(f"np.{ufunc.__name__}.{method} of a selection by a mask")
        return self.apply(ufunc.__name__, *inputs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unsupported(f".{name} of a selection by a mask: its shape depends on data")

    def __len__(self) -> int:
        raise Unsupported("len() of a selection by a mask: it depends on data")

    def __iter__(self) -> Any:
        raise Unsupported("a selection by a mask is run through: its length depends on data")

    def __abs__(self) -> Masked:
        return self.apply("absolute", self)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Unsupported("an assignment into a selection by a mask, which is a copy in NumPy")

    def __getitem__(self, key: Any) -> Any:
        raise Unsupported("an index into a selection by a mask: its shape depends on data")


def _full(operand: Any, like: Masked) -> Any:
    if isinstance(operand, Masked):
        if not same_mask(operand.mask, like.mask):
            raise Unsupported("selections by different masks are combined")
        return operand.array
    if as_array(operand).axes:
        raise Unsupported("a selection by a mask is combined with an array: its shape depends on data")
    return operand


_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "pow": "power"}
_COMPARED = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}


def _operators() -> None:
    """Give selections the operators that act entry by entry."""
    for short, ufunc in (_BINARY | _COMPARED).items():
        setattr(Masked, f"__{short}__", lambda self, other, ufunc=ufunc: self.apply(ufunc, self, other))
    for short, ufunc in _BINARY.items():
        setattr(Masked, f"__r{short}__", lambda self, other, ufunc=ufunc: self.apply(ufunc, other, self))


_operators()


def same_mask(left: Array, right: Array) -> bool:
    """Whether two masks are the same for their form."""
    if len(left.axes) != len(right.axes):
        return False
    axes, _, (one, other) = broadcast([left, right])
    return one is other and left.axes == right.axes == axes


def masked_assign(view: Array, mask: Array, value: Any) -> None:
    """``view[mask] = value``: a number, an array that fits the unmasked axes, or a selection by the same mask."""
    if isinstance(value, Masked):
        if not same_mask(value.mask, mask):
            raise Unsupported("a selection by one mask is assigned under another")
        content = value.array
    else:
        content = as_array(value)
        covered = sum(bool(axis) for axis in mask.axes)
        trailing = len(view.axes) - max((k + 1 for k, axis in enumerate(mask.axes) if axis), default=0)
        if covered and len(content.axes) > trailing and any(content.axes):
            raise Unsupported("an array is assigned under a mask: its length depends on data")
    check_kind(view, content)
    old = Array(view.buffer, view.axes, view.vars, view.index)
    axes, names, bodies = broadcast([old, mask, content])
    kept, chosen = bodies[0], bodies[1]
    body = add(without(kept, chosen), mul(chosen, bodies[2]))
    writing.write(view.buffer, *fit(view, Array.result(axes, names, body, view.kind)))


def without(body: Term, mask: Term) -> Term:
    """The body where the mask is 0, and 0 elsewhere."""
    away = complement(mask)
    return add(
        *(part if away in factors(part) else mul(part, away) for part in addends(body) if mask not in factors(part))
    )
