"""Layers and losses that libraries offer as one function: ``torch.nn.functional``, ``jax.nn``, ``scipy``."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Fun, Num, mul, power
from symres.language.constants import PI
from symres.language.functions import HALF, exp
from symres.trace import rules
from symres.trace.array import Array, as_array
from symres.trace.elementwise import elementwise
from symres.trace.registry import call, numpy_function
from symres.trace.signals import notes


@numpy_function("gelu")
def gelu(x: Any, approximate: Any = None) -> Array:
    """GELU by erf, or by tanh where ``approximate`` asks for it; JAX's default is tanh."""
    tanh = approximate in (True, "tanh") or (approximate is None and not notes().torch)
    return elementwise(lambda u: Fun("gelu_tanh" if tanh else "gelu", u), x, kind="float")


@numpy_function("leaky_relu")
def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """x where x > 0, else slope · x."""
    return call("where", call("greater", x, 0), x, call("multiply", negative_slope, x))


@numpy_function("elu")
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """x where x > 0, else α (exp x − 1)."""
    return call("where", call("greater", x, 0), x, call("multiply", alpha, call("expm1", x)))


@numpy_function("linear")
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x Wᵀ + b."""
    result = call("matmul", x, call("transpose", weight))
    return result if bias is None else call("add", result, bias)


@numpy_function("normalize")
def normalize(x: Any, p: Any = 2, axis: Any = 1, eps: Any = None) -> Any:
    """x over its norm; the guard against a norm of 0 is left out."""
    notes().assume("norms that are divided by are not 0")
    return call("true_divide", x, call("linalg.norm", x, p, axis, keepdims=True))


@numpy_function("layer_norm")
def layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: Any = 1e-5) -> Any:
    """(x − mean) / sqrt(var + eps), times the weight, plus the bias, over the last axes."""
    x = as_array(x)
    count = len(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else 1
    axis = tuple(range(x.ndim - count, x.ndim))
    centred = call("subtract", x, call("mean", x, axis, keepdims=True))
    spread = call("add", call("var", x, axis, 0, True), eps)
    result = call("multiply", centred, call("rsqrt", spread))
    result = result if weight is None else call("multiply", result, weight)
    return result if bias is None else call("add", result, bias)


@numpy_function("mse_loss")
def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """The squared error, reduced."""
    return _reduced(call("square", call("subtract", x, target)), reduction)


@numpy_function("nll_loss")
def nll_loss(log_probabilities: Any, labels: Any, reduction: str = "mean") -> Any:
    """−log p of the label, reduced."""
    scores = as_array(log_probabilities)
    rows = call("arange", scores.shape[0])
    return _reduced(call("negative", scores[rows, as_array(labels)]), reduction)


@numpy_function("cross_entropy")
def cross_entropy(scores: Any, labels: Any, reduction: str = "mean") -> Any:
    """−log softmax at the label, reduced."""
    return nll_loss(call("log_softmax", scores, 1), labels, reduction)


def _reduced(losses: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    if reduction not in ("mean", "sum"):
        raise Unsupported(f"a loss with reduction={reduction!r}")
    return call(reduction, losses)


@numpy_function("embedding")
def embedding(indices: Any, weight: Any) -> Any:
    """The rows of the weight."""
    return as_array(weight)[as_array(indices)]


@numpy_function("xlogy")
def xlogy(x: Any, y: Any) -> Any:
    """x log y."""
    return call("multiply", x, call("log", y))


@numpy_function("stats.norm.cdf")
def normal_cdf(x: Any) -> Array:
    """The distribution function of the standard normal law."""
    return elementwise(lambda u: mul(HALF, 1 + rules.named("erf")(u * power(2, -HALF))), x, kind="float")


@numpy_function("stats.norm.pdf")
def normal_pdf(x: Any) -> Array:
    """The density of the standard normal law."""
    return elementwise(lambda u: power(2 * PI(), -HALF) * exp(mul(Num(-HALF), power(u, 2))), x, kind="float")
