"""Writing through views, aliases, masks and fancy indices does what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from symres.errors import Unsupported
from symres.trace.signals import NeedsConcreteSizes
from tests.trace.agreement import SIZES, agree, compare, run_both

PROGRAMS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {}


def program(**shapes: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = (function, shapes)
        return function

    return enter


@program(x="N D", m="N D bool")
def alias_sees_masked_write(np, x, m):
    skip = x
    x[m] = 0
    return skip


@program(x="N D")
def copy_does_not(np, x):
    skip = x.copy()
    x[x <= 0] = 0
    return skip, x


@program(x="N D")
def caller_sees_it(np, x):
    def relu_back(buffer):
        buffer[buffer <= 0] = 0
        return buffer

    y = relu_back(x)
    return x + y


@program(x="N D", y="N D")
def inplace_operators(np, x, y):
    alias = x
    x += y
    x -= 2 * y
    x *= y
    x /= 3.0
    x **= 2
    return alias


@program(x="N D", y="D")
def broadcast_inplace(np, x, y):
    x += y
    x *= y[None, :]
    return x


@program(x="N D", y="N D")
def third_positional_argument(np, x, y):
    np.add(x, y, x)
    np.negative(x, y)
    return x, y


@program(x="N D")
def contiguous_arrays_are_themselves(np, x):
    y = np.ascontiguousarray(x)
    y *= 2
    z = np.asfortranarray(x[0])
    z += 1
    return x


@program(x="N D", y="N D")
def sums_of_masks(np, x, y):
    either = (x > 0) + (y > 0)
    either += x > 1
    return either, (x > 0) * (y > 0), (x > 0) + 1


@program(x="N D")
def scalars_are_immutable(np, x):
    s = x.sum()
    t = s
    s += 1
    e = x[0, 0]
    e += 5
    return s, t, x


@program(x="N D")
def zero_dimensional_arrays_are_not(np, x):
    s = np.zeros(())
    t = s
    s += x.sum()
    return t


@program(x="N D", y="N D")
def full_slice(np, x, y):
    alias = x
    x[:] = y * 2
    x[...] += 1
    return alias


@program(x="N D", y="D")
def rows(np, x, y):
    x[0] = y
    x[-1] += 2 * y
    row = x[0]
    row *= 3
    return x


@program(x="N D", y="N")
def columns(np, x, y):
    x[:, 0] = y
    x[:, -1] -= y
    return x


@program(x="3 4", y="2 2")
def blocks(np, x, y):
    x[1:, 1:3] = y
    x[:2, ::2] += y
    return x


@program(x="3 4")
def entries(np, x):
    x[1, 2] = x[0, 0]
    x[1, 2] += 1
    x[0, 0] *= 2
    return x


@program(x="N D")
def transpose_is_a_view(np, x):
    t = x.T
    t[0] = 5
    t *= 2
    return x


@program(x="N D H")
def reshape_is_a_view(np, x):
    flat = x.reshape(-1, x.shape[2])
    flat[:, 0] = 7
    flat += 1
    return x


@program(x="N D")
def flatten_copies_ravel_does_not(np, x):
    x.flatten()[:] = 3
    x.ravel()[:] = x.ravel() * 2
    return x


@program(x="12")
def split_axis_view(np, x):
    m = x.reshape(3, 4)
    m[1] = 0
    m[:, 2] += 5
    return x, m.T


@program(x="N D", y="N int D")
def softmax_labels(np, x, y):
    x[np.arange(x.shape[0]), y] -= 1
    x /= x.shape[0]
    return x


@program(x="N D", y="N int D", v="N")
def labels_assigned(np, x, y, v):
    x[np.arange(len(v) if False else x.shape[0]), y] = v
    return x


@program(e="D H", y="N M int D", v="N M H")
def embedding_add_at(np, e, y, v):
    de = np.zeros_like(e)
    np.add.at(de, y, v)
    np.subtract.at(de, y, 2 * v)
    return de


@program(x="N D")
def masked_multiply(np, x):
    x[x > 0] *= 2
    return x


@program(x="N D")
def masked_by_own_values(np, x):
    m = x > 0
    x[m] = x[m] ** 2 + 1
    x[~m] = -1
    return x


@program(x="N D", y="N D")
def masked_from_other(np, x, y):
    m = y > 0
    x[m] = y[m]
    x[np.where(y < 0)] = 0
    return x


@program(x="N D")
def masked_arithmetic(np, x):
    m = x > 0
    x[m] = np.exp(-abs(x[m])) * (x[m] < 1) + 2 / x[m]
    return x, x[m].sum(), (-x[m]).sum()


@program(x="N D", m="N bool")
def masked_rows(np, x, m):
    x[m] = 0
    x[m, 0] += 1
    return x


@program(x="N D", m="D bool")
def masked_columns(np, x, m):
    x[:, m] = 9
    return x


@program(x="N D", y="N D")
def out_argument(np, x, y):
    r = np.zeros_like(x)
    q = np.add(x, y, out=r)
    np.multiply(r, 2, r) if False else np.multiply(r, 2, out=r)
    s = np.empty(x.shape[1])
    np.sum(x, axis=0, out=s)
    np.maximum(x, 0, out=x)
    return q, r, s, x


@program(x="N D", w="D M")
def dot_out(np, x, w):
    r = np.empty((x.shape[0], w.shape[1]))
    np.dot(x, w, out=r)
    return r


@program(x="N D")
def ufunc_where(np, x):
    r = np.zeros_like(x)
    np.sqrt(np.abs(x), out=r, where=x > 0)
    return r


@program(x="N D")
def self_overlap(np, x):
    x += x.sum(axis=0)
    x -= x[:1]
    return x


@program(x="D D")
def plus_own_transpose(np, x):
    x += x.T
    return x


@program(x="D D")
def diagonal_written(np, x):
    n = np.arange(x.shape[0])
    x[n, n] = 0
    x[n, n] += 2
    return x


@program(x="N D")
def reversed_written(np, x):
    x[::-1] = x * 2
    return x


@program(x="N D H")
def product_slices(np, x):
    q, k = np.zeros_like(x), np.zeros_like(x)
    q[:, :, 0] = x[:, :, 0]
    k[..., 0] = x.sum(axis=-1)
    return q + k


@program(x="N 3*D", y="N D")
def thirds(np, x, y):
    d = y.shape[1]
    x[:, :d] = y
    x[:, d : 2 * d] += y
    x[:, 2 * d :] *= 2
    a, b, c = np.split(x, 3, axis=1)
    b -= a
    return x, c


@program(x="5 2")
def windows(np, x):
    out = np.zeros((4, 2))
    for i in range(4):
        out[i] = x[i : i + 2].sum(axis=0)
    dx = np.zeros_like(x)
    for i in range(4):
        dx[i : i + 2] += out[i]
    return out, dx


@program(x="N D", w="D M")
def augmented_attribute(np, x, w):
    class Layer:
        pass

    layer = Layer()
    layer.dw = np.zeros_like(w)
    grads = {"b": np.zeros(w.shape[1])}
    alias = layer.dw
    layer.dw += x.T @ (x @ w)
    grads["b"] += (x @ w).sum(axis=0)
    return alias, grads["b"]


@program(x="N D", v="D")
def put_along(np, x, v):
    y = np.zeros((x.shape[0], 1), dtype=int)
    np.put_along_axis(x, y, 5.0, axis=1)
    return x


@program(x="N D")
def pad_and_crop(np, x):
    p = np.pad(x, ((1, 1), (2, 2)))
    p[1:-1, 2:-2] += 1
    p *= 2
    return p, p[1:-1, 2:-2]


@program(x="D D", y="D D")
def filling(np, x, y):
    alias = x
    np.fill_diagonal(x, 3.0)
    np.copyto(y, x, where=x > 0)
    np.putmask(x, x < 0, -1.0)
    z = np.empty_like(x)
    z.fill(2.5)
    return alias, y, z


@program(x="2 H 3 4", w="M H 3 3")
def im2col(np, x, w):
    n, c, h, width = x.shape
    f, _, kh, kw = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    oh, ow = int((h + 2 - kh) / 1 + 1), (width + 2 - kw) // 1 + 1
    i0 = np.tile(np.repeat(np.arange(kh), kw), c)
    j0 = np.tile(np.arange(kw), kh * c)
    i = i0.reshape(-1, 1) + np.repeat(np.arange(oh), ow).reshape(1, -1)
    j = j0.reshape(-1, 1) + np.tile(np.arange(ow), oh).reshape(1, -1)
    k = np.repeat(np.arange(c), kh * kw).reshape(-1, 1)
    cols = padded[:, k, i, j].transpose(1, 2, 0).reshape(kh * kw * c, -1)
    out = (w.reshape(f, -1) @ cols).reshape(f, oh, ow, n).transpose(3, 0, 1, 2)
    back = (w.reshape(f, -1).T @ out.transpose(1, 2, 3, 0).reshape(f, -1)).reshape(c * kh * kw, -1, n)
    dx = np.zeros_like(padded)
    np.add.at(dx, (slice(None), k, i, j), back.transpose(2, 0, 1))
    return out, dx[:, :, 1:-1, 1:-1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_writes_are_numpys(name: str) -> None:
    agree(*PROGRAMS[name])


def test_reshape_of_a_transpose_copies() -> None:
    """Where an axis has length 1 NumPy finds the entries in order and gives a view; for longer axes it copies."""

    def flatten(np, x):
        flat = x.T.reshape(-1)
        flat += 1
        return x, flat

    for symbolic in (True, False):
        expected, found, evaluator, _ = run_both(flatten, {"x": "N D"}, SIZES[0], symbolic)
        compare(expected, found, evaluator)


def test_repeated_indices_keep_the_last_value_at_concrete_sizes() -> None:
    """``e[y] += v`` is the well-known fault that ``np.add.at`` mends."""

    def scatter(np, e, y, v):
        de = np.zeros_like(e)
        de[y] += v
        return de

    shapes = {"e": "D H", "y": "N int D", "v": "N H"}
    agree(scatter, shapes, symbolic=False)
    with pytest.raises(NeedsConcreteSizes, match="repeated"):
        run_both(scatter, shapes, SIZES[0], symbolic=True)


def test_truncation_is_refused() -> None:
    """NumPy would cut the values to integers."""

    def truncate(np, x):
        counts = np.zeros(x.shape, dtype=int)
        counts[:] = x
        return counts

    with pytest.raises(Unsupported, match="truncates"):
        run_both(truncate, {"x": "N D"}, SIZES[0], symbolic=True)


def test_assignment_into_a_masked_copy_is_refused() -> None:
    """``x[m][0] = 1`` changes nothing in NumPy."""

    def lost(np, x):
        x[x > 0][0] = 1
        return x

    with pytest.raises(Unsupported, match="copy"):
        run_both(lost, {"x": "N D"}, SIZES[0], symbolic=True)
