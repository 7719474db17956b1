"""The moments after a normalisation: mean zero, and a variance short of 1, whatever the scale and shift of the input.

It holds for every group of N values, and so for each sample of layer normalisation and for each feature of batch
normalisation. An input scaled by a and shifted by c gives the same mean, and a variance that misses 1 by
eps / (a^2 var + eps); the affine part puts its own numbers in their place.

Ioffe and Szegedy 2015 expect from this that training gets faster, by less internal covariate shift. That is a claim about
training, not a mathematical one; Santurkar et al. 2018 dispute it with experiments. What is proved here are the moments.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.chain import about
from symres.derivation.document import Derivation

ID = "norm-moments"
SUBJECT = "normalisation"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3", "ba2016": "Section 3", "santurkar2018": ""}


def normalisation(x: "N", a: "", c: "", gamma: "", beta: "", eps=1e-5):
    mu = x.mean()
    var = ((x - mu) ** 2).mean()
    z = a * x + c
    z_hat = (z - z.mean()) / np.sqrt(((z - z.mean()) ** 2).mean() + eps)
    return gamma * z_hat + beta


def mean_of_z_hat(z_hat):
    return z_hat.mean()


def variance_of_z_hat(z_hat):
    return ((z_hat - z_hat.mean()) ** 2).mean()


def mean_square_of_z_hat(z_hat):
    return (z_hat**2).mean()


def variance_over_itself_and_eps(a, var, eps):
    return a**2 * var / (a**2 * var + eps)


def missing_to_one(z_hat):
    return 1 - (z_hat**2).mean()


def eps_over_variance(a, var, eps):
    return eps / (a**2 * var + eps)


def mean_of_y(y):
    return y.mean()


def shift(beta):
    return beta


def variance_of_y(y):
    return ((y - y.mean()) ** 2).mean()


def scaled(gamma, a, var, eps):
    return gamma**2 * a**2 * var / (a**2 * var + eps)


def build() -> Derivation:
    """The statement and its proof."""
    return (
        about(normalisation)
        .chain("mean", mean_of_z_hat, 0, title="The mean", reasons=["centred values sum to zero"])
        .chain(
            "variance",
            variance_of_z_hat,
            mean_square_of_z_hat,
            variance_over_itself_and_eps,
            title="The variance",
            reasons=["their mean is zero", "the variance of the scaled input is a^2 var, its shift drops out"],
        )
        .chain(
            "missing", missing_to_one, eps_over_variance, title="What is missing to 1", reasons=["subtracted from 1"]
        )
        .chain(
            "mean-affine",
            mean_of_y,
            shift,
            title="The mean after the affine part",
            reasons=["the mean of z_hat is zero"],
        )
        .chain(
            "variance-affine",
            variance_of_y,
            scaled,
            title="The variance after the affine part",
            reasons=["the shift drops out, the scale comes out squared"],
        )
        .document(__name__)
    )
