"""Random programs of views, reshapes and writes do what NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from symres.kernel.terms import Num, Size, Tensor
from symres.trace.array import Array, as_array
from symres.trace.modules import MODULES
from symres.trace.signals import recording
from tests.trace.definitions import Evaluator

STAND_IN: Any = MODULES["numpy"]
DIMS = st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=3)


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    parts: list[Any] = []
    for size in shape[: draw(st.integers(1, len(shape)))]:
        kind = draw(st.sampled_from(["int", "slice", "full", "none"]))
        if kind == "none":
            parts.append(None)
        if kind == "int":
            parts.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            start = draw(st.integers(0, size - 1))
            stop = draw(st.integers(start + 1, size + 1))
            low = draw(st.sampled_from([start, start - size]))
            parts.append(slice(low if start else None, stop, draw(st.sampled_from([None, 1, 2]))))
        else:
            parts.append(slice(None))
    return tuple(parts)


@st.composite
def factorings(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    shape = []
    while size > 1 and len(shape) < 2:
        divisor = draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0]))
        shape.append(divisor)
        size //= divisor
    return (*shape, size)


def step(draw: st.DataObject, x: Any, y: Any, names: list[tuple[Any, Any]], number: int) -> None:
    """One random statement on a random pair of corresponding arrays."""
    a, b = names[draw.draw(st.integers(0, len(names) - 1))]
    kind = draw.draw(
        st.sampled_from(["index", "reshape", "transpose", "write", "inplace", "copy", "mask", "sum", "flip"])
    )
    if a.ndim == 0 or a.size > 64:
        return
    if kind == "index":
        key = draw.draw(keys(a.shape))
        names.append((a[key], b[key]))
    elif kind == "reshape":
        shape = draw.draw(factorings(a.size))
        names.append((a.reshape(shape), b.reshape(shape)))
    elif kind == "transpose":
        order = draw.draw(st.permutations(range(a.ndim)))
        names.append((a.transpose(order), b.transpose(tuple(order))))
    elif kind == "write":
        key = draw.draw(keys(a.shape))
        a[key], b[key] = number, number
    elif kind == "inplace":
        key = draw.draw(keys(a.shape))
        a[key] += number
        b[key] += number
        a[key] *= 2
        b[key] *= 2
    elif kind == "copy":
        names.append((a.copy(), b.copy()))
    elif kind == "mask":
        a[a > 0] = -number
        b[b > 0] = -number
    elif kind == "flip":
        names.append((a[::-1], b[::-1]))
    elif kind == "sum":
        axis = draw.draw(st.integers(-a.ndim, a.ndim - 1))
        names.append((np.sum(a, axis, keepdims=True), STAND_IN.sum(b, axis, keepdims=True)))


@settings(max_examples=60, deadline=None)
@given(dims=DIMS, data=st.data())
def test_random_programs(dims: list[int], data: st.DataObject) -> None:
    array = np.random.default_rng(3).normal(size=dims)
    axes = tuple(() if n == 1 else (Num(n),) for n in dims)
    symbol = Array.symbol(Tensor("x", tuple(dim for axis in axes for dim in axis)), axes)
    evaluator = Evaluator({}, {"x": array.copy()})
    names: list[tuple[Any, Any]] = [(array, symbol)]
    with recording():
        for number in range(1, data.draw(st.integers(2, 7))):
            step(data, array, symbol, names, number)
        for expected, found in names:
            assert found.shape == np.shape(expected)
            np.testing.assert_allclose(evaluator.value(found.value), expected, rtol=1e-9, atol=1e-9)


SLICES = (
    slice(None),
    slice(None, 2),
    slice(1, None),
    slice(-2, None),
    slice(1, -1),
    slice(None, None, -1),
    slice(0, 3, 2),
)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), sizes=st.sampled_from([(3, 4), (5, 3), (4, 4)]))
def test_random_programs_with_symbolic_sizes(data: st.DataObject, sizes: tuple[int, int]) -> None:
    """Sizes are at least 3, so that what the trace assumes of slices holds."""
    array = np.random.default_rng(5).normal(size=sizes)
    symbol = Array.symbol(Tensor("x", (Size("N"), Size("D"))))
    evaluator = Evaluator({"N": sizes[0], "D": sizes[1]}, {"x": array.copy()})
    names: list[tuple[Any, Any]] = [(array, symbol)]
    key_parts = st.one_of(st.sampled_from([0, 1, -1, None]), st.sampled_from(SLICES))
    with recording():
        for number in range(1, data.draw(st.integers(2, 6))):
            a, b = names[data.draw(st.integers(0, len(names) - 1))]
            if a.ndim == 0 or min(a.shape) < 3:
                continue
            key = tuple(data.draw(st.lists(key_parts, min_size=1, max_size=a.ndim)))
            if sum(part is not None for part in key) > a.ndim:
                continue
            kind = data.draw(
                st.sampled_from(["view", "transpose", "flat", "set", "add", "scale", "mask", "copy", "row"])
            )
            if kind == "view":
                names.append((a[key], b[key]))
            elif kind == "transpose":
                names.append((a.T, b.T))
            elif kind == "flat":
                names.append((a.reshape(-1), b.reshape(-1)))
            elif kind == "set":
                a[key], b[key] = number, number
            elif kind == "add":
                a[key] += number
                b[key] += number
            elif kind == "scale":
                u, v = a[key], b[key]
                u *= 2
                v *= 2
            elif kind == "mask":
                a[a > 0] = -number
                b[b > 0] = -number
            elif kind == "copy":
                names.append((a + a, b + b))
            elif kind == "row":
                a -= a[:1]
                b -= b[:1]
        for expected, found in names:
            np.testing.assert_allclose(evaluator.value(as_array(found).value), expected, rtol=1e-9, atol=1e-9)
