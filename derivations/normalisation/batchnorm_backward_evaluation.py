"""Batch normalisation in evaluation: the gradients of an affine map.

The statistics are the running ones, constants of the layer. The gradient of the input is the gradient above times the
scale; the terms that make up for the mean and the variance in training are absent.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "batchnorm-backward-evaluation"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Algorithm 2"}


def batch_norm(x: "B T D", gamma: "D", beta: "D", running_mean: "D", running_var: "D nonnegative", eps=1e-5):
    rstd = 1 / np.sqrt(running_var + eps)
    x_hat = (x - running_mean) * rstd
    return gamma * x_hat + beta


def batch_norm_backward(dy, gamma, x_hat, rstd):
    dx = gamma * rstd * dy
    dgamma = (dy * x_hat).sum(axis=(0, 1))
    dbeta = dy.sum(axis=(0, 1))
    return dx, dgamma, dbeta


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(batch_norm, wrt=("x", "gamma", "beta"), upstream="dy").conclude(batch_norm_backward).document(__name__)
    )
