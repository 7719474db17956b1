"""Each row of the NumPy table gives NumPy's own numbers, at symbolic and at concrete sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

from symres.trace.elementwise import UFUNCS
from tests.trace.agreement import agree

X = {"x": "N D"}
XY = {"x": "N D", "y": "N D"}
P = {"x": "N D positive"}
T3 = {"x": "N D H"}

ROWS: dict[str, tuple[Any, dict[str, str]]] = {
    # arithmetic and broadcasting
    "add": (lambda np, x, y: x + y, {"x": "N D", "y": "D"}),
    "subtract column": (lambda np, x, y: np.subtract(x, y[:, None]), {"x": "N D", "y": "N"}),
    "scalar left": (lambda np, x: 1 - 2.5 * x / 3, X),
    "divide": (lambda np, x: 1.0 / x, P),
    "power int": (lambda np, x: x**3, X),
    "power fraction": (lambda np, x: np.power(x, -3.0 / 2), P),
    "power base": (lambda np, x: 2.0**x, X),
    "negative": (lambda np, x: -np.negative(+x), X),
    "outer sum": (lambda np, x, y: x[:, None] + y[None, :], {"x": "N", "y": "D"}),
    "scalar array": (lambda np, x, y: x * y, {"x": "N", "y": ""}),
    "size one axis": (lambda np, x, y: x * y, {"x": "N 1", "y": "1 D"}),
    "floor of integers": (lambda np, y: (y // 2) + y % 2, {"y": "N int M"}),
    # elementwise
    "sqrt": (lambda np, x: np.sqrt(x), P),
    "exp log": (lambda np, x: np.log(np.exp(x) + 1), X),
    "log1p": (lambda np, x: np.log1p(np.exp(-np.abs(x))), X),
    "trigonometric": (lambda np, x: np.sin(x) + np.cos(x) + np.tan(x) + np.arctan(x), X),
    "hyperbolic": (lambda np, x: np.tanh(x) + np.sinh(x) + np.cosh(x), X),
    "logs": (lambda np, x: np.log2(x) + np.log10(x) + np.exp2(x) + np.expm1(x), P),
    "square reciprocal": (lambda np, x: np.square(x) + np.reciprocal(x), P),
    "absolute": (lambda np, x: np.abs(x) + abs(x), X),
    "sign": (lambda np, x: np.sign(x), X),
    "logaddexp": (lambda np, x, y: np.logaddexp(x, y), XY),
    "maximum": (lambda np, x, y: np.maximum(x, y) + np.minimum(x, y), XY),
    "relu": (lambda np, x: np.maximum(0, x) + np.maximum(x, 0), X),
    "relu spellings": (lambda np, x: x * (x > 0) + np.where(x > 0, x, 0) + (abs(x) + x) / 2, X),
    "leaky": (lambda np, x: np.where(x > 0, x, 0.01 * x), X),
    "clip": (lambda np, x: np.clip(x, -0.5, 0.5) + x.clip(0, 1), X),
    "heaviside": (lambda np, x: np.heaviside(x, 0.5), X),
    # comparisons
    "compare": (lambda np, x, y: (x > y, x >= y, x < y, x <= y), XY),
    "compare number": (lambda np, x: (x > 0, x > 0, x <= 0.5, x <= 0.5), X),
    "equal": (lambda np, x, y: (x == y, x != y), XY),
    "logical": (lambda np, x, y: ((x > 0) & (y > 0) | ~(x > 1), np.logical_xor(x > 0, y > 0)), XY),
    "mask arithmetic": (lambda np, x: (x > 0) * 2.0 + (1 - (x > 0)) * x, X),
    "mask compared": (lambda np, m: (m == 0, m == 1, m > 0.5, m < 1, 1 - m > 0), {"m": "N D bool"}),
    "labels compared": (lambda np, y: (y == 1, y != 0, y > 0, y <= 1), {"y": "N int M"}),
    "max mask": (lambda np, x: x == x.max(axis=1, keepdims=True), X),
    # reductions
    "sum all": (lambda np, x: x.sum(), X),
    "sum axis": (lambda np, x: (x.sum(0), np.sum(x, axis=1), x.sum(-1)), X),
    "sum tuple": (lambda np, x: (x.sum(axis=(0, 2)), np.sum(x, (1, 2), keepdims=True)), T3),
    "sum of mask": (lambda np, x: (x > 0).sum(axis=0), X),
    "sum where": (lambda np, x: np.sum(x, axis=0, where=x > 0), X),
    "mean": (lambda np, x: (x.mean(), x.mean(0), np.mean(x, axis=-1, keepdims=True)), X),
    "average": (lambda np, x, w: np.average(x, axis=1, weights=w), {"x": "N D", "w": "D positive"}),
    "var": (lambda np, x: (x.var(), np.var(x, axis=0), x.var(axis=1, keepdims=True)), X),
    "std": (lambda np, x: (x.std(0), np.std(x, axis=1)), X),
    "max": (lambda np, x: (x.max(), np.max(x, axis=0), x.max(axis=1, keepdims=True)), X),
    "min": (lambda np, x: (x.min(), np.min(x, axis=0), np.amin(x, -1)), X),
    "cumsum": (lambda np, x: np.cumsum(x, axis=1), X),
    "norm": (lambda np, x: (np.linalg.norm(x), np.linalg.norm(x, axis=1, keepdims=True)), X),
    "norm one": (lambda np, x: np.linalg.norm(x, 1, axis=1), X),
    "prod of shape": (lambda np, x: x.reshape(x.shape[0], np.prod(x.shape[1:])), T3),
    "reduce": (lambda np, x: np.add.reduce(x, axis=1) + np.maximum.reduce(x, axis=1), X),
    "count_nonzero": (lambda np, x: np.count_nonzero(x > 0, axis=0), X),
    # products
    "matmul": (lambda np, x, w: x @ w, {"x": "N D", "w": "D M"}),
    "matmul batch": (lambda np, x, w: np.matmul(x, w), {"x": "H N D", "w": "H D M"}),
    "matmul broadcast": (lambda np, x, w: x @ w, {"x": "H N D", "w": "D M"}),
    "matmul vectors": (lambda np, x, w: (x @ w, w @ x, x @ x.T), {"x": "D D", "w": "D"}),
    "dot": (lambda np, x, w: np.dot(x, w), {"x": "H N D", "w": "D M"}),
    "dot vectors": (lambda np, x: x.dot(x), {"x": "N"}),
    "outer": (lambda np, x, y: np.outer(x, y), {"x": "N", "y": "D"}),
    "ufunc outer": (lambda np, x, y: np.multiply.outer(x, y) + np.subtract.outer(x, y), {"x": "N", "y": "D"}),
    "inner": (lambda np, x, y: np.inner(x, y), {"x": "N D", "y": "M D"}),
    "vdot": (lambda np, x, y: np.vdot(x, y), XY),
    "tensordot": (lambda np, x, w: np.tensordot(x, w, axes=([1, 2], [1, 0])), {"x": "N D H", "w": "H D M"}),
    "tensordot number": (lambda np, x, w: np.tensordot(x, w, 1), {"x": "N D", "w": "D M"}),
    "einsum": (lambda np, x, w: np.einsum("nd,dm->nm", x, w), {"x": "N D", "w": "D M"}),
    "einsum implicit": (lambda np, x, w: np.einsum("nd,dm", x, w), {"x": "N D", "w": "D M"}),
    "einsum sum": (lambda np, x: (np.einsum("nd->d", x), np.einsum("nd->", x), np.einsum("nd->dn", x)), X),
    "einsum dots": (lambda np, x, w: np.einsum("...d,dm->...m", x, w), {"x": "H N D", "w": "D M"}),
    "einsum diagonal": (lambda np, x: (np.einsum("ii->i", x), np.einsum("ii", x)), {"x": "D D"}),
    "trace diag": (lambda np, x: (np.trace(x), np.diag(x), np.diag(np.diag(x))), {"x": "D D"}),
    "jacobian": (lambda np, p: np.diag(p) - np.outer(p, p), {"p": "D"}),
    # shape
    "reshape merge": (lambda np, x: x.reshape(-1, x.shape[-1]), T3),
    "reshape flat": (lambda np, x: (x.reshape(-1), x.ravel(), x.flatten()), T3),
    "reshape column": (lambda np, x: x.reshape(-1, 1) * x.reshape(1, -1), {"x": "N"}),
    "reshape rest": (lambda np, x: x.reshape(x.shape[0], -1), T3),
    "reshape back": (lambda np, x: x.reshape(-1, x.shape[2]).sum(0) + x.reshape(-1).sum(), T3),
    "regroup": (lambda np, x: x.reshape(x.shape[0], 3, -1), {"x": "N 3*D"}),
    "transpose": (lambda np, x: (x.T, np.transpose(x, (0, 2, 1)), x.transpose(2, 0, 1), x.transpose((1, 0, 2))), T3),
    "swapaxes": (lambda np, x: (x.swapaxes(1, 2), np.swapaxes(x, 0, -1), np.moveaxis(x, 0, -1)), T3),
    "expand squeeze": (lambda np, x: np.squeeze(np.expand_dims(x, 1), axis=1), X),
    "none": (lambda np, x: x[:, None, :, np.newaxis], X),
    "broadcast_to": (lambda np, x, y: np.broadcast_to(y, x.shape), {"x": "N D", "y": "D"}),
    "tile": (lambda np, x: (np.tile(x, (2, 1)), np.tile(x, 3), np.tile(x[:, None], (1, 2, 1))), X),
    "tile symbolic": (lambda np, x, y: np.tile(y, (x.shape[0], 1)), {"x": "N D", "y": "D"}),
    "repeat": (lambda np, x: (np.repeat(x, 2, axis=1), x.repeat(3, axis=0)), X),
    # creation
    "zeros ones": (lambda np, x: (np.zeros(x.shape), np.ones_like(x), np.zeros((x.shape[0], 2))), X),
    "full": (lambda np, x: (np.full(x.shape, 2.5), np.full_like(x, 3), np.full((2, 3), 1)), X),
    "eye": (lambda np, x: (np.eye(x.shape[1]), np.identity(x.shape[0]), np.eye(x.shape[0], x.shape[1])), X),
    "eye offset": (lambda np, x: np.eye(x.shape[1], k=1), X),
    "arange": (lambda np, x: (np.arange(x.shape[0]), np.arange(2, x.shape[0] + 4, 2)), X),
    "triangles": (lambda np, x: (np.tril(x), np.triu(x, 1), np.tri(x.shape[0])), {"x": "N N"}),
    "causal": (lambda np, x: np.triu(np.ones((x.shape[0], x.shape[0])), k=1).astype(bool), {"x": "N N"}),
    "array": (lambda np, x: np.array([[1.0, 2.0], [3.0, 4.5]]) + np.array(x.sum()), X),
    "linspace": (lambda np, x: np.linspace(0.0, 1.0, 5), X),
    "pi": (lambda np, x: np.sqrt(2 / np.pi) * x, X),
    # indexing
    "integer": (lambda np, x: (x[0], x[-1], x[:, 0], x[0, 0], x[..., -1]), X),
    "slices": (lambda np, x: (x[:1], x[:, :1], x[-1:]), X),
    "reverse": (lambda np, x: x[::-1, ::-1], X),
    "pick": (lambda np, x, y: x[np.arange(x.shape[0]), y], {"x": "N D", "y": "N int D"}),
    "embedding": (lambda np, e, y: e[y], {"e": "D H", "y": "N M int D"}),
    "one hot": (lambda np, x, y: np.eye(x.shape[1])[y], {"x": "N D", "y": "N int D"}),
    "one hot compared": (
        lambda np, x, y: (y[:, None] == np.arange(x.shape[1])).astype(float),
        {"x": "N D", "y": "N int D"},
    ),
    "fancy columns": (lambda np, x, y: (x[:, y], x[y, 0], x[0, y]), {"x": "N N D", "y": "M int N"}),
    "take": (lambda np, e, y: (np.take(e, y, axis=0), e.take(y, axis=0)), {"e": "D H", "y": "N int D"}),
    "take_along_axis": (lambda np, x, y: np.take_along_axis(x, y[:, None], axis=1), {"x": "N D", "y": "N int D"}),
    "masked sum": (lambda np, x: x[x > 0].sum(), X),
    # joining
    "stack": (lambda np, x, y: (np.stack([x, y]), np.stack([x, y, x], axis=1), np.stack((x, y), -1)), XY),
    "concatenate": (lambda np, x, y: (np.concatenate([x, y]), np.concatenate((x, y, y), axis=1)), XY),
    "concatenate lengths": (lambda np, x, y: np.concatenate([x, y], axis=1), {"x": "N D", "y": "N M"}),
    "hstack vstack": (lambda np, x, y: (np.hstack([x, y]), np.vstack([x, y])), XY),
    "split": (lambda np, x: np.split(x, 3, axis=1), {"x": "N 3*D"}),
    "split at": (lambda np, x: np.split(x, [1], axis=0), {"x": "3 D"}),
    "pad": (lambda np, x: np.pad(x, ((1, 2), (0, 1))), X),
    "pad expression": (lambda np, x: np.pad(x * x + 1, 1), X),
    "pad all": (lambda np, x: np.pad(x, ((0, 0), (2, 2)), mode="constant", constant_values=1.5), X),
    "flip": (lambda np, x: (np.flip(x, 1), np.flip(x), np.flipud(x)), X),
    "roll": (lambda np, x: (np.roll(x, 1, axis=1), np.roll(x, -1, 1)), {"x": "N 3"}),
    "windows": (lambda np, x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=0), {"x": "7 D"}),
    "strided": (
        lambda np, x: np.lib.stride_tricks.as_strided(
            x, (2, x.shape[1], 3), (2 * x.strides[0], x.strides[1], x.strides[0])
        ),
        {"x": "5 D"},
    ),
    "list of indices": (lambda np, x: (x[[2, 0]], x[:, np.array([1, -1, 0])], x[np.array([-1, 0]), 1]), {"x": "3 3"}),
    "kron": (lambda np, x, y: np.kron(x, y), {"x": "N D", "y": "2 H"}),
    "multi_dot": (lambda np, x, y, z: np.linalg.multi_dot([x, y, z]), {"x": "N D", "y": "D H", "z": "H M"}),
    "bincount": (lambda np, y: np.bincount(y, minlength=7), {"y": "M int 3"}),
    "cumprod": (lambda np, x: np.cumprod(x, axis=1), {"x": "N 3"}),
    "convolve": (lambda np, x, y: (np.convolve(x, y), np.convolve(x, y, "valid")), {"x": "5", "y": "3"}),
    "convolve same": (lambda np, x, y: np.convolve(x, y, "same"), {"x": "5", "y": "2"}),
    "correlate": (lambda np, x, y: (np.correlate(x, y), np.correlate(x, y, "full")), {"x": "5", "y": "3"}),
    # applied, grids
    "vectorize": (lambda np, x, y: np.vectorize(lambda a, b: a * b + 1)(x, y), {"x": "N D", "y": "D"}),
    "apply_along_axis": (lambda np, x: np.apply_along_axis(lambda r: r / r.sum(), 1, x), P),
    "apply to a number": (lambda np, x: np.apply_along_axis(np.sum, 0, x), X),
    "select": (lambda np, x: np.select([x > 1, x > 0], [x * 2, x * 3], -1.0), X),
    "piecewise": (lambda np, x: np.piecewise(x, [x < 0, x >= 0], [lambda u: 0 * u, lambda u: u * u]), X),
    "grids": (lambda np, x: (*np.meshgrid(np.arange(x.shape[0]), np.arange(x.shape[1])), *np.indices((2, 3))), X),
    "open grid": (lambda np, x, y: x[np.ix_(y, y)], {"x": "D D", "y": "M int D"}),
    # kinds
    "astype": (
        lambda np, x, y: ((x > 0).astype(float), y.astype(np.float64), y.astype(bool)),
        {"x": "N", "y": "N int M"},
    ),
    "dtype arguments": (
        lambda np, x: (np.zeros(3, dtype=int), np.ones((2, 2), dtype=bool), np.array(x, dtype=float)),
        X,
    ),
    "where integers": (lambda np, x: np.where(x > 0, 1, 0), X),
    "shape reads": (lambda np, x: x * x.shape[0] / x.shape[1] - x.size + x.ndim, X),
    "types": (
        lambda np, x: (x.astype(x.dtype), np.float64(x.shape[0]) * x, x.astype(np.float32).dtype == np.dtype("int64")),
        X,
    ),
    "sizes of sizes": (lambda np, x: (x.shape[0] - 1) * np.sqrt(x.shape[1]) + 1.0 / x.shape[0] ** 2, X),
}


MORE: dict[str, tuple[Any, dict[str, str]]] = {
    "nan functions": (
        lambda np, x: (np.nansum(x), np.nanmean(x, 0), np.nanvar(x, 1), np.nanstd(x), np.nanmax(x, 0)),
        X,
    ),
    "extrema": (lambda np, x: (np.amax(x, axis=1), np.amin(x), np.nanmin(x, axis=0), x.max(), x.min(axis=0)), X),
    "diff": (lambda np, x: np.diff(x, axis=0), {"x": "4 D"}),
    "rollaxis": (lambda np, x: (np.rollaxis(x, 2), np.rollaxis(x, 1, 3)), T3),
    "at least": (lambda np, x: (np.atleast_1d(x.sum()), np.atleast_2d(x[0]), np.atleast_2d(x)), X),
    "diagflat": (lambda np, x: np.diagflat(x), {"x": "D"}),
    "columns": (lambda np, x, y: (np.column_stack([x, y]), np.column_stack((x[:, 0], y[:, 0]))), XY),
    "rows": (lambda np, x, y: (np.append(x, y, axis=0), np.concatenate([x, y], axis=None)), XY),
    "halves": (lambda np, x: (*np.vsplit(x, 2), *np.hsplit(x, 2), *np.array_split(x, 2)), {"x": "4 6"}),
    "turned": (lambda np, x: (np.fliplr(x), np.rot90(x), np.rot90(x, 2)), X),
    "nonzero": (lambda np, x: x[np.nonzero(x > 0)].sum(), X),
    "contiguous": (lambda np, x: np.ascontiguousarray(x) + np.asanyarray(x) + np.asfortranarray(x), X),
    "conjugate": (lambda np, x: np.conj(x) * x.conj() + np.conjugate(x).real, X),
    "any all": (lambda np, x: (np.any(x > 0, axis=1), (x > 0).all(axis=1), np.logical_not(x)), {"x": "N 2"}),
    "roll over all": (lambda np, x: (np.roll(x, 2), np.roll(x, (1, 2), axis=(0, 1))), {"x": "3 4"}),
    "triangles of products": (lambda np, x: np.tril(x @ x.T, -1).sum(axis=-1), X),
}
ROWS |= MORE


@pytest.mark.parametrize("name", ROWS)
def test_traced_values_are_numpys(name: str) -> None:
    function, shapes = ROWS[name]
    agree(function, shapes)


def test_the_comparison_notices_a_wrong_row() -> None:
    """A stand-in that disagrees with NumPy is caught."""
    with pytest.raises(AssertionError):
        agree(lambda module, x: x.sum(0) if module is np else x.sum(1), {"x": "D D"})


def _domain(name: str, value: Any) -> Any:
    """Arguments in (0, 1), moved where the function is defined."""
    return value + 1 if name == "arccosh" else value


def _numpys(name: str) -> Any:
    return getattr(np, name, None) or getattr(scipy.special, name, None)


UFUNC_NAMES = [name for row in UFUNCS for name in row.names if _numpys(name) is not None]
REAL = [name for name in UFUNC_NAMES if name not in ("floor_divide", "remainder", "mod", "heaviside", "floor", "ceil")]


@pytest.mark.parametrize("name", [name for name in REAL if name not in ("trunc", "fix", "softplus")])
def test_every_elementwise_function_is_numpys(name: str) -> None:
    arity = next(row.arity for row in UFUNCS if name in row.names)

    def code(module: Any, *arrays: Any) -> Any:
        function = _numpys(name) if module is np else getattr(module, name)
        return function(*(_domain(name, array / 3) for array in arrays))

    agree(code, {"x": "N D positive", "y": "D positive"} if arity == 2 else {"x": "N D positive"})


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or"])
def test_functions_of_two_masks(name: str) -> None:
    agree(lambda module, a, b: getattr(module, name)(a, b), {"a": "N D bool", "b": "D bool"})


def test_functions_of_one_mask() -> None:
    agree(lambda module, a: (~a, module.invert(a), module.bitwise_not(a), module.logical_not(a)), {"a": "N bool"})


def test_whole_numbers() -> None:
    agree(lambda module, y: (module.floor_divide(y, 2), module.remainder(y, 3), module.mod(y, 2)), {"y": "N int M"})
