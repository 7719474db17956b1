"""Run a NumPy function on numbers and on symbols, and compare the traced value at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symres.kernel.terms import Num, Size, Tensor, Term
from symres.language.program import Axis
from symres.trace.array import Array, as_array
from symres.trace.modules import MODULES
from symres.trace.signals import Notes, recording
from tests.trace.definitions import Evaluator

SIZES = ({"N": 3, "D": 4, "H": 2, "M": 5}, {"N": 1, "D": 2, "H": 3, "M": 1}, {"N": 2, "D": 1, "H": 1, "M": 3})
STAND_IN: Any = MODULES["numpy"]


def parse(shape: str) -> tuple[tuple[Axis, ...], str, Term | None]:
    """``"N H*D 3 int M"``: axes, kind and bound."""
    words = shape.split()
    kind, bound = "real", None
    if "int" in words:
        kind, bound = "int", atom(words[-1])
        words = words[:-2]
    elif words and words[-1] in ("bool", "positive"):
        kind = words.pop()
    axes = tuple(() if word == "1" else tuple(map(atom, word.split("*"))) for word in words)
    return axes, kind, bound


def atom(word: str) -> Term:
    return Num(int(word)) if word.isdigit() else Size(word)


def number_of(term: Term, sizes: dict[str, int]) -> int:
    return int(Evaluator(sizes, {}).term(term))


def concrete(axes: Sequence[Axis], sizes: dict[str, int]) -> tuple[Axis, ...]:
    """The axes with numbers for the size symbols."""
    numbers = [[number_of(dim, sizes) for dim in axis] for axis in axes]
    return tuple(tuple(Num(n) for n in axis if n != 1) for axis in numbers)


def sample(rng: np.random.Generator, shape: tuple[int, ...], kind: str, bound: int) -> np.ndarray:
    if kind == "int":
        return rng.integers(0, bound, shape)
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.uniform(0.2, 2, shape) if kind == "positive" else rng.normal(size=shape)


def run_both(
    function: Callable[..., Any], shapes: dict[str, str], sizes: dict[str, int], symbolic: bool
) -> tuple[Any, Any, Evaluator, Notes]:
    """The function's results on numbers and on symbols; ``function`` takes ``np`` first."""
    rng = np.random.default_rng(7)
    arrays, symbols = {}, {}
    for name, text in shapes.items():
        axes, kind, bound = parse(text)
        limit = 1 if bound is None else number_of(bound, sizes)
        shape = tuple(int(np.prod([number_of(dim, sizes) for dim in axis], initial=1)) for axis in axes)
        arrays[name] = sample(rng, shape, kind, limit)
        if not symbolic:
            axes, bound = concrete(axes, sizes), Num(limit)
        dims = tuple(dim for axis in axes for dim in axis)
        symbols[name] = Array.symbol(Tensor(name, dims, kind, bound), axes)
    evaluator = Evaluator(sizes, arrays)
    expected = function(np, *(array.copy() for array in arrays.values()))
    with recording() as notes:
        found = function(STAND_IN, *symbols.values())
        # Values are read while the notes of this trace are in force.
        return expected, found, evaluator, notes


def compare(expected: Any, found: Any, evaluator: Evaluator) -> None:
    if isinstance(expected, (tuple, list)):
        assert len(expected) == len(found)
        for one, other in zip(expected, found, strict=True):
            compare(one, other, evaluator)
        return
    array = as_array(found)
    values = evaluator.value(array.value)
    assert values.shape == np.shape(expected), f"shape {values.shape}, NumPy has {np.shape(expected)}"
    np.testing.assert_allclose(values, np.asarray(expected, dtype=float), rtol=1e-9, atol=1e-9)
    kinds = {"b": "bool", "i": "int", "f": "float"}
    assert array.kind == kinds[np.asarray(expected).dtype.kind]


def agree(function: Callable[..., Any], shapes: dict[str, str], *, symbolic: bool = True, numeric: bool = True) -> None:
    """The traced value is NumPy's, for symbolic and for concrete sizes."""
    for sizes in SIZES:
        for as_symbols in [True] * symbolic + [False] * numeric:
            expected, found, evaluator, _ = run_both(function, shapes, sizes, as_symbols)
            compare(expected, found, evaluator)
