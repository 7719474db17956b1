"""Layer normalisation: the gradients with respect to its input, its scale and its shift.

The mean and the variance are functions of the input, so that three paths lead from x to the loss; the fourth, through
the mean inside the variance, carries nothing. The scale stands inside the means: it is indexed by the axis that is
averaged over.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "layernorm-backward"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ba2016": "Section 3", "xu2019": ""}


def layer_norm(x: "B D", gamma: "D", beta: "D", eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    x_hat = (x - mu) * rstd
    return gamma * x_hat + beta


def layer_norm_backward(dy, gamma, x_hat, rstd):
    d = gamma * dy
    dx = rstd * (d - d.mean(axis=-1, keepdims=True) - x_hat * (d * x_hat).mean(axis=-1, keepdims=True))
    dgamma = (dy * x_hat).sum(axis=0)
    dbeta = dy.sum(axis=0)
    return dx, dgamma, dbeta


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(layer_norm, wrt=("x", "gamma", "beta"), upstream="dy")
        .use("norm-three-terms")
        .conclude(layer_norm_backward)
        .jacobian("x_hat", by="x")
        .document(__name__)
    )
