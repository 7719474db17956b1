"""Batch normalisation in training: the gradients with respect to its input, its scale and its shift.

Every feature is normalised over the batch and over time; T = 1 is the layer without a time axis. The mean and the
variance are functions of the input. The scale is constant along the axes averaged over, so it may be taken out of
the means.

In evaluation the statistics are constants, and the gradient is another one: see batchnorm-backward-evaluation.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "batchnorm-backward"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3"}


def batch_norm(x: "B T D", gamma: "D", beta: "D", eps=1e-5):
    mu = x.mean(axis=(0, 1))
    var = ((x - mu) ** 2).mean(axis=(0, 1))
    rstd = 1 / np.sqrt(var + eps)
    x_hat = (x - mu) * rstd
    return gamma * x_hat + beta


def batch_norm_backward(dy, gamma, x_hat, rstd):
    dx = gamma * rstd * (dy - dy.mean(axis=(0, 1)) - x_hat * (dy * x_hat).mean(axis=(0, 1)))
    dgamma = (dy * x_hat).sum(axis=(0, 1))
    dbeta = dy.sum(axis=(0, 1))
    return dx, dgamma, dbeta


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(batch_norm, wrt=("x", "gamma", "beta"), upstream="dy")
        .use("norm-three-terms")
        .conclude(batch_norm_backward)
        .document(__name__)
    )
