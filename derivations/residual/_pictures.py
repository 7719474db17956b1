"""Pictures of gradients in deep stacks, computed with the derived backward functions of the blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symres.derivation.gradient import derive
from symres.derivation.picture import Picture
from symres.numeric.codegen import compile_source

DEPTH, WIDTH, KAPPA = 30, 32, 0.3


def plain(x: "B D", W: "D D"):
    return np.tanh(x @ W)


def identity_after(x: "B D", W: "D D"):
    return x + np.tanh(x @ W)


def relu_after(x: "B D", W: "D D"):
    return np.maximum(0, x + np.tanh(x @ W))


def pre_norm(x: "B D", W: "D D"):
    c = x - x.mean(axis=-1, keepdims=True)
    return x + np.tanh(c / np.sqrt((c * c).mean(axis=-1, keepdims=True)) @ W)


def post_norm(x: "B D", W: "D D"):
    y = x + np.tanh(x @ W)
    c = y - y.mean(axis=-1, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=-1, keepdims=True))


BLOCKS = {
    "identity after the addition": identity_after,
    "layer norm inside the branch": pre_norm,
    "layer norm after the addition": post_norm,
    "ReLU after the addition": relu_after,
    "no shortcut": plain,
}


def norms(block: Callable[..., Any], weights: list[Any], x: Any, g: Any) -> list[float]:
    """‖gradient at the input of the last n blocks‖ / ‖g‖ for n = 0, 1, …, by the derived backward function."""
    backward = compile_source(derive(block, wrt="x", upstream="dy").conclude().source())
    states = [x]
    for weight in weights:
        states.append(block(states[-1], weight))
    found = [1.0]
    gradient = g
    for state, weight in zip(reversed(states[:-1]), reversed(weights), strict=True):
        gradient = backward(gradient, state, weight)
        gradient = gradient[0] if isinstance(gradient, tuple) else gradient
        found.append(float(np.linalg.norm(gradient) / np.linalg.norm(g)))
    return found


def draw(axes: Any) -> None:
    """Curves of the three kinds of block, and the bounds for ‖J‖ ≤ κ."""
    random = np.random.default_rng(0)
    weights = [random.normal(size=(WIDTH, WIDTH)) for _ in range(DEPTH)]
    weights = [KAPPA * weight / np.linalg.norm(weight, 2) for weight in weights]
    x, g = random.normal(size=(1, WIDTH)), random.normal(size=(1, WIDTH))
    depths = np.arange(DEPTH + 1)
    for name, block in BLOCKS.items():
        width = 4.0 if block is identity_after else 1.5
        axes.semilogy(depths, norms(block, weights, x, g), label=name, linewidth=width)
    axes.fill_between(depths, (1 - KAPPA) ** depths, (1 + KAPPA) ** depths, alpha=0.12, color="#0072B2", lw=0)
    axes.semilogy(depths, KAPPA**depths, color="#E69F00", linestyle=":", label=r"$\kappa^n$")
    axes.set_ylim(1e-9, 1e4)
    axes.set_xlabel("blocks between the input and the output, $n$")
    axes.set_ylabel(r"$\Vert\partial\ell/\partial x\Vert \,/\, \Vert g\Vert$")
    axes.legend(loc="lower right", fontsize=9)


GRADIENT_NORMS = Picture(
    "gradient-norms",
    f"The norm of the gradient against the number of blocks, for branches tanh(Wx) with Jacobians of norm at most κ = {KAPPA}. "
    "With the identity after the addition it stays in the band from (1 − κ)ⁿ to (1 + κ)ⁿ. With ReLU after the addition it "
    "loses what the masks hide. Without the shortcut it falls faster than κⁿ. All curves are computed with the derived "
    "backward functions.",
    draw,
)
