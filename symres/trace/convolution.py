"""Convolution and cross-correlation of arrays, as NumPy and scipy.signal define them."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Term, Var, add, mul
from symres.language.program import Axis
from symres.trace.array import Array, as_array
from symres.trace.axes import length, variable
from symres.trace.polynomials import index
from symres.trace.registry import call, numpy_function
from symres.trace.tidy import at, equal_indices, summed


@numpy_function("convolve", "signal.convolve", "signal.convolve2d")
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Entry n is Σ_{u + k = n} a(u) v(k); ``valid`` and ``same`` keep the middle of it."""
    left, right = as_array(a), as_array(v)
    full = _full(left, right)
    if mode == "full":
        return full
    key = []
    for ours, theirs in zip(left.shape, right.shape, strict=True):
        if mode == "valid":
            key.append(slice(theirs - 1, ours))
        elif mode == "same":
            start = (theirs - 1) // 2
            key.append(slice(start, start + ours))
        else:
            raise Unsupported(f"a convolution with mode={mode!r}")
    return full[tuple(key)]


@numpy_function("signal.correlate", "signal.correlate2d")
def correlate(a: Any, v: Any, mode: str = "full") -> Any:
    """The convolution with the reversed second array.

    Raises:
        Unsupported: for ``same``, whose middle differs between the libraries when a length is even.
    """
    if mode == "same":
        raise Unsupported("a cross-correlation with mode='same'")
    return convolve(a, call("flip", v), mode)


@numpy_function("correlate")
def correlate_vectors(a: Any, v: Any, mode: str = "valid") -> Any:
    """``np.correlate``, whose default mode is ``valid``."""
    return correlate(a, v, mode)


def _full(left: Array, right: Array) -> Array:
    if left.ndim != right.ndim:
        raise Unsupported("a convolution of arrays with different numbers of axes")
    ours, theirs = left.value, right.value
    axes: list[Axis] = []
    names: list[Var] = []
    deltas: list[Term] = []
    mine, yours = [var.fresh() for var in ours.vars], [var.fresh() for var in theirs.vars]
    if any(len(axis) != 1 for axis in (*ours.axes, *theirs.axes)):
        raise Unsupported("a convolution over an axis of length 1 or of a product")
    for axis, other, u, k in zip(ours.axes, theirs.axes, mine, yours, strict=True):
        total = index(add(length(axis), length(other), -1))
        new = variable(total, u)
        axes.append((total,))
        names.append(new)
        deltas.append(equal_indices(new, add(u, k)))
    body = mul(
        *deltas,
        at(ours.body, dict(zip(ours.vars, mine, strict=True))),
        at(theirs.body, dict(zip(theirs.vars, yours, strict=True))),
    )
    return Array.result(axes, names, summed((*mine, *yours), body))
