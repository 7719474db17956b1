"""A pre-activation block with two fully connected layers: the gradients of its input, weights and biases.

He et al. 2016 move the activations in front of the weights, so that nothing stands between one addition and the next:
the gradient above arrives at x unchanged, as one summand.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "residual-linear-weights-preactivation"
SUBJECT = "residual"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"he2016identity": "Section 4"}


def residual_block(x: "B D", W1: "D H", b1: "H", W2: "H D", b2: "D"):
    u = np.maximum(0, x)
    a = u @ W1 + b1
    h = np.maximum(0, a)
    return x + h @ W2 + b2


def residual_block_backward(dy, x, W1, W2, u, a, h):
    d = (dy @ W2.T) * (a > 0)
    dx = dy + (d @ W1.T) * (x > 0)
    dW1 = u.T @ d
    db1 = d.sum(axis=0)
    dW2 = h.T @ dy
    db2 = dy.sum(axis=0)
    return dx, dW1, db1, dW2, db2


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(residual_block, wrt=("x", "W1", "b1", "W2", "b2"), upstream="dy")
        .conclude(residual_block_backward)
        .document(__name__)
    )
