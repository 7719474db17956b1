"""Symbolic integers: the lengths of axes and the indices of symbolic loops, as people's code uses them.

A :class:`Dim` behaves like an int in arithmetic, in comparisons that hold or fail for all sizes, in shapes and in
indices. What only a number can do (``range``, ``bool(N == M)``) raises :class:`NeedsConcreteSizes`. Lengths that are
numbers are plain ints throughout.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Num, Term, Var, power
from symres.trace.indexterms import is_integer, nonnegative
from symres.trace.polynomials import exact_quotient, index, same
from symres.trace.quotients import floor, quotient, remainder
from symres.trace.registry import call
from symres.trace.signals import NeedsConcreteSizes, notes


class Dim:
    """An integer given by an index term over sizes and loop indices."""

    __slots__ = ("term",)
    __array_priority__ = 500
    __array_ufunc__ = None
    term: Term

    def __init__(self, term: Term) -> None:
        self.term = term

    def __repr__(self) -> str:
        return repr(self.term)

    def __hash__(self) -> int:
        return hash(self.term)

    def __copy__(self) -> Dim:
        return self

    def __deepcopy__(self, memo: Any) -> Dim:
        return self

    # arithmetic: with integers it stays an integer, with anything else it is a number like 0-d arrays are

    def __add__(self, other: Any) -> Any:
        return _integer_operation("add", self, other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return _integer_operation("add", other, self, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return _integer_operation("subtract", self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return _integer_operation("subtract", other, self, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (list, tuple)):
            raise NeedsConcreteSizes(f"a list repeated {self!r} times")
        return _integer_operation("multiply", self, other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self.__mul__(other)

    def __floordiv__(self, other: Any) -> Any:
        return _integer_operation("floor_divide", self, other, quotient)

    def __rfloordiv__(self, other: Any) -> Any:
        return _integer_operation("floor_divide", other, self, quotient)

    def __mod__(self, other: Any) -> Any:
        return _integer_operation("remainder", self, other, remainder)

    def __rmod__(self, other: Any) -> Any:
        return _integer_operation("remainder", other, self, remainder)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        return call("true_divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return call("true_divide", other, self)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, Integral) and int(other) >= 0:
            return integer(index(power(self.term, int(other))))
        return call("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return call("power", other, self)

    def __lshift__(self, other: Any) -> Any:
        return self * 2**other

    def __rshift__(self, other: Any) -> Any:
        return self // 2**other

    def __and__(self, other: Any) -> Any:
        raise NeedsConcreteSizes(f"the binary digits of the size {self!r} are asked for")

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __and__

    def __neg__(self) -> Any:
        return integer(index(-self.term))

    def __pos__(self) -> Dim:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def conjugate(self) -> Dim:
        """The number itself."""
        return self

    def item(self) -> Dim:
        """The number itself, as NumPy's integers have it."""
        return self

    # comparisons

    def __eq__(self, other: object) -> Any:
        return _compared(self, other, "equal", _equal)

    def __ne__(self, other: object) -> Any:
        return _compared(self, other, "not_equal", lambda a, b: not _equal(a, b))

    def __lt__(self, other: Any) -> Any:
        return _compared(self, other, "less", lambda a, b: not _at_least(a, b))

    def __ge__(self, other: Any) -> Any:
        return _compared(self, other, "greater_equal", _at_least)

    def __gt__(self, other: Any) -> Any:
        return _compared(self, other, "greater", lambda a, b: not _at_least(b, a))

    def __le__(self, other: Any) -> Any:
        return _compared(self, other, "less_equal", lambda a, b: _at_least(b, a))

    def __bool__(self) -> bool:
        return not _equal(self.term, Num(0))

    # conversions that only a number allows

    def __index__(self) -> int:
        raise NeedsConcreteSizes(f"the size {self!r} is needed as a number")

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        raise NeedsConcreteSizes(f"the size {self!r} is needed as a number")


def integer(term: Term) -> Any:
    """The integer given by an index term: a plain int where it is a number, else a :class:`Dim`.

    Raises:
        Unsupported: if the term is no integer.
    """
    term = index(term)
    if isinstance(term, Num):
        if term.value.denominator != 1:
            raise Unsupported(f"{term.value} is used as an integer")
        return int(term.value)
    return Dim(term)


def integer_term(value: Any) -> Term:
    """The index term of an int, a NumPy integer, a :class:`Dim` or a 0-d integer array.

    Raises:
        Unsupported: for anything else.
    """
    if isinstance(value, Dim):
        return value.term
    if isinstance(value, Integral):
        return Num(int(value))
    term = getattr(value, "scalar_term", None)
    if term is None or not is_integer(term):
        raise Unsupported(f"{type(value).__name__} {value!r} is used as an integer")
    result: Term = term
    return result


def is_integer_like(value: Any) -> bool:
    """Whether the value is an integer known to Python or a symbolic one."""
    return isinstance(value, (Integral, Dim))


def truncated(value: Any) -> Any:
    """``int(value)``: of sizes it is the quotient without its fractional part, as ``//`` has it.

    Raises:
        Unsupported: for a number that depends on data.
    """
    if isinstance(value, Dim):
        return value
    term = getattr(value, "scalar_term", None)
    return int(value) if term is None else integer(floor(term))


def _integer_operation(ufunc: str, left: Any, right: Any, operation: Any) -> Any:
    if is_integer_like(left) and is_integer_like(right):
        return integer(operation(integer_term(left), integer_term(right)))
    return call(ufunc, left, right)


def _compared(left: Dim, right: Any, ufunc: str, decide: Any) -> Any:
    if is_integer_like(right):
        return decide(left.term, integer_term(right))
    if isinstance(right, float) and right.is_integer():
        return decide(left.term, Num(int(right)))
    if right is None or isinstance(right, (str, tuple, list, dict)):
        return ufunc == "not_equal"
    return call(ufunc, left, right)


def _equal(left: Term, right: Term) -> bool:
    if same(left, right):
        return True
    if nonnegative(left - right - 1) or nonnegative(right - left - 1):
        return False
    positive = all(not isinstance(part, Num) and nonnegative(part - 1) for part in (left, right))
    ratio = (exact_quotient(left, right) or exact_quotient(right, left)) if positive else None
    if ratio is not None:
        # A proper multiple, such as the number of scores beside the number of labels: equal for a factor of 1 only.
        notes().fact(index(ratio - 2), f"{ratio!r} is at least 2")
        return False
    question = NeedsConcreteSizes(f"whether {left!r} equals {right!r} depends on the sizes")
    question.lengths = left, right
    raise question


def _at_least(left: Term, right: Term) -> bool:
    if nonnegative(left - right):
        return True
    if nonnegative(right - left - 1):
        return False
    raise NeedsConcreteSizes(f"whether {left!r} is at least {right!r} depends on the sizes")


def loop_index(var: Var) -> Dim:
    """The integer that runs over a symbolic range: usable in indices, slices and arithmetic."""
    return Dim(var)
