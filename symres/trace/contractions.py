"""Products that sum over common axes: einsum, and matmul, dot, tensordot, outer, inner, trace in terms of it."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import mul
from symres.trace.alignment import Label, unify
from symres.trace.array import Array, as_array
from symres.trace.elementwise import widest
from symres.trace.reductions import axis_numbers
from symres.trace.registry import call, numpy_function
from symres.trace.tidy import at, summed


def contract(operands: Sequence[Array], labels: Sequence[Sequence[Label]], out: Sequence[Label]) -> Array:
    """The product of the operands' entries, summed over every label that is not in ``out``."""
    values = [operand.value for operand in operands]
    found, readings = unify(values, labels)
    body = mul(*(at(value.body, reading) for value, reading in zip(values, readings, strict=True)))
    bound = [var for label, names in found.items() if label not in out for var in names]
    axes = [tuple(var.dim for var in found[label]) for label in out]
    names = [var for label in out for var in found[label]]
    return Array.result(axes, names, summed(bound, body), widest(operands))


@numpy_function("einsum")
def einsum(subscripts: Any, *operands: Any) -> Array:
    """``np.einsum`` with explicit or implicit output and ``...``.

    Raises:
        Unsupported: for the form with lists of numbers, and for subscripts that do not fit the operands.
    """
    if not isinstance(subscripts, str):
        raise Unsupported("np.einsum with subscripts that are no string")
    arrays = [as_array(operand) for operand in operands]
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(arrays):
        raise Unsupported(f"np.einsum({subscripts!r}) with {len(arrays)} operands")
    labels = [_labels(term, array.ndim, subscripts) for term, array in zip(terms, arrays, strict=True)]
    rest: list[Hashable] = []
    rest += sorted({label for own in labels for label in own if isinstance(label, int)})
    if arrow:
        out = _expand(output, rest)
    else:
        counted = Counter(label for own in labels for label in own if isinstance(label, str))
        out = [*rest, *sorted(label for label, times in counted.items() if times == 1)]
    if any(label not in {x for own in labels for x in own} for label in out):
        raise Unsupported(f"np.einsum({subscripts!r}) has an output letter that no operand has")
    return contract(arrays, labels, out)


def _labels(term: str, ndim: int, subscripts: str) -> list[Hashable]:
    letters = len(term.replace("...", ""))
    if letters > ndim or (letters < ndim and "..." not in term):
        raise Unsupported(f"np.einsum({subscripts!r}): {term!r} does not fit an array with {ndim} axes")
    return _expand(term, list(range(letters - ndim, 0)))


def _expand(term: str, rest: Sequence[Hashable]) -> list[Hashable]:
    before, dots, after = term.partition("...")
    return [*before, *(rest if dots else ()), *after]


@numpy_function("matmul", "bmm", "mm", method=("matmul", "bmm", "mm"))
def matmul(a: Any, b: Any) -> Array:
    """``a @ b``, with broadcast leading axes."""
    left, right = as_array(a), as_array(b)
    if not left.axes or not right.axes:
        raise Unsupported("matmul of a scalar")
    ours: list[Label] = [*range(-left.ndim + 2, 0), "i", "k"] if left.ndim > 1 else ["k"]
    theirs: list[Label] = [*range(-right.ndim + 2, 0), "k", "j"] if right.ndim > 1 else ["k"]
    batch = sorted({label for label in (*ours, *theirs) if isinstance(label, int)})
    out = [*batch, *(["i"] if left.ndim > 1 else []), *(["j"] if right.ndim > 1 else [])]
    return contract([left, right], [ours, theirs], out)


@numpy_function("dot", method=True)
def dot(a: Any, b: Any) -> Any:
    """``np.dot``: the last axis of a with the last but one of b; a product when one is a scalar."""
    left, right = as_array(a), as_array(b)
    if not left.axes or not right.axes:
        return call("multiply", left, right)
    return _tensordot(left, right, (left.ndim - 1,), (max(right.ndim - 2, 0),))


@numpy_function("inner", method=("inner",))
def inner(a: Any, b: Any) -> Any:
    """``np.inner``: over the last axes."""
    left, right = as_array(a), as_array(b)
    if not left.axes or not right.axes:
        return call("multiply", left, right)
    return _tensordot(left, right, (left.ndim - 1,), (right.ndim - 1,))


@numpy_function("vdot")
def vdot(a: Any, b: Any) -> Any:
    """``np.vdot``: over all entries."""
    return call("sum", call("multiply", call("ravel", a), call("ravel", b)))


@numpy_function("tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """``np.tensordot``."""
    left, right = as_array(a), as_array(b)
    if isinstance(axes, int):
        ours: tuple[int, ...] = tuple(range(left.ndim - axes, left.ndim))
        theirs: tuple[int, ...] = tuple(range(axes))
    else:
        ours, theirs = axis_numbers(axes[0], left.ndim), axis_numbers(axes[1], right.ndim)
    return _tensordot(left, right, ours, theirs)


def _tensordot(left: Array, right: Array, ours: Sequence[int], theirs: Sequence[int]) -> Array:
    if len(ours) != len(theirs):
        raise Unsupported("tensordot over different numbers of axes")
    mine: list[Label] = [("a", k) for k in range(left.ndim)]
    yours: list[Label] = [("b", k) for k in range(right.ndim)]
    for position, (k, j) in enumerate(zip(ours, theirs, strict=True)):
        mine[k] = yours[j] = ("sum", position)
    out = [label for label in (*mine, *yours) if label[0] != "sum"]  # type: ignore[index]
    return contract([left, right], [mine, yours], out)


@numpy_function("outer", method=("outer",))
def outer(a: Any, b: Any) -> Array:
    """``np.outer`` of flattened operands."""
    return contract([call("ravel", a), call("ravel", b)], [["i"], ["j"]], ["i", "j"])


@numpy_function("trace", method=True)
def trace(array: Any, axis1: int = 0, axis2: int = 1) -> Array:
    """``np.trace``: the sum of the diagonal."""
    diagonal: Array = call("diagonal", array, 0, axis1, axis2)
    result: Array = call("sum", diagonal, -1)
    return result


@numpy_function("diagonal", method=True)
def diagonal(array: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """``np.diagonal``, the new axis last."""
    if offset:
        raise Unsupported("np.diagonal with an offset")
    array = as_array(array)
    first, second = axis_numbers((axis1, axis2), array.ndim)
    labels: list[Label] = list(range(array.ndim))
    labels[first] = labels[second] = "diagonal"
    return contract([array], [labels], [*(label for label in labels if label != "diagonal"), "diagonal"])


@numpy_function("kron")
def kron(a: Any, b: Any) -> Array:
    """``np.kron`` of arrays with equally many axes: entry (i·K + k, …) is a(i, …) b(k, …)."""
    left, right = as_array(a), as_array(b)
    if left.ndim != right.ndim:
        raise Unsupported("np.kron of arrays with different numbers of axes")
    n = left.ndim
    product = contract(
        [left, right],
        [range(n), range(n, 2 * n)],
        [k for pair in zip(range(n), range(n, 2 * n), strict=True) for k in pair],
    )
    shape = [one * other for one, other in zip(left.shape, right.shape, strict=True)]
    result: Array = call("reshape", product, shape)
    return result


@numpy_function("linalg.multi_dot")
def multi_dot(arrays: Sequence[Any]) -> Any:
    """``np.linalg.multi_dot``."""
    return functools.reduce(lambda a, b: call("dot", a, b), arrays)


@numpy_function("bincount")
def bincount(labels: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """``np.bincount`` of labels below ``minlength``: Σ_n [y(n) = c] w(n)."""
    hits = call("equal", as_array(labels)[:, None], call("arange", minlength))
    return call("sum", hits if weights is None else call("multiply", hits, as_array(weights)[:, None]), 0)
