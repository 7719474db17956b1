"""Unknown functions: random polynomials, differentiated truly, so that a function and its derivatives are consistent.

The entries of all arguments are one list z. Entry o of the function is

    c_o + Σ_m a_om z_m + Σ_r u_or φ_r(Σ_m w_rm z_m),

three polynomials φ_r of degree 4 in one number each: every Jacobian comes about, and derivatives up to the fourth do
not vanish. The coefficients are drawn when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any, Generic, TypeVar

from symres.judge.arithmetic import Arithmetic

V = TypeVar("V")
W = TypeVar("W")
RIDGES, DEGREE = 3, 4


class Unknown(Generic[V]):
    """One unknown function.

    Args:
        arithmetic: the numbers of the coefficients.
        draw: the coefficient of a name, drawn at random.
        out: the axes of the result.
        arguments: the axes of each argument.
    """

    def __init__(
        self,
        arithmetic: Arithmetic[V],
        draw: Callable[[tuple[Any, ...]], V],
        out: tuple[int, ...],
        arguments: tuple[tuple[int, ...], ...],
    ) -> None:
        self.arithmetic, self.out, self.arguments = arithmetic, out, arguments
        self._draw = draw
        self._coefficients: dict[tuple[Any, ...], V] = {}
        self._points: dict[tuple[Any, ...], Point[Any]] = {}

    def coefficient(self, *key: Any) -> V:
        """The coefficient of that name, small where it stands before a power, so that numbers stay moderate."""
        found = self._coefficients.get(key)
        if found is None:
            found = self._draw(key)
            if key[0] == "phi":
                found = self.arithmetic.mul(found, self.arithmetic.number(Fraction(1, 16)))
            self._coefficients[key] = found
        return found

    def at(self, arithmetic: Arithmetic[W], lift: Callable[[V], W], z: tuple[W, ...]) -> Point[W]:
        """The function near a point; ``lift`` brings coefficients into the arithmetic of the point."""
        key = (arithmetic, *map(id, z))
        found = self._points.get(key)
        if found is None:
            found = self._points[key] = Point(arithmetic, lambda *name: lift(self.coefficient(*name)), z)
        return found


class Point(Generic[V]):
    """An unknown function at one point, in the arithmetic of the point."""

    def __init__(self, arithmetic: Arithmetic[V], coefficient: Callable[..., V], z: tuple[V, ...]) -> None:
        self.arithmetic, self.z = arithmetic, z
        self._constant = coefficient
        self.ridges: list[V] = [self._dot("w", r) for r in range(RIDGES)]
        self._slopes: dict[tuple[int, int], V] = {}

    def value(self, out: int, by: Sequence[int] = ()) -> V:
        """Entry ``out``, differentiated by the entries ``by`` of the arguments."""
        add, mul = self.arithmetic.add, self.arithmetic.mul
        parts: list[V] = []
        if not by:
            parts += [self._dot("a", out), self._constant("c", out)]
        elif len(by) == 1:
            parts.append(self._constant("a", out, by[0]))
        for r in range(RIDGES):
            factors = [self._constant("w", r, m) for m in by]
            parts.append(mul(self._constant("u", out, r), reduce(mul, factors, self._slope(r, len(by)))))
        return reduce(add, parts)

    def _dot(self, name: str, row: int) -> V:
        products = [self.arithmetic.mul(self._constant(name, row, m), z) for m, z in enumerate(self.z)]
        return reduce(self.arithmetic.add, products, self.arithmetic.number(0))

    def _slope(self, r: int, order: int) -> V:
        """The derivative of φ_r of that order."""
        found = self._slopes.get((r, order))
        if found is None:
            slope = self.arithmetic.number(0)
            for power in range(DEGREE, order - 1, -1):
                falling = 1
                for k in range(order):
                    falling *= power - k
                term = self.arithmetic.mul(self._constant("phi", r, power), self.arithmetic.number(falling))
                slope = self.arithmetic.add(self.arithmetic.mul(slope, self.ridges[r]), term)
            found = self._slopes[r, order] = slope
        return found
