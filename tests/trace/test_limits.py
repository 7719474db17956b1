"""Masked scores: the exponential of −∞ under a mask is 0, for every spelling of the mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symres.kernel.terms import Fun, walk
from symres.language.constants import INFINITY
from tests.trace.agreement import SIZES, compare, run_both


def _causal_fill(np: Any, x: Any) -> Any:
    keep = np.tril(np.ones((x.shape[0], x.shape[0]), dtype=bool))
    return np.exp(np.where(keep, x, -np.inf))


def _added(np: Any, x: Any) -> Any:
    return np.exp(x + np.triu(np.full((x.shape[0], x.shape[0]), -np.inf), k=1))


def _added_number(np: Any, x: Any) -> Any:
    mask = np.triu(np.ones((x.shape[0], x.shape[0])), k=1)
    return np.exp((x + mask * -1e9) / 2.0)


def _complement(np: Any, x: Any) -> Any:
    mask = np.tril(np.ones_like(x))
    return np.exp(mask * x + (1.0 - mask) * -1e10)


def _assigned(np: Any, x: Any) -> Any:
    mask = np.triu(np.ones((x.shape[0], x.shape[0])), 1).astype(bool)
    x[mask] = -1e30
    return np.exp(x)


def _compared(np: Any, x: Any) -> Any:
    mask = np.tril(np.ones((x.shape[0], x.shape[0])))
    return np.exp(np.where(mask == 0, -1e9, x * 0.5))


@pytest.mark.parametrize("code", [_causal_fill, _added, _added_number, _complement, _assigned, _compared])
def test_the_exponential_of_masked_scores(code: Callable[..., Any]) -> None:
    for sizes in SIZES:
        expected, found, evaluator, _ = run_both(lambda module, x: _finite(module, code, x), {"x": "N N"}, sizes, True)
        compare(expected, found, evaluator)
        assert INFINITY() not in walk(found.value.body)


def _finite(module: Any, code: Callable[..., Any], x: Any) -> Any:
    if module is np:
        with np.errstate(over="ignore", invalid="ignore"):
            # NumPy's own 0 · ∞ below the diagonal is not a number; a large number is meant.
            x = x.copy()
            return np.nan_to_num(code(_Large(), x))
    return code(module, x)


class _Large:
    """NumPy with a large number for infinity, where 0 times it is 0."""

    inf = 1e30

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def test_a_softmax_with_its_shift() -> None:
    def softmax(np: Any, x: Any) -> Any:
        s = np.where(np.tri(x.shape[0]) > 0, x, -1e30)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    for sizes in SIZES:
        expected, found, evaluator, _ = run_both(softmax, {"x": "N N"}, sizes, symbolic=True)
        compare(expected, found, evaluator)
        outside = [node for node in walk(found.value.body) if isinstance(node, Fun) and node.name == "exp"]
        assert outside
