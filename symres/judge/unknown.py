"""Unknown functions: random ones, differentiated truly, so that a function and its derivatives are consistent.

The entries of all arguments are one list z. Entry o of the function is

    c_o + Σ_m a_om z_m + Σ_r u_or φ_r(b_r + Σ_m w_rm z_m),

with three functions φ_r of one number: every Jacobian comes about. They are polynomials of degree 4 where the arithmetic
has no more, so that derivatives up to the fourth do not vanish. With balls they are sines: a stack of polynomials would
soon have values so large that what is added to them is lost in their error. Coefficients are drawn when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import perm
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
        sines: whether the φ_r are sines.
    """

    def __init__(
        self,
        arithmetic: Arithmetic[V],
        draw: Callable[[tuple[Any, ...]], V],
        out: tuple[int, ...],
        arguments: tuple[tuple[int, ...], ...],
        *,
        sines: bool,
    ) -> None:
        self.arithmetic, self.out, self.arguments, self.sines = arithmetic, out, arguments, sines
        self._draw = draw
        self._coefficients: dict[tuple[Any, ...], V] = {}
        self._points: dict[tuple[Any, ...], Point[Any]] = {}

    def coefficient(self, *key: Any) -> V:
        """The coefficient of that name."""
        found = self._coefficients.get(key)
        if found is None:
            found = self._coefficients[key] = self._draw(key)
        return found

    def at(self, arithmetic: Arithmetic[W], lift: Callable[[V], W], z: tuple[W, ...]) -> Point[W]:
        """The function near a point; ``lift`` brings coefficients into the arithmetic of the point."""
        key = (arithmetic, *map(id, z))
        found = self._points.get(key)
        if found is None:
            found = self._points[key] = Point(arithmetic, lambda *name: lift(self.coefficient(*name)), z, self.sines)
        return found


class Point(Generic[V]):
    """An unknown function at one point, in the arithmetic of the point."""

    def __init__(self, arithmetic: Arithmetic[V], coefficient: Callable[..., V], z: tuple[V, ...], sines: bool) -> None:
        self.arithmetic, self.z = arithmetic, z
        self._constant, self._order = coefficient, self._sine if sines else self._polynomial
        self._inner = [arithmetic.add(coefficient("b", r), self._dot("w", r)) for r in range(RIDGES)]
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
            found = self._slopes[r, order] = self._order(r, order)
        return found

    def _polynomial(self, r: int, order: int) -> V:
        """Σ_p f_p s^p, differentiated: Σ_p f_p p!/(p - order)! s^(p - order), by Horner's rule."""
        value = self.arithmetic.number(0)
        for power in range(DEGREE, order - 1, -1):
            falling = self.arithmetic.number(perm(power, order))
            term = self.arithmetic.mul(self._constant("f", r, power), falling)
            value = self.arithmetic.add(self.arithmetic.mul(value, self._inner[r]), term)
        return value

    def _sine(self, r: int, order: int) -> V:
        """sin, cos, -sin, -cos, sin, …"""
        value = self.arithmetic.primitive("cos" if order % 2 else "sin", self._inner[r])
        return self.arithmetic.mul(self.arithmetic.number(-1 if order % 4 > 1 else 1), value)
