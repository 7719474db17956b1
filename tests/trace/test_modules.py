"""The stand-in modules: what they know under which names, and how they refuse."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pytest
import scipy.signal
import scipy.special
import scipy.stats

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import Size, Tensor
from symres.trace.array import Array
from symres.trace.builtins import BUILTINS
from symres.trace.modules import MODULES
from symres.trace.registry import numpy_function
from symres.trace.signals import recording
from tests.trace.agreement import agree

np, torch, functional = MODULES["numpy"], MODULES["torch"], MODULES["torch.nn.functional"]


def array(*names: str, kind: str = "real") -> Array:
    return Array.symbol(Tensor("x", tuple(map(Size, names)), kind))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda x: np.frobnicate(x), "numpy.frobnicate"),
        (lambda x: np.linalg.svd(x), "numpy.linalg.svd"),
        (lambda x: np.random.shuffle(x), "numpy.random.shuffle"),
        (lambda x: x.frobnicate(), r"\.frobnicate"),
        (lambda x: numpy.linalg.inv(x), "linalg.inv"),
        (lambda x: numpy.sort(x), "np.sort"),
        (lambda x: np.sum(x, axis=0, precision=3), "precision="),
        (lambda x: np.reshape(x, (-1,), order="F"), "order='F'"),
        (lambda x: np.argmax(x, axis=1), "largest depends on data"),
        (lambda x: x.argmin(), "smallest depends on data"),
        (lambda x: list(np.ndindex(x.shape)), "needed as a number"),
        (lambda x: np.zeros(0), "length 0"),
        (lambda x: np.where(x > 0, x), "two arguments"),
        (lambda x: x.astype(int), "rounded"),
        (lambda x: np.sum(x, axis=2), "axis 2"),
        (lambda x: x[0, 0, 0], "3 indices"),
        (lambda x: bool(x.sum() > 0), "branch on data"),
        (lambda x: 1 if x[0, 0] else 2, "branch on data"),
        (lambda x: float(x[0, 0]), "float"),
        (lambda x: np.einsum("abc->a", x), "does not fit"),
        (lambda x: x & x, "not booleans"),
        (lambda x: (x > 0) - (x > 1), "difference of two boolean"),
        (lambda x: x[x], "used as indices"),
        (lambda x: numpy.asarray(x), "converted to numbers"),
        (lambda x: x // 2, "not integers"),
        (lambda x: x + "a", "used as an array"),
        (lambda x: np.sqrt(x, where=x > 0), "without a value"),
        (lambda x: x[x > 0].reshape(-1), "depends on data"),
        (lambda x: len(x[x > 0]), "depends on data"),
        (lambda x: list(x[x > 0]), "depends on data"),
        (lambda x: x[x > 0] + x[x > 1], "different masks"),
        (lambda x: x[x > 0] * x, "depends on data"),
    ],
)
def test_refusals_name_what_was_asked(ask: Any, message: str) -> None:
    with recording(), pytest.raises(Unsupported, match=message):
        ask(array("N", "D"))


def test_numpy_itself_works_on_symbolic_arrays() -> None:
    x = array("N", "D")
    for found, expected in (
        (numpy.exp(x), np.exp(x)),
        (numpy.sum(x, axis=0), x.sum(0)),
        (numpy.matmul(x, x.T), x @ x.T),
        (numpy.float64(2) * x, 2 * x),
        (numpy.maximum(x, numpy.zeros(())), np.maximum(x, 0)),
        (numpy.linalg.norm(x), np.linalg.norm(x)),
        (numpy.array([1.0, 2.0]) + x[:, :1], np.array([1.0, 2.0]) + x[:, :1]),
    ):
        assert isinstance(found, Array)
        assert found.shape == expected.shape
    target = np.zeros_like(x)
    numpy.add(x, 1, out=target)
    numpy.add.at(target, numpy.array([0]), 1)
    assert "x[" in repr(target)


def test_constants_and_types() -> None:
    assert np.newaxis is None
    assert "pi" in repr(np.pi)
    assert MODULES["math"].pi.scalar_term is np.pi.scalar_term
    assert np.float32 is np.float32
    assert array("N").dtype == np.float64
    assert isinstance(array("N"), np.ndarray)
    assert np.ndarray[Any, Any] is np.ndarray
    assert np.issubdtype(array("N").dtype, np.floating)
    assert np.ndim(3.0) == 0
    with np.errstate(divide="ignore"):
        pass


def test_torchs_conventions() -> None:
    x = array("N", "D")
    with recording(torch=True):
        biased, unbiased = x.var(dim=1, unbiased=False), x.var(dim=1)
        assert repr(biased) != repr(unbiased)
        assert "(D - 1)" in repr(unbiased)
        values, indices = x.max(dim=1, keepdim=True)
        assert values.shape == (x.shape[0], 1)
        with pytest.raises(Unsupported, match="largest"):
            indices.shape
        assert x.view(-1, x.shape[1]).shape == x.shape
        assert x.unsqueeze(1).permute(2, 0, 1).shape == (x.shape[1], x.shape[0], 1)
        assert torch.cat([x, x], dim=1).shape == (x.shape[0], 2 * x.shape[1])
        assert repr(functional.relu(x)) == repr(x.clamp(min=0))
        assert (x.size(0), x.size(), x.numel(), x.dim()) == (x.shape[0], x.shape, x.shape[0] * x.shape[1], 2)
        assert x.transpose(-2, -1).shape == x.new_zeros(x.size(1), x.size(0)).shape
        assert (x > 0).to(x.dtype).kind == "float"
        assert repr(x.masked_fill(x > 0, 2.0)) == repr(torch.where(x > 0, 2.0, x))
        assert repr(x.t()) == repr(x.T) == repr(torch.permute(x, (1, 0)))
        assert repr(x.movedim(0, 1)) == repr(x.swapdims(0, 1)) == repr(x.T)
        assert x.expand(2, -1, -1).shape == (2, *x.shape)
        assert x[0].expand_as(x).shape == x.shape
        assert [part.shape for part in x.chunk(1, dim=1)] == [x.shape]
        assert repr(torch.bmm(x[None], x.T[None])) == repr(torch.mm(x, x.t())[None])
        assert x.detach().cpu().contiguous().double().ndimension() == 2
        assert (x > 0).long().kind == (x > 0).type_as(torch.zeros(1, dtype=torch.int64)).kind == "int"
        assert repr(x.repeat_interleave(2, dim=1)) == repr(np.repeat(x, 2, axis=1))
        assert torch.as_tensor(x) is x
        z = torch.ones(2).zero_()
        assert repr(z.fill_(3.0).sub_(1.0).div_(2.0)) == repr(torch.ones(2))
        assert repr(z.copy_(x[0, 0]).clamp_(min=0)) == repr(torch.relu(x[0, 0]).expand(2))
        y = x.clone()
        y.mul_(2).add_(1)
        assert repr(y) == repr(x * 2 + 1)
    with recording():
        assert "(D - 1)" not in repr(x.var(1))


def test_random_numbers_are_unknown_but_fixed() -> None:
    x = array("N", "D")
    with recording() as notes:
        mask = (np.random.rand(*x.shape) < 0.5) / 0.5
        again = np.random.randn(x.shape[0])
        coin = np.random.binomial(1, 0.5, size=x.shape)
    assert mask.shape == x.shape
    assert again.shape == x.shape[:1]
    assert coin.kind == "int"
    assert list(notes.opaque) == ["random1", "random2", "mask3"]
    assert notes.opaque["mask3"][0].kind == "bool"
    assert len(notes.assumptions) == 3


def test_conventions_at_kinks_are_noted() -> None:
    x = array("N")
    with recording() as notes:
        for compared in (x > 0, x >= 0, array("N", kind="int") > 1):
            assert compared.kind == "bool"
    assert notes.kinks == [
        "a comparison with > is false where both sides are equal",
        "a comparison with >= is true where both sides are equal",
    ]


def test_a_duplicate_row_is_an_error() -> None:
    with pytest.raises(UsageError, match="two rows"):
        numpy_function("sum")(lambda x: x)


def test_out_and_dtype_are_served_for_every_function() -> None:
    def code(np: Any, x: Any) -> Any:
        r = np.zeros(x.shape[0])
        s = np.einsum("nd->n", x, out=r)
        t = np.sum(x, axis=1, dtype=np.float64)
        np.matmul(x, np.ones(x.shape[1]), out=s)
        return r + t

    agree(code, {"x": "N D"})


def test_scalar_functions_of_python() -> None:
    x = array("N", "D")
    assert BUILTINS["abs"](-3) == 3
    assert BUILTINS["max"](2, 5) == 5
    assert repr(BUILTINS["max"](x[0, 0], 0)) == repr(np.maximum(x[0, 0], 0))
    assert BUILTINS["sum"](x).shape == x.shape[1:]
    assert BUILTINS["float"]("1.5") == 1.5
    assert BUILTINS["round"](2.5) == 2


def library(code: Any, expected: Any, shapes: dict[str, str]) -> None:
    """Library functions against NumPy code for their definitions."""
    agree(lambda module, *arrays: (expected if module is numpy else code)(*arrays), shapes)


def test_functions_of_scipy() -> None:
    special, signal, stats = MODULES["scipy.special"], MODULES["scipy.signal"], MODULES["scipy.stats"]
    library(special.expit, scipy.special.expit, {"x": "N D"})
    library(special.erf, scipy.special.erf, {"x": "N D"})
    library(special.xlogy, scipy.special.xlogy, {"x": "N positive", "y": "N positive"})
    library(lambda x: special.logsumexp(x, axis=1), lambda x: scipy.special.logsumexp(x, axis=1), {"x": "N D"})
    library(lambda x: special.softmax(x, axis=1), lambda x: scipy.special.softmax(x, axis=1), {"x": "N D"})
    library(stats.norm.cdf, scipy.stats.norm.cdf, {"x": "N"})
    library(stats.norm.pdf, scipy.stats.norm.pdf, {"x": "N"})
    for mode in ("full", "valid"):
        shapes = {"x": "4 5", "y": "2 3"}
        library(partial(signal.correlate2d, mode=mode), partial(scipy.signal.correlate2d, mode=mode), shapes)
        library(partial(signal.convolve2d, mode=mode), partial(scipy.signal.convolve2d, mode=mode), shapes)


def test_functions_of_neural_libraries() -> None:
    def gelu(x: Any) -> Any:
        return x * scipy.stats.norm.cdf(x)

    def cross_entropy(x: Any, y: Any) -> Any:
        return -numpy.mean(scipy.special.log_softmax(x, axis=1)[numpy.arange(len(y)), y])

    def layer_norm(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 0.5)

    library(lambda x: functional.gelu(x, approximate="none"), gelu, {"x": "N"})
    library(functional.cross_entropy, cross_entropy, {"x": "N D", "y": "N int D"})
    library(lambda x: functional.layer_norm(x, (x.shape[-1],), eps=0.5), layer_norm, {"x": "N D"})
    library(lambda x: functional.leaky_relu(x, 0.1), lambda x: numpy.where(x > 0, x, 0.1 * x), {"x": "N"})
    library(functional.elu, lambda x: numpy.where(x > 0, x, numpy.expm1(x)), {"x": "N"})
    library(functional.linear, lambda x, w, b: x @ w.T + b, {"x": "N D", "w": "M D", "b": "M"})
    library(functional.mse_loss, lambda x, y: numpy.mean((x - y) ** 2), {"x": "N D", "y": "N D"})
    library(functional.embedding, lambda y, w: w[y], {"y": "N M int D", "w": "D H"})
    library(lambda x: functional.normalize(x, dim=1), lambda x: x / numpy.linalg.norm(x, axis=1, keepdims=True),
            {"x": "N D"})  # fmt: skip


def test_updates_in_the_manner_of_jax() -> None:
    def expected(x: Any, y: Any) -> Any:
        z, a = x.copy(), x.copy()
        z[0] = 5.0
        numpy.add.at(a, y, 1.0)
        return z, a, x

    library(lambda x, y: (x.at[0].set(5.0), x.at[y].add(1.0), x), expected, {"x": "N D", "y": "M int N"})


def test_generators_of_random_numbers() -> None:
    with recording() as notes:
        rng = np.random.default_rng(3)
        assert rng.standard_normal((2, 3)).shape == (2, 3)
        with pytest.raises(Unsupported, match="shuffle"):
            rng.shuffle([1])
    assert list(notes.opaque) == ["random1"]
