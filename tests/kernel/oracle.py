"""A reference reading of terms, straight from their definitions: exact rational numbers, one loop for each sum.

Transcendental functions are replaced by stand-ins that keep the laws the kernel may use: ``exp(u)`` is ``2 ** u`` for an
integer ``u`` (so ``exp(a + b) = exp(a) exp(b)``), unknown functions are tables filled at random.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

from symres.kernel.terms import (
    Add,
    Entry,
    Fun,
    Iverson,
    Maximum,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
)


class Point:
    """Sizes, and values of tensors and unknown functions made up when they are first asked for."""

    def __init__(self, sizes: dict[str, int], seed: int) -> None:
        self.sizes, self.random = sizes, random.Random(seed)
        self.entries: dict[tuple[Tensor, tuple[int, ...]], Fraction] = {}
        self.tables: dict[tuple[str, tuple[Fraction, ...]], Fraction] = {}

    def value(self, term: Term, env: dict[Var, int]) -> Fraction:
        match term:
            case Num():
                return term.value
            case Size():
                return Fraction(self.sizes[term.name])
            case Var():
                return Fraction(env[term])
            case Add():
                return sum((self.value(arg, env) for arg in term.args), Fraction(0))
            case Mul():
                result = Fraction(1)
                for arg in term.args:
                    result *= self.value(arg, env)
                return result
            case Pow():
                return self.value(term.base, env) ** int(term.exponent)
            case Sum() | Maximum():
                values = [
                    self.value(term.body, {**env, term.var: k}) for k in range(int(self.value(term.var.dim, env)))
                ]
                return max(values) if isinstance(term, Maximum) else sum(values, Fraction(0))
            case Iverson():
                arg = self.value(term.arg, env)
                return Fraction(arg == 0 if term.rel == "=" else arg >= 0)
            case Entry():
                return self.entry(term.tensor, tuple(int(self.value(arg, env)) for arg in term.args))
            case Fun(name="step"):
                return Fraction(self.value(term.args[0], env) > 0)
            case Fun(name="exp"):
                return Fraction(2) ** int(self.value(term.args[0], env))
            case Fun():
                args = tuple(self.value(arg, env) for arg in term.args)
                return self.tables.setdefault((term.name, args), Fraction(self.random.randint(-50, 50)))
        raise TypeError(f"no reading for {term!r}")

    def entry(self, tensor: Tensor, index: tuple[int, ...]) -> Fraction:
        lengths = [int(self.value(dim, {})) for dim in tensor.dims]
        if any(not 0 <= k < n for k, n in zip(index, lengths, strict=True)):
            return Fraction(0)
        if (tensor, index) not in self.entries:
            values = {
                "bool": lambda: self.random.randint(0, 1),
                "int": lambda: self.random.randrange(int(self.value(tensor.bound or Num(1), {}))),
                "positive": lambda: self.random.randint(1, 9),
            }
            self.entries[tensor, index] = Fraction(values.get(tensor.kind, lambda: self.random.choice(NONZERO))())
        return self.entries[tensor, index]


NONZERO = [k for k in range(-9, 10) if k]
SIZES = [{"N": n, "D": d} for n, d in ((1, 1), (2, 3), (3, 2), (1, 4), (3, 3))]


def agree(left: Term, right: Term, sizes: list[dict[str, int]] | None = None, points: int = 2) -> bool:
    """Whether two terms have the same value at every index, at several sizes and random points."""
    free = sorted(left.free | right.free, key=lambda var: var.uid)
    for place, chosen in enumerate(sizes or SIZES):
        for seed in range(points):
            point = Point(chosen, 1000 * place + seed)
            ranges = [range(int(point.value(var.dim, {}))) for var in free]
            for index in product(*ranges):
                env = dict(zip(free, index, strict=True))
                try:
                    if point.value(left, env) != point.value(right, env):
                        return False
                except ZeroDivisionError:
                    continue
    return True
