"""What an arithmetic must offer to the evaluation, and the three that need no file of their own.

* :class:`Integers`: indices, sizes and brackets;
* :class:`Exact`: rational numbers, for counterexamples;
* :class:`Dual`: pairs ``value + tangent t`` with ``t² = 0`` over another arithmetic; so the tangent of a result is its
  derivative in the direction of the tangents of the inputs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from symres.judge.faults import NotRational, Undefined
from symres.judge.functions import DERIVATIVES

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """The operations on numbers of one kind. Each may raise :class:`Undefined` for a value that does not exist."""

    def number(self, value: Fraction | int) -> V:
        """A rational number."""

    def add(self, a: V, b: V) -> V:
        """The sum."""

    def mul(self, a: V, b: V) -> V:
        """The product."""

    def power(self, a: V, exponent: Fraction) -> V:
        """A rational power; roots are the positive ones, of positive numbers."""

    def argmax(self, values: Sequence[V]) -> int:
        """The position of the largest value."""

    def primitive(self, name: str, a: V) -> V:
        """One of the functions that the others are made of: exp, log, sin, cos, arctan, erf, step, eq0."""

    def pi(self) -> V:
        """The circle number."""


LARGEST_INTEGER = 1 << 4096


class Integers:
    """Integers, and fractions on the way to integers; no larger than an index or a size can reasonably become."""

    def number(self, value: Fraction | int) -> Fraction | int:
        return value.numerator if value.denominator == 1 else value

    def add(self, a: Fraction | int, b: Fraction | int) -> Fraction | int:
        return a + b

    def mul(self, a: Fraction | int, b: Fraction | int) -> Fraction | int:
        result = a * b
        if max(abs(result.numerator), result.denominator) > LARGEST_INTEGER:
            raise Undefined("an integer is too large")
        return result

    def power(self, a: Fraction | int, exponent: Fraction) -> Fraction | int:
        if a == 0 and exponent < 0:
            raise Undefined("a division by zero")
        result: Fraction | int = 1
        for _ in range(abs(exponent.numerator)):
            result = self.mul(result, a)
        return result if exponent > 0 else Fraction(1) / result

    def argmax(self, values: Sequence[Fraction | int]) -> int:
        return max(range(len(values)), key=values.__getitem__)

    def primitive(self, name: str, a: Fraction | int) -> Fraction | int:
        raise NotRational(name)

    def pi(self) -> Fraction | int:
        raise NotRational("pi")


# Where these functions are rational at a rational number.
_RATIONAL_AT: dict[tuple[str, Fraction], int] = {
    ("exp", Fraction(0)): 1,
    ("log", Fraction(1)): 0,
    ("sin", Fraction(0)): 0,
    ("cos", Fraction(0)): 1,
    ("arctan", Fraction(0)): 0,
    ("erf", Fraction(0)): 0,
}


class Exact:
    """Rational numbers. A value that is not rational raises :class:`NotRational`."""

    def number(self, value: Fraction | int) -> Fraction:
        return Fraction(value)

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        return a + b

    def mul(self, a: Fraction, b: Fraction) -> Fraction:
        return a * b

    def power(self, a: Fraction, exponent: Fraction) -> Fraction:
        if a == 0 and exponent < 0:
            raise Undefined("a division by zero")
        degree = exponent.denominator
        if degree > 1:
            if a < 0:
                raise Undefined("a root of a negative number")
            a = Fraction(_exact_root(a.numerator, degree), _exact_root(a.denominator, degree))
        return a**exponent.numerator

    def argmax(self, values: Sequence[Fraction]) -> int:
        return max(range(len(values)), key=values.__getitem__)

    def primitive(self, name: str, a: Fraction) -> Fraction:
        if name == "step":
            return Fraction(a > 0)
        if name == "eq0":
            return Fraction(a == 0)
        if name == "log" and a <= 0:
            raise Undefined("a logarithm of a number that is not positive")
        if (name, a) not in _RATIONAL_AT:
            raise NotRational(f"{name}({a})")
        return Fraction(_RATIONAL_AT[name, a])

    def pi(self) -> Fraction:
        raise NotRational("pi")

    def constants(self, source: random.Random) -> dict[str, Fraction]:
        """π and infinity are not rational."""
        raise NotRational("pi")


def integer_root(value: int, degree: int) -> int:
    """The largest integer whose ``degree``-th power is at most ``value`` >= 0."""
    if degree == 2 or value < 2:
        return math.isqrt(value) if degree == 2 else value
    guess = 1 << -(-value.bit_length() // degree)
    while True:
        smaller = ((degree - 1) * guess + value // guess ** (degree - 1)) // degree
        if smaller >= guess:
            return guess
        guess = smaller


def _exact_root(value: int, degree: int) -> int:
    root = integer_root(value, degree)
    if root**degree != value:
        raise NotRational(f"the root of degree {degree} of {value}")
    return root


class Dual(Generic[V]):
    """``value + tangent t`` over another arithmetic; a tangent that is ``None`` is zero.

    Off the kinks: ``step`` and ``eq0`` have derivative 0, a maximum has that of the entry that attains it.
    """

    def __init__(self, base: Arithmetic[V]) -> None:
        self.base = base

    def lift(self, value: V) -> tuple[V, V | None]:
        """The constant."""
        return (value, None)

    def number(self, value: Fraction | int) -> tuple[V, V | None]:
        return (self.base.number(value), None)

    def add(self, a: tuple[V, V | None], b: tuple[V, V | None]) -> tuple[V, V | None]:
        return (self.base.add(a[0], b[0]), self._sum(a[1], b[1]))

    def mul(self, a: tuple[V, V | None], b: tuple[V, V | None]) -> tuple[V, V | None]:
        left = None if b[1] is None else self.base.mul(a[0], b[1])
        right = None if a[1] is None else self.base.mul(a[1], b[0])
        return (self.base.mul(a[0], b[0]), self._sum(left, right))

    def power(self, a: tuple[V, V | None], exponent: Fraction) -> tuple[V, V | None]:
        value, tangent = a
        if tangent is not None:
            slope = self.base.mul(self.base.number(exponent), self.base.power(value, exponent - 1))
            tangent = self.base.mul(slope, tangent)
        return (self.base.power(value, exponent), tangent)

    def argmax(self, values: Sequence[tuple[V, V | None]]) -> int:
        return self.base.argmax([value for value, _ in values])

    def primitive(self, name: str, a: tuple[V, V | None]) -> tuple[V, V | None]:
        value, tangent = a
        result = self.base.primitive(name, value)
        rule = DERIVATIVES[name]
        if tangent is None or rule is None:
            return (result, None)
        return (result, self.base.mul(rule(self.base, value, result), tangent))

    def pi(self) -> tuple[V, V | None]:
        return (self.base.pi(), None)

    def _sum(self, a: V | None, b: V | None) -> V | None:
        if a is None or b is None:
            return b if a is None else a
        return self.base.add(a, b)
