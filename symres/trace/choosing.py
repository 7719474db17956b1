"""One value or another, entry by entry, by a condition."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.trace import rules
from symres.trace.array import as_array
from symres.trace.creation import eye
from symres.trace.elementwise import elementwise, widest
from symres.trace.registry import call, numpy_function


@numpy_function("where")
def where(condition: Any, *choices: Any) -> Any:
    """``np.where``: a choice entry by entry; with one argument the mask itself, to be used as an index.

    Raises:
        Unsupported: for two arguments.
    """
    mask = elementwise(rules.nonzero, condition, kind="bool")
    if not choices:
        return (mask,)
    if len(choices) != 2:
        raise Unsupported("np.where with two arguments")
    kind = widest([as_array(choice) for choice in choices])
    return elementwise(rules.chosen, mask, *choices, kind=kind)


@numpy_function("masked_fill", method=True)
def masked_fill(array: Any, mask: Any, value: Any) -> Any:
    """``x.masked_fill`` of PyTorch."""
    return where(mask, value, array)


@numpy_function("nonzero", method=True)
def nonzero(array: Any) -> Any:
    """``np.nonzero``: the mask itself, to be used as an index."""
    return where(array)


@numpy_function("clip", "clamp", method=("clip", "clamp"))
def clip(array: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """``np.clip``."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    result = array if low is None else call("maximum", array, low)
    return result if high is None else call("minimum", result, high)


@numpy_function("one_hot")
def one_hot(labels: Any, num_classes: Any) -> Any:
    """One-hot rows: [y = c]."""
    return eye(num_classes)[as_array(labels)]
