"""Random terms over a few tensors, for property tests; their bound indices bear the names of free ones on purpose."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from symres.kernel.terms import Fun, Iverson, Maximum, Size, Tensor, Term, Var, add, delta, mul, power, sum_
from symres.language.functions import maximum
from symres.numeric.evaluate import Evaluation

N = Size("n")
x, y, w = Tensor("x", (N,)), Tensor("y", (N,)), Tensor("w", (N, N))
a, eps = Tensor("a"), Tensor("eps", (), "positive")
i, j = Var("i", N), Var("j", N)
TENSORS = (x, y, w, a, eps)


def evaluation(n: int = 3, seed: int = 0) -> Evaluation:
    """The tensors at random values."""
    rng = np.random.default_rng(seed)
    arrays = {"x": rng.normal(size=n), "y": rng.normal(size=n), "w": rng.normal(size=(n, n)), "a": 0.7, "eps": 0.3}
    return Evaluation(arrays, {"n": n}, {"f": np.sin, "f'": np.cos, "f''": lambda u: -np.sin(u)})


@st.composite
def terms(
    draw: st.DrawFn, bound: tuple[Var, ...] = (), depth: int = 4, unknown: bool = True, padded: bool = False
) -> Term:
    """A random term with the free indices i and j; ``padded`` allows reads out of range."""

    def index() -> Var:
        return draw(st.sampled_from([i, j, *bound]))

    def place() -> Term:
        return index() + draw(st.integers(-1, 1)) if padded and draw(st.booleans()) else index()

    def inner(*more: Var) -> Term:
        return draw(terms((*bound, *more), depth - 1, unknown, padded))

    def binder(make: object) -> Term:
        var = Var(draw(st.sampled_from("ij")), N)
        return make(var, inner(var))  # type: ignore[operator]

    leaves = {
        "number": lambda: add(draw(st.fractions(-2, 2, max_denominator=4))),
        "scalar": lambda: a(),
        "size": lambda: N,
        "x": lambda: x(place()),
        "y": lambda: y(place()),
        "w": lambda: w(place(), place()),
        "delta": lambda: delta(index(), place()),
        "bracket": lambda: Iverson(">=", index() - place()),
    }
    nodes = {
        "add": lambda: add(inner(), inner()),
        "mul": lambda: mul(inner(), inner()),
        "maximum": lambda: maximum(inner(), inner()),
        "square": lambda: inner() ** 2,
        "root": lambda: power(inner() ** 2 + eps(), Fraction(-1, 2)),
        "tanh": lambda: Fun("tanh", inner()),
        "sum": lambda: binder(sum_),
        "max": lambda: binder(Maximum),
    }
    if unknown:
        nodes["unknown"] = lambda: Fun("f'", inner())
    table = nodes if depth and draw(st.integers(0, 4)) else leaves
    return table[draw(st.sampled_from(sorted(table)))]()
