"""Layers written as programs by hand, for tests of the closed forms of their gradients."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symres.kernel.terms import Fun, Maximum, Size, Tensor, Term, Var, power, sum_
from symres.language.functions import exp
from symres.language.program import Definition, Program, Value

B, D, H, N, G, K, S = map(Size, "BDHNGKS")
HALF = Fraction(1, 2)
Body = Callable[..., Term]


class Layer:
    """A program under construction."""

    def __init__(self, name: str) -> None:
        self.program = Program(name)

    def input(self, name: str, *dims: Term, kind: str = "real") -> Tensor:
        tensor = Tensor(name, dims, kind)
        self.program.inputs[name] = tensor
        self.program.axes[name] = tuple((dim,) for dim in dims)
        return tensor

    def define(self, name: str, dims: tuple[Term, ...], body: Body) -> Tensor:
        tensor = Tensor(name, dims)
        variables = tuple(Var("bdij"[k], dim) for k, dim in enumerate(dims))
        self.program.definitions[tensor] = Definition(
            tensor, tuple((dim,) for dim in dims), variables, body(*variables)
        )
        return tensor

    def output(self, dims: tuple[Term, ...], body: Body) -> Program:
        variables = tuple(Var("bdij"[k], dim) for k, dim in enumerate(dims))
        self.program.outputs["y"] = Value(tuple((dim,) for dim in dims), variables, body(*variables))
        return self.program


def total(dim: Term, body: Body) -> Term:
    var = Var("s", dim)
    return sum_(var, body(var))


def mean(dim: Term, body: Body) -> Term:
    return power(dim, -1) * total(dim, body)


def softmax() -> Program:
    layer = Layer("softmax")
    x = layer.input("x", B, D)

    def largest(b: Var) -> Term:
        j = Var("j", D)
        return Maximum(j, x(b, j))

    m = layer.define("m", (B,), largest)
    e = layer.define("e", (B, D), lambda b, d: exp(x(b, d) - m(b)))
    s = layer.define("s", (B,), lambda b: total(D, lambda j: e(b, j)))
    p = layer.define("p", (B, D), lambda b, d: e(b, d) / s(b))
    return layer.output((B, D), lambda b, d: p(b, d))


def rms_norm() -> Program:
    """Nothing but the result has a name."""
    layer = Layer("rms_norm")
    x, w, eps = layer.input("x", B, D), layer.input("w", D), layer.input("eps", kind="positive")
    return layer.output((B, D), lambda b, d: x(b, d) / (mean(D, lambda j: x(b, j) ** 2) + eps()) ** HALF * w(d))


def layer_norm(centred: bool = False) -> Program:
    layer = Layer("layer_norm")
    x, gamma, beta = layer.input("x", B, D), layer.input("gamma", D), layer.input("beta", D)
    eps = layer.input("eps", kind="positive")
    mu = layer.define("mu", (B,), lambda b: mean(D, lambda j: x(b, j)))
    if centred:
        c = layer.define("c", (B, D), lambda b, d: x(b, d) - mu(b))
        std = layer.define("std", (B,), lambda b: (mean(D, lambda j: c(b, j) ** 2) + eps()) ** HALF)
        x_hat = layer.define("x_hat", (B, D), lambda b, d: c(b, d) / std(b))
    else:
        var = layer.define("var", (B,), lambda b: mean(D, lambda j: (x(b, j) - mu(b)) ** 2))
        rstd = layer.define("rstd", (B,), lambda b: 1 / (var(b) + eps()) ** HALF)
        x_hat = layer.define("x_hat", (B, D), lambda b, d: (x(b, d) - mu(b)) * rstd(b))
    return layer.output((B, D), lambda b, d: gamma(d) * x_hat(b, d) + beta(d))


def group_norm() -> Program:
    layer = Layer("group_norm")
    x, w = layer.input("x", N, G, K, S), layer.input("w", G, K)
    eps = layer.input("eps", kind="positive")

    def average(body: Body) -> Term:
        return 1 / (K * S) * total(K, lambda k: total(S, lambda s: body(k, s)))

    mu = layer.define("mu", (N, G), lambda n, g: average(lambda k, s: x(n, g, k, s)))
    var = layer.define("var", (N, G), lambda n, g: average(lambda k, s: (x(n, g, k, s) - mu(n, g)) ** 2))
    x_hat = layer.define(
        "x_hat", (N, G, K, S), lambda n, g, k, s: (x(n, g, k, s) - mu(n, g)) / (var(n, g) + eps()) ** HALF
    )
    return layer.output((N, G, K, S), lambda n, g, k, s: w(g, k) * x_hat(n, g, k, s))


def normalised_perceptron() -> Program:
    """softplus(LN(x W1)) W2 + x."""
    layer = Layer("perceptron")
    x, w1, w2 = layer.input("x", B, D), layer.input("W1", D, H), layer.input("W2", H, D)
    eps = layer.input("eps", kind="positive")
    h = layer.define("h", (B, H), lambda b, k: total(D, lambda j: x(b, j) * w1(j, k)))
    mu = layer.define("mu", (B,), lambda b: mean(H, lambda j: h(b, j)))
    var = layer.define("var", (B,), lambda b: mean(H, lambda j: (h(b, j) - mu(b)) ** 2))
    n = layer.define("n", (B, H), lambda b, k: (h(b, k) - mu(b)) / (var(b) + eps()) ** HALF)
    return layer.output((B, D), lambda b, d: total(H, lambda k: Fun("softplus", n(b, k)) * w2(k, d)) + x(b, d))
