"""Group normalisation: the gradients with respect to its input, its scale and its shift.

The features of a sample stand in G groups of C, and each group is normalised by itself. One group is layer normalisation,
groups of one feature leave nothing but the shift. It is norm-axes-backward with scale and shift.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "groupnorm-backward"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"wu2018groupnorm": ""}


def group_norm(x: "B G C", gamma: "G C", beta: "G C", eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    x_hat = (x - mu) * rstd
    return gamma * x_hat + beta


def group_norm_backward(dy, gamma, x_hat, rstd):
    d = gamma * dy
    dx = rstd * (d - d.mean(axis=-1, keepdims=True) - x_hat * (d * x_hat).mean(axis=-1, keepdims=True))
    dgamma = (dy * x_hat).sum(axis=0)
    dbeta = dy.sum(axis=0)
    return dx, dgamma, dbeta


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(group_norm, wrt=("x", "gamma", "beta"), upstream="dy")
        .use("norm-three-terms")
        .conclude(group_norm_backward)
        .document(__name__)
    )
