"""What Python allows around array code."""
# ruff: noqa: B006, B905, E501, F403, F405, UP031, RUF005, SIM108  (written as people write it)
from __future__ import annotations

import contextlib
import functools
import itertools
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field

import helpers
import numpy
import numpy.linalg as LA
from helpers import Layer, softmax
from numpy import *

np = numpy
Cache = namedtuple("Cache", "x hat rstd")
DEFAULTS = {"eps": 1e-5, "axis": -1}
_half = 0.5


def keyword_only(x, *, gamma, eps=1e-5, axis: int = -1):
    with numpy.errstate(divide="ignore"):
        mu = mean(x, axis=axis, keepdims=True)
        rstd = 1 / sqrt(var(x, axis=axis, keepdims=True) + eps)
    hat = (x - mu) * rstd
    return gamma * hat, Cache(x, hat, rstd), gamma


def keyword_only_back(dy, cache, gamma):
    g = dy * gamma
    total = functools.partial(numpy.mean, axis=-1, keepdims=True)
    return cache.rstd * (g - total(g) - cache.hat * total(g * cache.hat)), (dy * cache.hat).sum(axis=0)


class Norm(Layer):
    def __init__(self, weight: np.ndarray, **options):
        super().__init__(name="norm")
        self.weight = weight
        self.options = {**DEFAULTS, **options}

    @property
    def eps(self):
        return self.options["eps"]

    @staticmethod
    def _rms(x, eps):
        return np.sqrt((x * x).mean(-1, keepdims=True) + eps)

    @classmethod
    def doubled(cls, x):
        return cls.scale * x

    def forward(self, x):
        self.cache["x"], self.cache["r"] = x, (r := self._rms(x, self.eps))
        return self.doubled(self.weight * x / r)

    def backward(self, dy):
        x, r = self.cache["x"], self.cache["r"]
        dy = Norm.scale * dy
        self.dweight = np.einsum("nd,nd->d", dy, x / r)
        g = dy * self.weight
        return g / r - x * np.mean(g * x, -1, keepdims=True) / r**3


@dataclass
class State:
    x: np.ndarray
    items: list = field(default_factory=list)


def stateful(x, w):
    state = State(x)
    state.items.append(x @ w)
    state.items += [tanh(state.items[-1])]
    for k, item in enumerate(state.items):
        state.items[k] = item * (k + 1)
    return state.items[-1], state, w


def stateful_back(dout, state, w):
    t = state.items[-1] / 2
    dz = 2 * dout * (1 - t**2)
    return {"w": state.x.T @ dz, "x": dz @ w.T}


def nested(x, w):
    calls = 0

    def apply(f, *args):
        nonlocal calls
        calls += 1
        return f(*args)

    compose = functools.reduce(lambda f, g: lambda z: g(f(z)), [lambda z: z @ w, numpy.sin, lambda z: z * _half])
    out = apply(compose, x)
    assert calls == 1
    return out


def nested_back(dout, x, w):
    z = x @ w
    dz = dout * np.cos(z) / 2
    grads = OrderedDict()
    grads["dx"] = dz @ w.T
    grads["dw"] = x.T @ dz
    return grads


def tried(x, mode="tanh"):
    try:
        f = {"relu": lambda v: np.maximum(v, 0)}[mode]
    except KeyError:
        f = getattr(np, mode)
    pairs = list(itertools.product((1, 2), repeat=2))
    return f(x) * len(pairs)


def tried_back(dout, x, mode="tanh"):
    match mode:
        case "tanh":
            local = 1 - np.tanh(x) ** 2
        case _:
            local = x > 0
    return dout * local * 4


def recursive(x, n=3):
    return x if n == 0 else np.sin(recursive(x, n - 1))


def recursive_back(dout, x, n=3):
    if n == 0:
        return dout
    inner = recursive(x, n - 1)
    return recursive_back(dout * cos(inner), x, n - 1)


def attention_scores(x):
    p = helpers.softmax(x @ x.T)
    return p, p


def attention_scores_back(dp, x, p):
    ds = p * (dp - (dp * p).sum(-1, keepdims=True))
    return ds @ x + ds.T @ x


def unit(x):
    n = LA.norm(x, axis=1, keepdims=True)
    return x / n, (x.copy(), n)


def unit_back(dy, cache):
    x, n = cache
    y = x / n
    return (dy - y * (y * dy).sum(1, keepdims=True)) / n


def stepped(x):
    """A generator inside."""

    def powers(v):
        for k in range(1, 4):
            yield v**k

    with contextlib.suppress(RuntimeError):
        parts = list(powers(x))
    return sum(parts), parts


def stepped_back(dout, parts):
    x, square, _ = parts
    return dout * (1 + 2 * x + 3 * square)
