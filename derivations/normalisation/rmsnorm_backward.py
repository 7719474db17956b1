"""RMS normalisation: the gradients with respect to its input and its scale.

Without a mean to subtract there are two terms instead of three: the gradient itself, and its part along the normalised
values.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "rmsnorm-backward"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"zhang2019rmsnorm": ""}


def rms_norm(x: "B D", gamma: "D", eps=1e-5):
    rrms = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    x_hat = x * rrms
    return gamma * x_hat


def rms_norm_backward(dy, gamma, x_hat, rrms):
    d = gamma * dy
    dx = rrms * (d - x_hat * (d * x_hat).mean(axis=-1, keepdims=True))
    dgamma = (dy * x_hat).sum(axis=0)
    return dx, dgamma


def build() -> Derivation:
    """The statement and its proof."""
    return derive(rms_norm, wrt=("x", "gamma"), upstream="dy").conclude(rms_norm_backward).document(__name__)
