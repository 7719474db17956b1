"""Layers and their gradients, written as terms by hand from the textbooks: what generated code is tested on.

Each function gives ``(program, adjoints, gradients, reference)``; the reference is the layer in plain NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symres.kernel.terms import Fun, Iverson, Maximum, Num, Size, Sum, Tensor, Term, Var, delta, power, sum_
from symres.language.constants import INFINITY
from symres.language.formula import adjoint
from symres.language.functions import exp, relu, step
from symres.language.program import Definition, Program, Value

B, D, H, N, T = map(Size, "BDHNT")


@dataclass
class Layer:
    """A layer under construction."""

    name: str
    reference: Callable[..., Any]
    program: Program = field(init=False)
    adjoints: list[Definition] = field(default_factory=list)
    gradients: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program = Program(self.name)

    def input(self, name: str, *dims: Term, kind: str = "real", bound: Term | None = None) -> Tensor:
        tensor = Tensor(name, dims, kind, bound)
        self.program.inputs[name] = tensor
        self.program.axes[name] = tuple((dim,) for dim in dims)
        return tensor

    def define(self, name: str, dims: Sequence[Term], body: Callable[..., Term]) -> Tensor:
        tensor = Tensor(name, tuple(dims))
        self.program.definitions[tensor] = _definition(tensor, body)
        return tensor

    def output(self, name: str, dims: Sequence[Term], body: Callable[..., Term]) -> Tensor:
        """The output; returns the upstream gradient."""
        definition = _definition(Tensor(name, tuple(dims)), body)
        self.program.outputs[name] = Value(definition.axes, definition.vars, definition.body)
        return adjoint(definition.tensor)

    def adjoint(self, tensor: Tensor, body: Callable[..., Term]) -> Tensor:
        self.adjoints.append(_definition(adjoint(tensor), body))
        return adjoint(tensor)

    def gradient(self, tensor: Tensor, body: Callable[..., Term]) -> None:
        definition = _definition(tensor, body)
        self.gradients[tensor.name] = Value(definition.axes, definition.vars, definition.body)


def _definition(tensor: Tensor, body: Callable[..., Term]) -> Definition:
    variables = tuple(Var("ijkl"[k], dim) for k, dim in enumerate(tensor.dims))
    return Definition(tensor, tuple((dim,) for dim in tensor.dims), variables, body(*variables))


def total(dim: Term, body: Callable[[Var], Term]) -> Term:
    """The sum over a new index."""
    var = Var("s", dim)
    return sum_(var, body(var))


def mean(dim: Term, body: Callable[[Var], Term]) -> Term:
    """The mean over a new index."""
    return power(dim, -1) * total(dim, body)


def linear() -> Layer:
    layer = Layer("linear", lambda x, w, b: x @ w + b)
    x, w, b = layer.input("x", N, D), layer.input("w", D, H), layer.input("b", H)
    g = layer.output("y", (N, H), lambda n, h: total(D, lambda d: x(n, d) * w(d, h)) + b(h))
    layer.gradient(x, lambda n, d: total(H, lambda h: g(n, h) * w(d, h)))
    layer.gradient(w, lambda d, h: total(N, lambda n: x(n, d) * g(n, h)))
    layer.gradient(b, lambda h: total(N, lambda n: g(n, h)))
    return layer


def linear_over_time() -> Layer:
    layer = Layer("linear_over_time", lambda x, w: x @ w.T)
    x, w = layer.input("x", B, T, D), layer.input("w", H, D)
    g = layer.output("y", (B, T, H), lambda b, t, h: total(D, lambda d: w(h, d) * x(b, t, d)))
    layer.gradient(x, lambda b, t, d: total(H, lambda h: g(b, t, h) * w(h, d)))
    layer.gradient(w, lambda h, d: total(B, lambda b: total(T, lambda t: g(b, t, h) * x(b, t, d))))
    return layer


def layer_norm() -> Layer:
    def reference(x: Any, gamma: Any, beta: Any, eps: Any) -> Any:
        mu = x.mean(-1, keepdims=True)
        return (x - mu) / np.sqrt(((x - mu) ** 2).mean(-1, keepdims=True) + eps) * gamma + beta

    layer = Layer("layer_norm", reference)
    x, gamma, beta = layer.input("x", B, D), layer.input("gamma", D), layer.input("beta", D)
    eps = layer.input("eps", kind="positive")
    mu = layer.define("mu", (B,), lambda b: mean(D, lambda d: x(b, d)))
    var = layer.define("var", (B,), lambda b: mean(D, lambda d: (x(b, d) - mu(b)) ** 2))
    rho = layer.define("rstd", (B,), lambda b: power(var(b) + eps(), Fraction(-1, 2)))
    hat = layer.define("x̂", (B, D), lambda b, d: (x(b, d) - mu(b)) * rho(b))
    g = layer.output("y", (B, D), lambda b, d: gamma(d) * hat(b, d) + beta(d))
    h = layer.adjoint(hat, lambda b, d: g(b, d) * gamma(d))
    layer.gradient(
        x,
        lambda b, d: (
            rho(b) * (h(b, d) - mean(D, lambda k: h(b, k)) - hat(b, d) * mean(D, lambda k: h(b, k) * hat(b, k)))
        ),
    )
    layer.gradient(gamma, lambda d: total(B, lambda b: g(b, d) * hat(b, d)))
    layer.gradient(beta, lambda d: total(B, lambda b: g(b, d)))
    return layer


def batch_norm() -> Layer:
    """The gradient unfolded, in the six terms of the chain rule: everything stays inside one expression."""

    def reference(x: Any, gamma: Any, eps: Any) -> Any:
        return gamma * (x - x.mean(0)) / np.sqrt(((x - x.mean(0)) ** 2).mean(0) + eps)

    layer = Layer("batch_norm", reference)
    x, gamma, eps = layer.input("x", N, D), layer.input("gamma", D), layer.input("eps", kind="positive")
    mu = layer.define("mu", (D,), lambda d: mean(N, lambda n: x(n, d)))
    var = layer.define("σ²", (D,), lambda d: mean(N, lambda n: (x(n, d) - mu(d)) ** 2) + eps())
    g = layer.output("y", (N, D), lambda n, d: gamma(d) * (x(n, d) - mu(d)) * power(var(d), Fraction(-1, 2)))
    dvar = layer.adjoint(
        var,
        lambda d: (
            Fraction(-1, 2)
            * power(var(d), Fraction(-3, 2))
            * total(N, lambda n: g(n, d) * gamma(d) * (x(n, d) - mu(d)))
        ),
    )
    root = Fraction(-1, 2)
    dmu = layer.adjoint(
        mu,
        lambda d: (
            -total(N, lambda n: g(n, d) * gamma(d) * power(var(d), root))
            - dvar(d) * 2 * power(N, -1) * total(N, lambda n: x(n, d) - mu(d))
        ),
    )
    layer.gradient(
        x,
        lambda n, d: (
            g(n, d) * gamma(d) * power(var(d), root)
            + dvar(d) * 2 * power(N, -1) * (x(n, d) - mu(d))
            + power(N, -1) * dmu(d)
        ),
    )
    layer.gradient(gamma, lambda d: total(N, lambda n: g(n, d) * (x(n, d) - mu(d)) * power(var(d), root)))
    return layer


def residual_block() -> Layer:
    """ReLU after the addition, y = r(x + r(x U) W)."""
    layer = Layer("residual_block", lambda x, u, w: np.maximum(x + np.maximum(x @ u, 0) @ w, 0))
    x, u, w = layer.input("x", N, D), layer.input("u", D, H), layer.input("w", H, D)
    a = layer.define("a", (N, H), lambda n, h: total(D, lambda d: x(n, d) * u(d, h)))
    h = layer.define("h", (N, H), lambda n, k: relu(a(n, k)))
    s = layer.define("s", (N, D), lambda n, d: x(n, d) + total(H, lambda k: h(n, k) * w(k, d)))
    g = layer.output("y", (N, D), lambda n, d: relu(s(n, d)))
    ds = layer.adjoint(s, lambda n, d: g(n, d) * step(s(n, d)))
    da = layer.adjoint(a, lambda n, k: step(a(n, k)) * total(D, lambda d: ds(n, d) * w(k, d)))
    layer.gradient(x, lambda n, d: ds(n, d) + total(H, lambda k: da(n, k) * u(d, k)))
    layer.gradient(u, lambda d, k: total(N, lambda n: x(n, d) * da(n, k)))
    layer.gradient(w, lambda k, d: total(N, lambda n: h(n, k) * ds(n, d)))
    return layer


def softmax() -> Layer:
    def reference(x: Any) -> Any:
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    layer = Layer("softmax", reference)
    x = layer.input("x", N, D)
    k = Var("k", D)
    e = layer.define("e", (N, D), lambda n, d: exp(x(n, d) - Maximum(k, x(n, k))))
    p = layer.define("p", (N, D), lambda n, d: e(n, d) * power(total(D, lambda j: e(n, j)), -1))
    g = layer.output("y", (N, D), lambda n, d: p(n, d))
    # the Jacobian p_j (δ_jd − p_d), not multiplied out
    layer.gradient(x, lambda n, d: total(D, lambda j: g(n, j) * p(n, j) * (delta(j, d) - p(n, d))))
    return layer


def cross_entropy() -> Layer:
    def reference(x: Any, labels: Any) -> Any:
        return (np.log(np.exp(x).sum(1)) - x[np.arange(len(x)), labels]).mean()

    layer = Layer("cross_entropy", reference)
    x, labels = layer.input("x", N, D), layer.input("labels", N, kind="int", bound=D)
    z = layer.define("z", (N,), lambda n: total(D, lambda d: exp(x(n, d))))
    g = layer.output("y", (), lambda: mean(N, lambda n: Fun("log", z(n)) - x(n, labels(n))))
    layer.gradient(
        x,
        lambda n, d: (exp(x(n, d)) * power(z(n), -1) - Iverson("=", d - labels(n))) * power(N, -1) * g(),
    )
    return layer


def attention() -> Layer:
    """One head with a causal mask; the indices of queries and keys have the same range."""

    def reference(q: Any, k: Any, v: Any) -> Any:
        a = np.einsum("btd,bsd->bts", q, k) / np.sqrt(q.shape[-1])
        a = np.where(np.tri(q.shape[1]) > 0, a, -1e30)
        e = np.exp(a - a.max(-1, keepdims=True))
        return np.einsum("bts,bsh->bth", e / e.sum(-1, keepdims=True), v)

    layer = Layer("attention", reference)
    q, k, v = layer.input("q", B, T, D), layer.input("k", B, T, D), layer.input("v", B, T, H)
    scale = power(D, Fraction(-1, 2))

    def score(b: Term, t: Term, s: Term) -> Term:
        keep = Iverson(">=", t - s)
        return keep * scale * total(D, lambda d: q(b, t, d) * k(b, s, d)) - (1 - keep) * INFINITY()

    a = layer.define("a", (B, T, T), score)
    u = Var("u", T)
    e = layer.define("e", (B, T, T), lambda b, t, s: exp(a(b, t, s) - Maximum(u, a(b, t, u))))
    p = layer.define("p", (B, T, T), lambda b, t, s: e(b, t, s) * power(total(T, lambda r: e(b, t, r)), -1))
    g = layer.output("y", (B, T, H), lambda b, t, h: total(T, lambda s: p(b, t, s) * v(b, s, h)))
    dp = layer.adjoint(p, lambda b, t, s: total(H, lambda h: g(b, t, h) * v(b, s, h)))
    da = layer.adjoint(a, lambda b, t, s: p(b, t, s) * (dp(b, t, s) - total(T, lambda r: p(b, t, r) * dp(b, t, r))))
    layer.gradient(q, lambda b, t, d: scale * total(T, lambda s: da(b, t, s) * k(b, s, d)))
    layer.gradient(k, lambda b, s, d: scale * total(T, lambda t: da(b, t, s) * q(b, t, d)))
    layer.gradient(v, lambda b, s, h: total(T, lambda t: p(b, t, s) * g(b, t, h)))
    return layer


def convolution() -> Layer:
    """One channel, stride 2, one zero on each side: y_i = Σ_k x_{2i+k−1} w_k, for a kernel of size K and 2 M inputs."""
    M, K = Size("M"), Size("K")

    def reference(x: Any, w: Any) -> Any:
        wide = np.pad(x, ((0, 0), (1, len(w) + 1)))
        rows = x.shape[1] // 2
        return sum(wide[:, k : k + 2 * rows : 2] * w[k] for k in range(len(w)))

    layer = Layer("convolution", reference)
    x, w = layer.input("x", B, 2 * M), layer.input("w", K)
    layer.program.axes["x"] = ((B,), (2 * M,))
    g = layer.output("y", (B, M), lambda b, i: total(K, lambda k: x(b, 2 * i + k - 1) * w(k)))
    layer.gradient(
        x,
        lambda b, j: total(M, lambda i: total(K, lambda k: g(b, i) * w(k) * delta(2 * i + k - 1, j))),
    )
    layer.gradient(w, lambda k: total(B, lambda b: total(M, lambda i: g(b, i) * x(b, 2 * i + k - 1))))
    return layer


def group_norm() -> Layer:
    """Centred over groups: x of [N, G·K] regrouped to [N, G, K], scaled by a vector over G·K."""
    G, K = Size("G"), Size("K")

    def reference(x: Any, y: Any) -> Any:
        grouped = x.reshape(len(x), len(y), -1)
        return ((grouped - grouped.mean(-1, keepdims=True)) * y[:, None]).reshape(x.shape)

    layer = Layer("group_centre", reference)
    x, y = layer.input("x", N, G, K), layer.input("y", G)
    layer.program.axes["x"] = ((N,), (G, K))
    g = layer.output("z", (N, G, K), lambda n, a, k: (x(n, a, k) - mean(K, lambda j: x(n, a, j))) * y(a))
    out = layer.program.outputs["z"]
    layer.program.outputs["z"] = Value(((N,), (G, K)), out.vars, out.body)
    layer.gradient(x, lambda n, a, k: y(a) * (g(n, a, k) - mean(K, lambda j: g(n, a, j))))
    grad = layer.gradients["x"]
    layer.gradients["x"] = Value(((N,), (G, K)), grad.vars, grad.body)
    layer.gradient(
        y,
        lambda a: total(N, lambda n: total(K, lambda k: g(n, a, k) * (x(n, a, k) - mean(K, lambda j: x(n, a, j))))),
    )
    return layer


LAYERS = (
    linear,
    linear_over_time,
    layer_norm,
    batch_norm,
    residual_block,
    softmax,
    cross_entropy,
    attention,
    convolution,
    group_norm,
)
__all__ = ["LAYERS", "Layer", "Num", "Sum"]
