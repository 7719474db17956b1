"""Gradients of a wrong shape, and backward functions that run only where two sizes are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

import symres


def linear(x: Any, w: Any) -> Any:
    return x @ w, (x, w)


def linear_transposed(dy: Any, cache: Any) -> Any:
    x, w = cache
    return dy @ w.T, dy.T @ x


def centre(x: Any) -> Any:
    return x - x.mean(axis=0), None


def centre_wrong_axis(dy: Any, cache: Any) -> Any:
    return dy - dy.mean(axis=1)


def test_a_gradient_of_another_shape_is_reported_as_that() -> None:
    verdict = symres.verify(linear, linear_transposed, shapes="x: N D, w: D M", grads="x, w")
    assert verdict.gradients["x"].verdict == "proved"
    assert verdict.gradients["w"].verdict == "refuted"
    assert "[M, D]" in verdict.gradients["w"].reason


def test_code_that_runs_for_equal_sizes_only_is_refuted_with_what_numpy_says() -> None:
    centre_wrong_axis(np.ones((3, 3)), None)  # no fault is seen here
    verdict = symres.verify(centre, centre_wrong_axis, shapes="x: N D", grads="x")
    assert verdict.verdict == "refuted"
    assert "does not run at N = 2, D = 3" in verdict.gradients["x"].reason
