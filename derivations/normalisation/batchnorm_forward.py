"""Batch normalisation in training: what its output is, whatever comes in.

Each feature is centred and scaled over the batch and over time: the normalised values have mean zero, and their mean
square falls short of 1 by eps / (var + eps). The variance can be had in one pass, and the layer is an affine map with
coefficients that depend on the whole batch. In evaluation it is this affine map with constant statistics.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.chain import about
from symres.derivation.document import Derivation

ID = "batchnorm-forward"
SUBJECT = "normalisation"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Algorithm 1"}


def batch_norm(x: "B T D", gamma: "D", beta: "D", eps=1e-5):
    mu = x.mean(axis=(0, 1))
    var = ((x - mu) ** 2).mean(axis=(0, 1))
    rstd = 1 / np.sqrt(var + eps)
    x_hat = (x - mu) * rstd
    return gamma * x_hat + beta


def mean_of_x_hat(x_hat):
    return x_hat.mean(axis=(0, 1))


def scaled_mean_of_centred(x, mu, rstd):
    return rstd * (x - mu).mean(axis=(0, 1))


def mean_square_of_x_hat(x_hat):
    return (x_hat**2).mean(axis=(0, 1))


def scaled_variance(var, rstd):
    return var * rstd**2


def shrunk_one(var, eps):
    return var / (var + eps)


def variance(var):
    return var


def variance_in_one_pass(x, mu):
    return (x**2).mean(axis=(0, 1)) - mu**2


def output(y):
    return y


def affine(x, gamma, beta, mu, rstd):
    return gamma * rstd * x + (beta - gamma * rstd * mu)


def build() -> Derivation:
    """The statement and its proof."""
    return (
        about(batch_norm)
        .chain(
            "mean",
            mean_of_x_hat,
            scaled_mean_of_centred,
            0,
            title="The mean of the normalised values",
            reasons=["the scale is the same along the axes averaged over", "centred values sum to zero"],
        )
        .chain(
            "mean-square",
            mean_square_of_x_hat,
            scaled_variance,
            shrunk_one,
            title="Their mean square",
            reasons=["the scale comes out squared, what is left is the variance", "what the scale is"],
        )
        .chain(
            "one-pass",
            variance,
            variance_in_one_pass,
            title="The variance in one pass",
            reasons=["the square multiplied out, with what the mean is"],
        )
        .chain("affine", output, affine, title="The affine form", reasons=["multiplied out"])
        .document(__name__)
    )
