"""A normalised layer does not see the scale of its weights: at a w with eps it is what it is at w with eps / a^2.

u = A w are the N values that are normalised together, linear in the weights w: for one feature of batch normalisation A
has the inputs of the batch as its rows; for layer normalisation w are all weights of the layer, and the rows of A pick
those of one output. A shift c of all N values drops out too.

At eps = 0 the layer is invariant exactly: both sides of the last formula, divided by the two standard deviations, are the
layer at a w and at w; where all N values are equal it is not defined there. For eps > 0 the exact statement is the one
with eps / a^2. Higher learning rates and less dependence on initial values, of which Ioffe and Szegedy 2015 speak, are
observed in training; what is proved is the invariance, and its gradients in norm-scale-invariance-backward.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.chain import about
from symres.derivation.document import Derivation

ID = "norm-scale-invariance"
SUBJECT = "normalisation"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3.3", "vanlaarhoven2017": ""}


def normalised_layer(A: "N P", w: "P", a: "positive", c: "", eps=1e-5):
    u = A @ w
    z = A @ (a * w) + c
    u_mean = u.mean()
    u_var = ((u - u_mean) ** 2).mean()
    z_mean = z.mean()
    z_var = ((z - z_mean) ** 2).mean()
    return (z - z_mean) / np.sqrt(z_var + eps)


def mean_of_scaled(z_mean):
    return z_mean


def scaled_mean(a, u_mean, c):
    return a * u_mean + c


def variance_of_scaled(z_var):
    return z_var


def scaled_variance(a, u_var):
    return a**2 * u_var


def at_scaled_weights(y):
    return y


def scaled_difference(a, u, u_mean, u_var, eps):
    return a * (u - u_mean) / np.sqrt(a**2 * u_var + eps)


def at_the_weights(a, u, u_mean, u_var, eps):
    return (u - u_mean) / np.sqrt(u_var + eps / a**2)


def without_eps(z, z_mean, u_var):
    return (z - z_mean) * np.sqrt(u_var)


def invariant(u, u_mean, z_var):
    return (u - u_mean) * np.sqrt(z_var)


def build() -> Derivation:
    """The statement and its proof."""
    return (
        about(normalised_layer)
        .chain("mean", mean_of_scaled, scaled_mean, title="The mean", reasons=["the mean is linear"])
        .chain(
            "variance",
            variance_of_scaled,
            scaled_variance,
            title="The variance",
            reasons=["the shift drops out, the scale comes out squared"],
        )
        .chain(
            "output",
            at_scaled_weights,
            scaled_difference,
            at_the_weights,
            title="The layer at the scaled weights",
            reasons=["mean and variance put in", "numerator and denominator divided by a > 0"],
        )
        .chain("invariance", without_eps, invariant, title="At eps = 0", reasons=["mean and variance put in, as a > 0"])
        .document(__name__)
    )
