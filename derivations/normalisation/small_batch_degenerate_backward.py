"""Batch normalisation of one sample learns nothing but its shift: the gradients of input and scale are zero.

The output is beta for every input, see small-batch-degenerate.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "small-batch-degenerate-backward"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Algorithm 1"}


def batch_norm(x: "1 D", gamma: "D", beta: "D", eps=1e-5):
    mu = x.mean(axis=0)
    var = ((x - mu) ** 2).mean(axis=0)
    x_hat = (x - mu) / np.sqrt(var + eps)
    return gamma * x_hat + beta


def batch_norm_backward(dy, x, gamma):
    dx = np.zeros_like(x)
    dgamma = np.zeros_like(gamma)
    dbeta = dy[0]
    return dx, dgamma, dbeta


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(batch_norm, wrt=("x", "gamma", "beta"), upstream="dy").conclude(batch_norm_backward).document(__name__)
    )
