"""Real numbers with a rigorous bound on their error: balls.

A ball ``(mantissa ± radius) · 2^exponent`` stands for some real number in it. The operations return a ball that
contains the result for every choice of numbers in their arguments; a mantissa is rounded to the precision and the error
enters the radius. Numbers with few binary digits stay exact, with radius 0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from symres.judge import elementary
from symres.judge.arithmetic import integer_root
from symres.judge.faults import Undecided, Undefined

# what Ball(...) does, without its check of the arguments: half of the time of an addition
new = tuple.__new__
FEW = 1 << 64
UNDERFLOW = 1 << 20
"""A number of magnitude below 2^-UNDERFLOW becomes a ball around 0; one above 2^UNDERFLOW is not computed with."""


class Ball(NamedTuple):
    """The real numbers from (mantissa - radius) 2^exponent to (mantissa + radius) 2^exponent."""

    mantissa: int
    exponent: int
    radius: int = 0

    def __str__(self) -> str:
        return f"between -2^{self.magnitude} and 2^{self.magnitude}" if self.contains_zero else self.decimal(15)

    @property
    def is_zero(self) -> bool:
        """Whether it is the number 0, exactly."""
        return self.mantissa == 0 and self.radius == 0

    @property
    def contains_zero(self) -> bool:
        """Whether 0 is in it."""
        return abs(self.mantissa) <= self.radius

    @property
    def midpoint(self) -> Fraction:
        """Its middle."""
        return Fraction(self.mantissa) * Fraction(2) ** self.exponent

    @property
    def error(self) -> Fraction:
        """Its radius."""
        return Fraction(self.radius) * Fraction(2) ** self.exponent

    @property
    def magnitude(self) -> int:
        """An exponent m with |x| < 2^m for every x in it, m at most one too large; very small for the number 0."""
        size = abs(self.mantissa) + self.radius
        return size.bit_length() + self.exponent if size else -(1 << 62)

    def decimal(self, digits: int) -> str:
        """The number to so many significant decimal digits, all of them sure, as in ``-1.2345e-7`` or ``0.25``.

        Raises:
            Undecided: if the ball is too wide for that many digits.
        """
        middle = self.midpoint
        if self.is_zero:
            return "0"
        if self.contains_zero:
            raise Undecided("the ball contains 0")
        place = 0
        while abs(middle) >= Fraction(10) ** (place + 1):
            place += 1
        while abs(middle) < Fraction(10) ** place:
            place -= 1
        unit = Fraction(10) ** (place - digits + 1)
        if self.error > unit / 2:
            raise Undecided(f"the ball has no {digits} sure digits")
        text = str(round(abs(middle) / unit))
        place += len(text) - digits
        sign = "-" if middle < 0 else ""
        if -5 < place < 0:
            return (sign + "0." + "0" * (-place - 1) + text).rstrip("0")
        head, tail = (text[0], text[1:]) if not 0 <= place < digits else (text[: place + 1], text[place + 1 :])
        tail = tail.rstrip("0")
        return sign + head + ("." + tail if tail else "") + ("" if 0 <= place < digits else f"e{place}")


class Balls:
    """The arithmetic of balls with so many binary digits.

    Random numbers are smaller by the factor ``4^-shrink``, and all are positive if ``positive``: some functions have
    values only there.
    """

    sines = True

    def __init__(self, bits: int, *, shrink: int = 0, positive: bool = False) -> None:
        self.bits, self.shrink, self.positive = bits, shrink, positive

    def number(self, value: Fraction | int) -> Ball:
        if value.denominator & (value.denominator - 1) == 0:
            return self._round(value.numerator, 1 - value.denominator.bit_length(), 0)
        shift = self.bits + max(0, value.denominator.bit_length() - abs(value.numerator).bit_length()) + 2
        return self._round((value.numerator << shift) // value.denominator, -shift, 1)

    def add(self, a: Ball, b: Ball) -> Ball:
        if a.is_zero or b.is_zero:
            return b if a.is_zero else a
        if a.exponent < b.exponent:
            a, b = b, a
        shift = a.exponent - b.exponent
        if shift > 4 * self.bits + (abs(b.mantissa) + b.radius).bit_length():
            # b is below a unit of a shifted by 2 bits: it becomes part of the error
            return self._round(a.mantissa << 2, a.exponent - 2, (a.radius << 2) + 1)
        return self._round((a.mantissa << shift) + b.mantissa, b.exponent, (a.radius << shift) + b.radius)

    def mul(self, a: Ball, b: Ball) -> Ball:
        radius = 0
        if a.radius or b.radius:
            radius = abs(a.mantissa) * b.radius + abs(b.mantissa) * a.radius + a.radius * b.radius
        return self._round(a.mantissa * b.mantissa, a.exponent + b.exponent, radius)

    def power(self, a: Ball, exponent: Fraction) -> Ball:
        """A rational power.

        Raises:
            Undefined: for a negative power of 0 or a root of a negative number.
            Undecided: if the ball contains such a number.
        """
        if exponent.denominator > 1 and not (a.is_zero and exponent > 0):
            a = self._root(a, exponent.denominator)
        if exponent < 0:
            a = self._inverse(a)
        result, n = Ball(1, 0), abs(exponent.numerator)
        while n:
            if n & 1:
                result = self.mul(result, a)
            n >>= 1
            if n:
                a = self.mul(a, a)
        return result

    def sign(self, a: Ball) -> int:
        """-1, 0 or 1.

        Raises:
            Undecided: if the ball contains 0 and other numbers.
        """
        if a.contains_zero and not a.is_zero:
            raise Undecided("a sign cannot be told")
        return (a.mantissa > 0) - (a.mantissa < 0)

    def argmax(self, values: Sequence[Ball]) -> int:
        best = max(range(len(values)), key=lambda k: values[k].midpoint)
        for value in values:
            if value is not values[best] and self.sign(self.add(values[best], self._negative(value))) < 0:
                raise Undecided("a maximum cannot be told")
        return best

    def primitive(self, name: str, a: Ball) -> Ball:
        if name in ("step", "eq0"):
            sign = self.sign(a)
            return Ball(int(sign > 0 if name == "step" else sign == 0), 0)
        return self._round(*elementary.FUNCTIONS[name](a.mantissa, a.exponent, a.radius, self.bits))

    def pi(self) -> Ball:
        return self._round(elementary.pi(self.bits + 8), -self.bits - 8, 2)

    def draw(self, source: random.Random, kind: str) -> Ball:
        """A random dyadic number with 40 binary digits, ``positive`` or of either sign.

        Its magnitude is 1/4 to 2, and for one ``real`` number in six 4 to 32, so that sums have either sign.
        """
        value, exponent = source.randrange(1 << 37, 1 << 40) | 1, -39
        if kind == "coefficient":
            return Ball(value if source.random() < 0.5 else -value, exponent)
        if kind == "real" and not self.positive:
            value = value if source.random() < 0.5 else -value
            exponent = -35 if source.random() < 1 / 6 else -39
        return Ball(value, exponent - 2 * self.shrink)

    def constants(self, source: random.Random) -> dict[str, Ball]:
        """π, and an ``infinity`` so large that exp of minus it is 0 within the error, but not too large for sums."""
        return {"pi": self.pi(), "infinity": self.number(source.randrange(1 << 40, 1 << 41))}

    def _negative(self, a: Ball) -> Ball:
        return Ball(-a.mantissa, a.exponent, a.radius)

    def _inverse(self, a: Ball) -> Ball:
        size = abs(a.mantissa)
        if a.contains_zero:
            raise Undefined("a division by zero") if a.is_zero else Undecided("a division by what may be zero")
        if a.radius == 0 and size & (size - 1) == 0:
            shift = size.bit_length() - 1
            return Ball(1 if a.mantissa > 0 else -1, -a.exponent - shift)
        shift = self.bits + size.bit_length() + 2
        # 1/(m ± r) - 1/m is at most r/(m (m - r))
        radius = 1 + (-(-(a.radius << shift) // (size * (size - a.radius))) if a.radius else 0)
        return self._round((1 << shift) // a.mantissa, -shift - a.exponent, radius)

    def _root(self, a: Ball, degree: int) -> Ball:
        low, high = a.mantissa - a.radius, a.mantissa + a.radius
        if low <= 0:
            raise Undefined("a root of a negative number") if high < 0 or a.is_zero else Undecided("a root near 0")
        shift = max(0, degree * (self.bits + 8) - low.bit_length())
        shift += (a.exponent - shift) % degree
        low = integer_root(low << shift, degree)
        if a.radius == 0 and low**degree == a.mantissa << shift:
            return self._round(low, (a.exponent - shift) // degree, 0)
        high = integer_root(high << shift, degree) + 1
        middle = (low + high) >> 1
        return self._round(middle, (a.exponent - shift) // degree, high - middle)

    def _round(self, mantissa: int, exponent: int, radius: int) -> Ball:
        if mantissa.bit_length() <= self.bits and radius < FEW and abs(exponent) < UNDERFLOW:
            return new(Ball, (mantissa, exponent, radius))
        excess = max(mantissa.bit_length(), radius.bit_length()) - self.bits
        if excess > 0:
            if radius == 0 and mantissa & ((1 << excess) - 1) == 0:
                return Ball(mantissa >> excess, exponent + excess)
            mantissa, exponent, radius = mantissa >> excess, exponent + excess, (radius >> excess) + 2
        if exponent > UNDERFLOW:
            raise Undecided("a number is too large")
        if exponent < -UNDERFLOW and (mantissa or radius):
            ball = Ball(mantissa, exponent, radius)
            return ball if ball.magnitude > -UNDERFLOW else Ball(0, -UNDERFLOW, 1)
        return Ball(mantissa, exponent, radius)
