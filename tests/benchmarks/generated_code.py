"""Generated NumPy backward code against careful NumPy by hand, plain NumPy by hand, and jitted JAX.

Each backward pass starts from the layer's inputs: statistics are recomputed. "Careful" means every shared value once,
in-place operations, ``einsum`` for sums of products. Times are the best of interleaved rounds, in microseconds; the ratio
is the generated code over the careful one. Run ``python -m tests.benchmarks.generated_code``, with ``--json`` for JSON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from symres.derivation.gradient import derive
from symres.numeric.codegen import compile_source

SIZES = ((64, 1024), (4096, 768))
Function = Callable[..., Any]


@dataclass
class Row:
    """One line of the table: best times in microseconds."""

    layer: str
    shape: tuple[int, int]
    microseconds: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Generated over careful."""
        return self.microseconds["generated"] / self.microseconds["careful"]


# ---------------------------------------------------------------- the layers


def layer_norm(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    x_hat = (x - mu) / np.sqrt(var + eps)
    return gamma * x_hat + beta


def layer_norm_careful(dout, x, gamma, beta, eps=1e-5):
    D = x.shape[1]
    x_hat = x - x.mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(np.einsum("nd,nd->n", x_hat, x_hat)[:, None] / D + eps)
    x_hat *= rstd
    dgamma = np.einsum("nd,nd->d", dout, x_hat)
    dx = gamma * dout
    mean = dx.mean(axis=-1, keepdims=True)
    x_hat *= np.einsum("nd,nd->n", dx, x_hat)[:, None] / D
    dx -= mean
    dx -= x_hat
    dx *= rstd
    return dx, dgamma, dout.sum(axis=0)


def layer_norm_plain(dout, x, gamma, beta, eps=1e-5):
    rstd = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    x_hat = (x - x.mean(axis=-1, keepdims=True)) * rstd
    g = gamma * dout
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - x_hat * (g * x_hat).mean(axis=-1, keepdims=True))
    return dx, (dout * x_hat).sum(axis=0), dout.sum(axis=0)


def batch_norm(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=0)
    var = ((x - mu) ** 2).mean(axis=0)
    x_hat = (x - mu) / np.sqrt(var + eps)
    return gamma * x_hat + beta


def batch_norm_careful(dout, x, gamma, beta, eps=1e-5):
    N = x.shape[0]
    x_hat = x - x.mean(axis=0)
    rstd = 1 / np.sqrt(np.einsum("nd,nd->d", x_hat, x_hat) / N + eps)
    x_hat *= rstd
    dgamma = np.einsum("nd,nd->d", dout, x_hat)
    dbeta = dout.sum(axis=0)
    x_hat *= dgamma / N
    dx = dout - dbeta / N
    dx -= x_hat
    dx *= gamma * rstd
    return dx, dgamma, dbeta


def batch_norm_plain(dout, x, gamma, beta, eps=1e-5):
    N = x.shape[0]
    rstd = 1 / np.sqrt(x.var(axis=0) + eps)
    x_hat = (x - x.mean(axis=0)) * rstd
    dbeta, dgamma = dout.sum(axis=0), (dout * x_hat).sum(axis=0)
    return gamma * rstd / N * (N * dout - dbeta - x_hat * dgamma), dgamma, dbeta


def rms_norm(x, gamma, eps=1e-5):
    r = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return gamma * (x * r)


def rms_norm_careful(dout, x, gamma, eps=1e-5):
    D = x.shape[1]
    r = 1 / np.sqrt(np.einsum("nd,nd->n", x, x)[:, None] / D + eps)
    x_hat = x * r
    dgamma = np.einsum("nd,nd->d", dout, x_hat)
    dx = gamma * dout
    x_hat *= np.einsum("nd,nd->n", dx, x_hat)[:, None] / D
    dx -= x_hat
    dx *= r
    return dx, dgamma


def rms_norm_plain(dout, x, gamma, eps=1e-5):
    r = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    g = gamma * dout
    dx = r * g - x * r**3 * (g * x).mean(axis=-1, keepdims=True)
    return dx, (dout * x * r).sum(axis=0)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_careful(dout, x):
    p = x - x.max(axis=-1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=-1, keepdims=True)
    dx = dout - np.einsum("nd,nd->n", dout, p)[:, None]
    dx *= p
    return dx


def softmax_plain(dout, x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return p * (dout - (dout * p).sum(axis=-1, keepdims=True))


LAYERS: tuple[tuple[Function, Function, Function, str], ...] = (
    (layer_norm, layer_norm_careful, layer_norm_plain, "x: N D, gamma: D, beta: D"),
    (batch_norm, batch_norm_careful, batch_norm_plain, "x: N D, gamma: D, beta: D"),
    (rms_norm, rms_norm_careful, rms_norm_plain, "x: N D, gamma: D"),
    (softmax, softmax_careful, softmax_plain, "x: N D"),
)


# ---------------------------------------------------------------- measuring


def by_jax(layer: Function) -> Function | None:
    """The jitted vector-Jacobian product of a layer, in double precision; None where JAX is not installed."""
    if importlib.util.find_spec("jax") is None:
        return None
    import jax

    from symres.numeric.frameworks import with_module

    forward = with_module(layer, jax.numpy)

    @jax.jit
    def backward(dout: Any, *inputs: Any) -> Any:
        return jax.vjp(forward, *inputs)[1](dout)

    def run(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            return jax.block_until_ready(backward(*arrays))

    return run


def best_times(functions: dict[str, Function], arguments: list[Any], rounds: int) -> dict[str, float]:
    """The best time of each function in microseconds; they take turns in random order, so that all meet the same load."""
    best = dict.fromkeys(functions, float("inf"))
    order = random.Random(0)
    for _ in range(rounds):
        for name in order.sample(sorted(functions), len(functions)):
            function = functions[name]
            start = time.perf_counter()
            function(*arguments)
            best[name] = min(best[name], (time.perf_counter() - start) * 1e6)
    return best


def measure(rounds: int = 200) -> list[Row]:
    """All rows; the results of all ways are compared before anything is timed."""
    rng = np.random.default_rng(0)
    rows = []
    for layer, careful, plain, shapes in LAYERS:
        functions = {
            "generated": compile_source(derive(layer, shapes=shapes).conclude().source()),
            "careful": careful,
            "plain": plain,
        }
        jitted = by_jax(layer)
        if jitted is not None:
            functions["jax"] = jitted
        for shape in SIZES:
            vectors = [rng.normal(size=shape[1]) for _ in range(shapes.count(","))]
            arrays = [rng.normal(size=shape), rng.normal(size=shape), *vectors]
            expected = np.concatenate([np.ravel(part) for part in _tuple(careful(*arrays))])
            for function in functions.values():
                found = np.concatenate([np.ravel(part) for part in _tuple(function(*arrays))])
                np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
            count = rounds if shape[0] < 1000 else max(5, rounds // 8)
            rows.append(Row(layer.__name__, shape, best_times(functions, arrays, count)))
    return rows


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.rounds)
    if options.json:
        print(json.dumps([{**asdict(row), "ratio": row.ratio} for row in rows]))
        return
    print(f"{'layer':12} {'shape':>12} {'generated':>10} {'careful':>10} {'plain':>10} {'jax':>10} {'ratio':>6}")
    for row in rows:
        times = [row.microseconds.get(name) for name in ("generated", "careful", "plain", "jax")]
        cells = " ".join(f"{time:10.0f}" if time is not None else f"{'-':>10}" for time in times)
        print(f"{row.layer:12} {row.shape!s:>12} {cells} {row.ratio:6.2f}")


if __name__ == "__main__":
    main()
