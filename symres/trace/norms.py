"""Norms, softmax and its logarithm; and which entry is largest, which is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import power
from symres.language.functions import HALF
from symres.trace import rules
from symres.trace.array import as_array
from symres.trace.elementwise import elementwise
from symres.trace.reductions import axis_numbers, reduced
from symres.trace.registry import call, numpy_function
from symres.trace.tidy import summed


@numpy_function("logsumexp", method=True)
def logsumexp(array: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """``scipy.special.logsumexp``: log Σ exp."""
    return call("log", call("sum", call("exp", array), axis, keepdims=keepdims))


@numpy_function("softmax", method=True)
def softmax(array: Any, axis: Any = None) -> Any:
    """``scipy.special.softmax``: exp x / Σ exp x."""
    exponential = call("exp", array)
    return call("true_divide", exponential, call("sum", exponential, axis, keepdims=True))


@numpy_function("log_softmax", method=True)
def log_softmax(array: Any, axis: Any = None) -> Any:
    """``scipy.special.log_softmax``: x − log Σ exp x."""
    return call("subtract", array, call("logsumexp", array, axis, keepdims=True))


@numpy_function("linalg.norm", "norm", method=("norm",))
def norm(array: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.linalg.norm``: the root of the sum of squares; ord 1 and p for vectors."""
    array = as_array(array)
    vectors = array.ndim == 1 or (axis is not None and len(axis_numbers(axis, array.ndim)) == 1)
    if ord in (None, "fro") or (ord == 2 and vectors):
        total = reduced(elementwise(lambda a: power(a, 2), array), axis, keepdims, summed, "float")
        return elementwise(lambda a: power(a, HALF), total)
    if vectors and ord == 1:
        return call("sum", call("absolute", array), axis, keepdims=keepdims)
    if vectors and isinstance(ord, (int, float)) and 0 < ord < float("inf"):
        exponent = Fraction(ord)
        powers = elementwise(lambda a: power(rules.absolute(a), exponent), array)
        total = reduced(powers, axis, keepdims, summed, "float")
        return elementwise(lambda a: power(a, 1 / exponent), total)
    raise Unsupported(f"np.linalg.norm with ord={ord!r}")


@numpy_function("argmax", method=True)
def argmax(array: Any, *others: Any, **more: Any) -> Any:
    """Refused: which entry is largest depends on data."""
    raise Unsupported("argmax: which entry is the largest depends on data")


@numpy_function("argmin", method=True)
def argmin(array: Any, *others: Any, **more: Any) -> Any:
    """Refused: which entry is smallest depends on data."""
    raise Unsupported("argmin: which entry is the smallest depends on data")
