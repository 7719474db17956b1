"""A residual block with two fully connected layers: the gradients of its input, weights and biases.

He et al. 2015 draw this block: F = W2 ReLU(W1 x + b1) + b2, the input added and ReLU after the addition. The gradient at
the addition goes to the shortcut and to the branch alike, so that the gradient of x is a sum.

Without the ReLU after the addition, e is dy itself.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "residual-linear-weights"
SUBJECT = "residual"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"he2015resnet": "Figure 2"}


def residual_block(x: "B D", W1: "D H", b1: "H", W2: "H D", b2: "D"):
    a = x @ W1 + b1
    h = np.maximum(0, a)
    s = h @ W2 + b2 + x
    return np.maximum(0, s)


def residual_block_backward(dy, x, W1, W2, a, h, s):
    e = dy * (s > 0)
    d = (e @ W2.T) * (a > 0)
    dx = e + d @ W1.T
    dW1 = x.T @ d
    db1 = d.sum(axis=0)
    dW2 = h.T @ e
    db2 = e.sum(axis=0)
    return dx, dW1, db1, dW2, db2


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(residual_block, wrt=("x", "W1", "b1", "W2", "b2"), upstream="dy")
        .conclude(residual_block_backward)
        .document(__name__)
    )
