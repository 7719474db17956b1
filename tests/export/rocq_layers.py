"""Layers built by hand from terms, with their gradients: what the certificates of Coq are tested on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symres.kernel.terms import Apply, Entry, Fun, Iverson, Lam, Maximum, Size, Sum, Tensor, Term, Var, delta
from symres.language.certificate import GradientClaim, certificate
from symres.language.functions import relu, step
from symres.language.program import Definition, Program, Value

B, D, H, C = Size("B"), Size("D"), Size("H"), Size("C")
HALF = Fraction(1, 2)


def total(dim: Term, body: Callable[[Var], Term], name: str = "j") -> Term:
    """The sum over an index."""
    var = Var(name, dim)
    return Sum(var, body(var))


def mean(dim: Term, body: Callable[[Var], Term], name: str = "j") -> Term:
    """The mean over an index."""
    return total(dim, body, name) / dim


@dataclass
class Layer:
    """A program in the making, and the claims about it."""

    name: str
    program: Program = field(init=False)
    upstream: dict[str, Tensor] = field(default_factory=dict)
    gradients: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program = Program(self.name)

    def input(self, name: str, *dims: Term, kind: str = "real", bound: Term | None = None) -> Tensor:
        tensor = Tensor(name, dims, kind, bound)
        self.program.inputs[name] = tensor
        return tensor

    def let(self, name: str, dims: tuple[Term, ...], body: Callable[..., Term]) -> Tensor:
        variables = index(dims)
        tensor = Tensor(name, dims)
        axes = tuple((dim,) for dim in dims)
        self.program.definitions[tensor] = Definition(tensor, axes, variables, body(*variables))
        return tensor

    def output(self, tensor: Tensor) -> Tensor:
        variables = index(tensor.dims)
        name = tensor.name
        self.program.outputs[name] = Value(tuple((d,) for d in tensor.dims), variables, Entry(tensor, variables))
        g = Tensor("g", tensor.dims)
        self.upstream[name] = g
        return g

    def claim(self, name: str, body: Callable[..., Term]) -> None:
        dims = self.program.inputs[name].dims
        variables = index(dims)
        self.gradients[name] = Value(tuple((d,) for d in dims), variables, body(*variables))

    def document(self) -> dict[str, Any]:
        """The certificate of the claimed gradients."""
        outputs, upstream = tuple(self.upstream), tuple(tensor.name for tensor in self.upstream.values())
        claims = [
            GradientClaim(f"gradient-{name}", outputs, upstream, name, value.vars, value.body)
            for name, value in self.gradients.items()
        ]
        return certificate(self.name, "gradient", f"Gradients of {self.name}", self.program, claims)


NAMES = {"B": "b", "D": "i", "H": "h", "C": "c", "M": "m"}


def index(dims: tuple[Term, ...]) -> tuple[Var, ...]:
    """One index variable for each dimension."""
    return tuple(Var(NAMES.get(getattr(dim, "name", ""), "k"), dim) for dim in dims)


def statistics(layer: Layer, x: Tensor, n: Term, entry: Callable[[Var, Var], Term], dim: Term) -> tuple[Tensor, ...]:
    """Mean and reciprocal standard deviation over ``n`` for each index of ``dim``."""
    eps = layer.input("eps", kind="positive")
    mu = layer.let("mu", (dim,), lambda k: mean(n, lambda j: entry(k, j)))
    var = layer.let("var", (dim,), lambda k: mean(n, lambda j: (entry(k, j) - mu(k)) ** 2))
    rstd = layer.let("rstd", (dim,), lambda k: (var(k) + eps()) ** -HALF)
    return mu, rstd


def layer_norm() -> Layer:
    """y = γ x̂ + β over the last axis, three-term backward."""
    layer = Layer("layernorm_backward")
    x, gamma, beta = layer.input("x", B, D), layer.input("gamma", D), layer.input("beta", D)
    mu, rstd = statistics(layer, x, D, lambda b, j: x(b, j), B)
    xhat = layer.let("xhat", (B, D), lambda b, i: (x(b, i) - mu(b)) * rstd(b))
    y = layer.let("y", (B, D), lambda b, i: gamma(i) * xhat(b, i) + beta(i))
    g = layer.output(y)
    gh = lambda b, i: gamma(i) * g(b, i)  # noqa: E731
    layer.claim(
        "x",
        lambda b, i: (
            rstd(b) * (gh(b, i) - mean(D, lambda j: gh(b, j)) - xhat(b, i) * mean(D, lambda j: gh(b, j) * xhat(b, j)))
        ),
    )
    layer.claim("gamma", lambda i: total(B, lambda b: g(b, i) * xhat(b, i), "b"))
    layer.claim("beta", lambda i: total(B, lambda b: g(b, i), "b"))
    return layer


def batch_norm() -> Layer:
    """Training mode over [B, D], with the backward pass fused as people write it."""
    layer = Layer("batchnorm_backward")
    x, gamma, beta = layer.input("x", B, D), layer.input("gamma", D), layer.input("beta", D)
    mu, rstd = statistics(layer, x, B, lambda i, b: x(b, i), D)
    xhat = layer.let("xhat", (B, D), lambda b, i: (x(b, i) - mu(i)) * rstd(i))
    y = layer.let("y", (B, D), lambda b, i: gamma(i) * xhat(b, i) + beta(i))
    g = layer.output(y)
    layer.claim(
        "x",
        lambda b, i: (
            (1 / B)
            * gamma(i)
            * rstd(i)
            * (B * g(b, i) - total(B, lambda c: g(c, i)) - xhat(b, i) * total(B, lambda c: g(c, i) * xhat(c, i)))
        ),
    )
    layer.claim("gamma", lambda i: total(B, lambda b: g(b, i) * xhat(b, i), "b"))
    layer.claim("beta", lambda i: total(B, lambda b: g(b, i), "b"))
    return layer


def batch_norm_staged() -> Layer:
    """The ten-line backward pass, one local derivative a line, its intermediates inlined."""
    layer = Layer("batchnorm_staged")
    x, gamma = layer.input("x", B, D), layer.input("gamma", D)
    eps = layer.input("eps", kind="positive")
    mu = layer.let("mu", (D,), lambda i: total(B, lambda b: x(b, i), "b") * (1 / B))
    xc = layer.let("centred", (B, D), lambda b, i: x(b, i) - mu(i))
    var = layer.let("var", (D,), lambda i: total(B, lambda b: xc(b, i) ** 2, "b") * (1 / B))
    std = layer.let("std", (D,), lambda i: (var(i) + eps()) ** HALF)
    inv = layer.let("inv", (D,), lambda i: 1 / std(i))
    unit = layer.let("unit", (B, D), lambda b, i: xc(b, i) * inv(i))
    y = layer.let("y", (B, D), lambda b, i: gamma(i) * unit(b, i))
    g = layer.output(y)

    def dx(b: Var, i: Var) -> Term:
        dinv = total(B, lambda c: g(c, i) * gamma(i) * xc(c, i))
        dstd = -1 / std(i) ** 2 * dinv
        dvar = HALF * (var(i) + eps()) ** -HALF * dstd
        dxc = lambda c: g(c, i) * gamma(i) * inv(i) + 2 * xc(c, i) * ((1 / B) * dvar)  # noqa: E731
        return dxc(b) - (1 / B) * total(B, dxc)

    layer.claim("x", dx)
    layer.claim("gamma", lambda i: total(B, lambda b: g(b, i) * unit(b, i), "b"))
    return layer


def batch_norm_unbiased() -> Layer:
    """The variance divided by B - 1, which asks for two samples."""
    layer = Layer("batchnorm_unbiased")
    x = layer.input("x", B, D)
    eps = layer.input("eps", kind="positive")
    mu = layer.let("mu", (D,), lambda i: mean(B, lambda b: x(b, i), "b"))
    var = layer.let("var", (D,), lambda i: total(B, lambda b: (x(b, i) - mu(i)) ** 2, "b") / (B - 1))
    std = layer.let("std", (D,), lambda i: (var(i) + eps()) ** HALF)
    unit = layer.let("unit", (B, D), lambda b, i: (x(b, i) - mu(i)) / std(i))
    g = layer.output(unit)
    layer.claim(
        "x",
        lambda b, i: (
            (g(b, i) - mean(B, lambda c: g(c, i)) - unit(b, i) * total(B, lambda c: g(c, i) * unit(c, i)) / (B - 1))
            / std(i)
        ),
    )
    return layer


def rms_norm() -> Layer:
    """y = w x / sqrt(mean x² + ε)."""
    layer = Layer("rmsnorm_backward")
    x, w = layer.input("x", B, D), layer.input("w", D)
    eps = layer.input("eps", kind="positive")
    rms = layer.let("rms", (B,), lambda b: (mean(D, lambda j: x(b, j) ** 2) + eps()) ** HALF)
    y = layer.let("y", (B, D), lambda b, i: w(i) * x(b, i) / rms(b))
    g = layer.output(y)
    layer.claim(
        "x",
        lambda b, i: w(i) * g(b, i) / rms(b) - x(b, i) * mean(D, lambda j: w(j) * g(b, j) * x(b, j)) / rms(b) ** 3,
    )
    layer.claim("w", lambda i: total(B, lambda b: g(b, i) * x(b, i) / rms(b), "b"))
    return layer


def linear() -> Layer:
    """y = x W + b."""
    layer = Layer("linear_backward")
    x, w, bias = layer.input("x", B, D), layer.input("W", D, H), layer.input("bias", H)
    y = layer.let("y", (B, H), lambda b, h: total(D, lambda k: x(b, k) * w(k, h), "k") + bias(h))
    g = layer.output(y)
    layer.claim("x", lambda b, i: total(H, lambda h: g(b, h) * w(i, h), "h"))
    layer.claim("W", lambda i, h: total(B, lambda b: x(b, i) * g(b, h), "b"))
    layer.claim("bias", lambda h: total(B, lambda b: g(b, h), "b"))
    return layer


def relu_block() -> Layer:
    """y = r(x + W₂ r(W₁ x + b₁) + b₂), ReLU after the addition."""
    layer = Layer("relu_block_backward")
    x = layer.input("x", B, D)
    w1, b1, w2, b2 = layer.input("W1", D, H), layer.input("b1", H), layer.input("W2", H, D), layer.input("b2", D)
    a = layer.let("a", (B, H), lambda b, h: total(D, lambda k: x(b, k) * w1(k, h), "k") + b1(h))
    r = layer.let("r", (B, H), lambda b, h: relu(a(b, h)))
    s = layer.let("s", (B, D), lambda b, i: x(b, i) + total(H, lambda h: r(b, h) * w2(h, i), "h") + b2(i))
    y = layer.let("y", (B, D), lambda b, i: relu(s(b, i)))
    g = layer.output(y)
    ds = lambda b, i: g(b, i) * step(s(b, i))  # noqa: E731
    da = lambda b, h: total(D, lambda k: ds(b, k) * w2(h, k), "k") * step(a(b, h))  # noqa: E731
    layer.claim("x", lambda b, i: ds(b, i) + total(H, lambda h: da(b, h) * w1(i, h), "h"))
    layer.claim("W1", lambda i, h: total(B, lambda b: x(b, i) * da(b, h), "b"))
    layer.claim("b1", lambda h: total(B, lambda b: da(b, h), "b"))
    layer.claim("W2", lambda h, i: total(B, lambda b: r(b, h) * ds(b, i), "b"))
    layer.claim("b2", lambda i: total(B, lambda b: ds(b, i), "b"))
    return layer


def whole(*arguments: Callable[..., Term] | tuple[tuple[Term, ...], Callable[..., Term]]) -> tuple[Lam, ...]:
    """Whole tensors given entry by entry."""
    found = []
    for dims, body in arguments:  # type: ignore[misc]
        variables = index(dims)
        found.append(Lam(variables, body(*variables)))
    return tuple(found)


def residual() -> Layer:
    """y = x + F(x, W) with a general differentiable vector function F."""
    layer = Layer("residual_backward")
    x, w = layer.input("x", D), layer.input("W", H)
    arguments = whole(((D,), lambda i: x(i)), ((H,), lambda h: w(h)))
    y = layer.let("y", (D,), lambda i: x(i) + Apply("F", (D,), (i,), arguments))
    g = layer.output(y)
    jacobian = lambda k, at, j: Apply("F", (D,), (k,), arguments, ((at, (j,)),))  # noqa: E731
    layer.claim("x", lambda i: g(i) + total(D, lambda k: g(k) * jacobian(k, 0, i), "k"))
    layer.claim("W", lambda h: total(D, lambda k: g(k) * jacobian(k, 1, h), "k"))
    return layer


def elementwise() -> Layer:
    """y = f(x) for an unknown differentiable f."""
    layer = Layer("elementwise_backward")
    x = layer.input("x", B, D)
    y = layer.let("y", (B, D), lambda b, i: Fun("f", x(b, i)) * Fun("tanh", x(b, i)))
    g = layer.output(y)
    layer.claim(
        "x",
        lambda b, i: (
            g(b, i) * (Fun("f'", x(b, i)) * Fun("tanh", x(b, i)) + Fun("f", x(b, i)) * (1 - Fun("tanh", x(b, i)) ** 2))
        ),
    )
    return layer


def softmax() -> Layer:
    """p = exp(x) / Σ exp(x)."""
    layer = Layer("softmax_backward")
    x = layer.input("x", B, D)
    z = layer.let("Z", (B,), lambda b: total(D, lambda j: Fun("exp", x(b, j))))
    p = layer.let("p", (B, D), lambda b, i: Fun("exp", x(b, i)) / z(b))
    g = layer.output(p)
    layer.claim("x", lambda b, i: p(b, i) * (g(b, i) - total(D, lambda j: g(b, j) * p(b, j))))
    return layer


def log_softmax() -> Layer:
    """y = x - log Σ exp(x)."""
    layer = Layer("log_softmax_backward")
    x = layer.input("x", B, D)
    y = layer.let("y", (B, D), lambda b, i: x(b, i) - Fun("log", total(D, lambda j: Fun("exp", x(b, j)))))
    g = layer.output(y)
    p = lambda b, i: Fun("exp", x(b, i)) / total(D, lambda j: Fun("exp", x(b, j)))  # noqa: E731
    layer.claim("x", lambda b, i: g(b, i) - p(b, i) * total(D, lambda j: g(b, j)))
    return layer


def cross_entropy() -> Layer:
    """The mean of -log p at integer labels."""
    layer = Layer("cross_entropy_backward")
    x = layer.input("x", B, C)
    t = layer.input("label", B, kind="int", bound=C)
    z = layer.let("Z", (B,), lambda b: total(C, lambda c: Fun("exp", x(b, c)), "c"))
    p = layer.let("p", (B, C), lambda b, c: Fun("exp", x(b, c)) / z(b))
    y = layer.let("loss", (), lambda: -mean(B, lambda b: Fun("log", p(b, t(b))), "b"))
    g = layer.output(y)
    layer.claim("x", lambda b, c: g() * (p(b, c) - delta(c, t(b))) / B)
    return layer


def softmax_shifted() -> Layer:
    """Softmax after subtracting the largest entry, under a causal mask."""
    layer = Layer("softmax_shifted")
    x = layer.input("x", B, B)
    causal = lambda b, j: Iverson(">=", b - j)  # noqa: E731
    top = layer.let("top", (B,), lambda b: Maximum(j := Var("j", B), x(b, j)))
    e = layer.let("e", (B, B), lambda b, j: causal(b, j) * Fun("exp", x(b, j) - top(b)))
    p = layer.let("p", (B, B), lambda b, j: e(b, j) / total(B, lambda k: e(b, k)))
    g = layer.output(p)
    layer.claim("x", lambda b, i: p(b, i) * (g(b, i) - total(B, lambda j: g(b, j) * p(b, j))))
    return layer


def cross_entropy_soft() -> Layer:
    """Cross-entropy with the labels as weights, on log-probabilities."""
    layer = Layer("cross_entropy_soft")
    x, t = layer.input("x", B, C), layer.input("target", B, C)
    z = layer.let("Z", (B,), lambda b: total(C, lambda c: Fun("exp", x(b, c)), "c"))
    y = layer.let("loss", (B,), lambda b: -total(C, lambda c: t(b, c) * (x(b, c) - Fun("log", z(b))), "c"))
    g = layer.output(y)
    layer.claim("x", lambda b, c: g(b) * (Fun("exp", x(b, c)) / z(b) * total(C, lambda k: t(b, k)) - t(b, c)))
    return layer


def sublayer(pre: bool) -> Layer:
    """x + F(LN(x)) or LN(x + F(x)) with a general F on each row, γ and β."""
    layer = Layer("preln_backward" if pre else "postln_backward")
    x, gamma, beta = layer.input("x", B, D), layer.input("gamma", D), layer.input("beta", D)

    def f(b: Term, i: Term, of: Tensor, wrt: Term | None = None) -> Term:
        arguments = whole(((D,), lambda j: of(b, j)))
        return Apply("F", (D,), (i,), arguments, () if wrt is None else ((0, (wrt,)),))

    if pre:
        source = x
    else:
        source = layer.let("s", (B, D), lambda b, i: x(b, i) + f(b, i, x))
    mu, rstd = statistics(layer, source, D, lambda b, j: source(b, j), B)
    xhat = layer.let("xhat", (B, D), lambda b, i: (source(b, i) - mu(b)) * rstd(b))
    n = layer.let("n", (B, D), lambda b, i: gamma(i) * xhat(b, i) + beta(i))
    y = layer.let("y", (B, D), lambda b, i: x(b, i) + f(b, i, n)) if pre else n
    g = layer.output(y)

    def dn(b: Term, i: Term) -> Term:
        return total(D, lambda k: g(b, k) * f(b, k, n, i), "k") if pre else g(b, i)

    def ds(b: Term, i: Term) -> Term:
        gh = lambda j: gamma(j) * dn(b, j)  # noqa: E731
        return rstd(b) * (gh(i) - mean(D, gh) - xhat(b, i) * mean(D, lambda j: gh(j) * xhat(b, j)))

    if pre:
        layer.claim("x", lambda b, i: g(b, i) + ds(b, i))
    else:
        layer.claim("x", lambda b, i: ds(b, i) + total(D, lambda k: ds(b, k) * f(b, k, x, i), "k"))
    layer.claim("gamma", lambda i: total(B, lambda b: dn(b, i) * xhat(b, i), "b"))
    layer.claim("beta", lambda i: total(B, lambda b: dn(b, i), "b"))
    return layer


def softplus() -> Layer:
    """log(1 + exp(x)), with the derivative 1 / (1 + exp(-x))."""
    layer = Layer("softplus_backward")
    x = layer.input("x", B, D)
    y = layer.let("y", (B, D), lambda b, i: Fun("log", 1 + Fun("exp", x(b, i))))
    g = layer.output(y)
    layer.claim("x", lambda b, i: g(b, i) / (1 + Fun("exp", -x(b, i))))
    return layer


def silu() -> Layer:
    """x σ(x), with σ' = σ (1 - σ)."""
    layer = Layer("silu_backward")
    x = layer.input("x", B, D)
    y = layer.let("y", (B, D), lambda b, i: x(b, i) * Fun("sigmoid", x(b, i)))
    g = layer.output(y)
    s = lambda b, i: Fun("sigmoid", x(b, i))  # noqa: E731
    layer.claim("x", lambda b, i: g(b, i) * (s(b, i) + x(b, i) * s(b, i) * (1 - s(b, i))))
    return layer


LAYERS: dict[str, Callable[[], Layer]] = {
    "linear": linear,
    "layer_norm": layer_norm,
    "batch_norm": batch_norm,
    "batch_norm_staged": batch_norm_staged,
    "batch_norm_unbiased": batch_norm_unbiased,
    "rms_norm": rms_norm,
    "relu_block": relu_block,
    "residual": residual,
    "elementwise": elementwise,
    "softplus": softplus,
    "silu": silu,
    "softmax": softmax,
    "softmax_shifted": softmax_shifted,
    "log_softmax": log_softmax,
    "cross_entropy": cross_entropy,
    "cross_entropy_soft": cross_entropy_soft,
    "pre_ln": lambda: sublayer(True),
    "post_ln": lambda: sublayer(False),
}
