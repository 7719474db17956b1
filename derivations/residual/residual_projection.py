"""A residual block with a projection on its shortcut, where the sizes of input and output differ: all gradients.

He et al. 2015 put a matrix Ws on the shortcut. The gradient of x gets the gradient above through it, and no longer
unchanged: what the identity gave with coefficient I it gives with Ws. The branch is the one of residual-linear-weights, but
with E outputs; every other branch adds its own Jacobian in its place.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "residual-projection"
SUBJECT = "residual"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"he2015resnet": "Eq. 2"}


def residual_block(x: "B D", W1: "D H", b1: "H", W2: "H E", b2: "E", Ws: "D E"):
    a = x @ W1 + b1
    h = np.maximum(0, a)
    return h @ W2 + b2 + x @ Ws


def residual_block_backward(dy, x, W1, W2, Ws, a, h):
    d = (dy @ W2.T) * (a > 0)
    dx = dy @ Ws.T + d @ W1.T
    dW1 = x.T @ d
    db1 = d.sum(axis=0)
    dW2 = h.T @ dy
    db2 = dy.sum(axis=0)
    dWs = x.T @ dy
    return dx, dW1, db1, dW2, db2, dWs


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(residual_block, wrt=("x", "W1", "b1", "W2", "b2", "Ws"), upstream="dy")
        .conclude(residual_block_backward)
        .document(__name__)
    )
