"""latexify-py prints scalar functions that it prints right; what it would print wrong is refused by name and line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symres.errors import Unsupported, UsageError
from symres.typeset.scalar import scalar_latex

latexify = pytest.importorskip("latexify")

y = 3.0


def elu(x, alpha):  # type: ignore[no-untyped-def]
    """The exponential linear unit."""
    if x > 0:
        return x
    else:  # noqa: RET505
        return alpha * (np.exp(x) - 1)


def silu(x):  # type: ignore[no-untyped-def]
    s = 1 / (1 + math.exp(-x))
    return x * s


def transposed(a, b):  # type: ignore[no-untyped-def]
    return (a + b).T @ a


def means(x):  # type: ignore[no-untyped-def]
    return np.mean(x, axis=1, keepdims=True)


def both_sums(x):  # type: ignore[no-untyped-def]
    return np.sum(x, axis=0) - np.sum(x, axis=1)


def mixed(A, x):  # type: ignore[no-untyped-def]
    return A @ x + A * x


def cast(x):  # type: ignore[no-untyped-def]
    return (x > 0).astype(float)


def masked(x):  # type: ignore[no-untyped-def]
    return x * (x > 0)


def chosen(x):  # type: ignore[no-untyped-def]
    return np.where(x > 0, x, 0)


def row(x):  # type: ignore[no-untyped-def]
    return x[:, None]


def early(x):  # type: ignore[no-untyped-def]
    if x > 0:
        return x
    return 0


def annotated(x):  # type: ignore[no-untyped-def]
    z: float = x
    return z


def error(x):  # type: ignore[no-untyped-def]
    return math.erf(x)


def double(x, z):  # type: ignore[no-untyped-def]
    return x - -z


def tiny(x):  # type: ignore[no-untyped-def]
    return x + 1e-5


def outer(x):  # type: ignore[no-untyped-def]
    return x + y


def again(x):  # type: ignore[no-untyped-def]
    x = x + 1
    return x * x


def inner_case(x):  # type: ignore[no-untyped-def]
    return (x if x > 0 else 0) * 2


def test_cases() -> None:
    printed = scalar_latex(elu)
    assert printed.startswith(r"\mathrm{elu}(x, \alpha) = \left\{ \begin{array}{ll} x, & \mathrm{if} \ x > 0 \\ \alpha")


def test_assignments_are_put_in() -> None:
    assert r"\frac{1}{1 + \exp" in scalar_latex(silu)


@pytest.mark.parametrize(
    "function",
    [
        *(transposed, means, both_sums, mixed, cast, masked, chosen, row, early, annotated, error, double, tiny),
        *(outer, again, inner_case),
    ],
)
def test_what_would_go_wrong_is_refused(function) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Unsupported, match=f"in the scalar function {function.__name__}") as caught:
        scalar_latex(function)
    assert caught.value.place is not None
    assert caught.value.place.line > function.__code__.co_firstlineno


def test_no_source() -> None:
    with pytest.raises(UsageError, match="no Python function"):
        scalar_latex(math.exp)
