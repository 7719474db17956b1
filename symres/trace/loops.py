"""Loops over symbolic ranges: what is iterated over, and what stands for Python's ``range``, ``enumerate``, ``zip``."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Num, Term, mul, neg
from symres.language.program import Value
from symres.trace.array import Array, Buffer
from symres.trace.axes import length, variables
from symres.trace.indexing import integer_scalar
from symres.trace.indexterms import floor_quotient, nonnegative
from symres.trace.polynomials import index, same
from symres.trace.signals import NeedsConcreteSizes, notes
from symres.trace.sizes import integer, integer_term, is_integer_like


@dataclass
class Items:
    """A sequence whose length is symbolic; ``at`` gives the element at an index term."""

    count: Term
    at: Callable[[Term], Any]

    def __iter__(self) -> Iterator[Any]:
        raise NeedsConcreteSizes(f"a sequence of {self.count!r} elements is run through")

    def __len__(self) -> int:
        raise NeedsConcreteSizes(f"len() of a sequence of {self.count!r} elements")


class Range(Array):
    """``range`` with symbolic bounds: an array of integers when it is used as one, as in ``p[range(N), y]``."""

    __slots__ = ("count", "start", "stride")
    start: Term
    stride: Term
    count: Term

    @classmethod
    def of(cls, start: Term, stride: Term, count: Term) -> Range:
        """The integers ``start + stride·k`` for ``0 <= k < count``."""
        (k,) = variables((count,))
        value = Value(((count,),), (k,), index(start + mul(stride, k)))
        self = cls(Buffer(value, "int"), value.axes, value.vars, value.vars)
        self.start, self.stride, self.count = start, stride, count
        return self

    def item(self, k: Term) -> Any:
        """The k-th integer."""
        return integer(self.start + mul(self.stride, k))


def symbolic_range(*bounds: Any) -> Any:
    """``range``: Python's own, or a list where only the number of integers is known, or a :class:`Range`."""
    given = [integer_scalar(bound) for bound in bounds]
    if all(isinstance(bound, int) for bound in given):
        return builtins.range(*given)
    if not all(map(is_integer_like, given)) or not 1 <= len(given) <= 3:
        raise Unsupported("range() of something that is no integer")
    terms = [integer_term(bound) for bound in given]
    start, stop = (Num(0), terms[0]) if len(terms) == 1 else (terms[0], terms[1])
    stride = terms[2] if len(terms) == 3 else Num(1)
    if nonnegative(stride - 1):
        count = floor_quotient(index(stop - start + stride - 1), stride)
    elif nonnegative(-1 - stride):
        count = floor_quotient(index(start - stop - stride - 1), index(neg(stride)))
    else:
        raise NeedsConcreteSizes(f"the sign of the step {stride!r} of a range depends on the sizes")
    if isinstance(count, Num):
        return [integer(start + mul(stride, k)) for k in builtins.range(int(count.value))]
    if nonnegative(neg(count)):
        return []
    if not nonnegative(count):
        notes().fact(count, f"the range of {count!r} steps is not negative")
    return Range.of(start, stride, count)


def items_of(iterable: Any) -> Items | None:
    """The elements of something of symbolic length; ``None`` for what Python can run through."""
    if isinstance(iterable, Items):
        return iterable
    if isinstance(iterable, Range):
        return Items(iterable.count, iterable.item)
    if isinstance(iterable, Array) and iterable.axes:
        axis = iterable.axes[0]
        count = length(axis)
        if not isinstance(count, Num):
            return Items(count, lambda k: iterable[integer(k)])
    return None


def symbolic_enumerate(iterable: Any, start: int = 0) -> Any:
    """``enumerate``."""
    items = items_of(iterable)
    if items is None:
        return builtins.enumerate(iterable, start)
    return Items(items.count, lambda k: (integer(k + start), items.at(k)))


def symbolic_zip(*iterables: Any, strict: bool = False) -> Any:
    """``zip`` of sequences that have the same symbolic length, or of ordinary ones."""
    found = [items_of(iterable) for iterable in iterables]
    if all(items is None for items in found):
        return builtins.zip(*iterables, strict=strict)
    known = [items for items in found if items is not None]
    if len(known) < len(found) or any(not same(items.count, known[0].count) for items in known):
        raise NeedsConcreteSizes("zip() of sequences of different lengths")
    return Items(known[0].count, lambda k: tuple(items.at(k) for items in known))


def symbolic_reversed(iterable: Any) -> Any:
    """``reversed``."""
    if isinstance(iterable, Range):
        last = index(iterable.start + mul(iterable.stride, iterable.count - 1))
        return Range.of(last, index(neg(iterable.stride)), iterable.count)
    items = items_of(iterable)
    if items is None:
        return builtins.reversed(iterable)
    return Items(items.count, lambda k: items.at(index(items.count - 1 - k)))


LOOP_BUILTINS: dict[str, Any] = {
    "range": symbolic_range,
    "enumerate": symbolic_enumerate,
    "zip": symbolic_zip,
    "reversed": symbolic_reversed,
}
"""What the names of Python's iterators mean in traced code."""


class Stacked(Array):
    """A list of arrays of symbolic length, kept as the array that ``np.stack`` makes of it."""

    __slots__ = ()

    def _refused(self, other: Any) -> Any:
        raise NeedsConcreteSizes("a list of symbolic length is joined with another")

    __add__ = __radd__ = __iadd__ = __mul__ = __rmul__ = __imul__ = _refused

    @classmethod
    def of(cls, indices: tuple[Any, ...], element: Array) -> Stacked:
        """The elements for all values of the index variables, the first outermost."""
        value = element.value
        whole = Value((tuple(var.dim for var in indices), *value.axes), (*indices, *value.vars), value.body)
        return cls(Buffer(whole, element.kind), whole.axes, whole.vars, whole.vars)
