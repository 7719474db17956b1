"""The gradient of every normalisation is this one, on the groups of entries that it normalises together.

The rows of z are the groups: with norm-axes, the gradients of layer, batch, instance and group normalisation are this
theorem at their groups. Scale and shift are layers of their own after it: they multiply and add, and g is the gradient
that arrives below them.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "norm-axes-backward"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ba2016": "Section 3", "ioffe2015": "Section 3", "ulyanov2016": "", "wu2018groupnorm": ""}


def rows_normalised(z: "G N", eps=1e-5):
    mu = z.mean(axis=1, keepdims=True)
    var = ((z - mu) ** 2).mean(axis=1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    z_hat = (z - mu) * rstd
    return z_hat


def rows_normalised_backward(dy, z_hat, rstd):
    return rstd * (dy - dy.mean(axis=1, keepdims=True) - z_hat * (dy * z_hat).mean(axis=1, keepdims=True))


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(rows_normalised, wrt="z", upstream="dy")
        .use("norm-three-terms")
        .conclude(rows_normalised_backward)
        .document(__name__)
    )
