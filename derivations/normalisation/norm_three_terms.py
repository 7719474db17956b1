"""The path through the mean inside the variance carries no gradient.

This is why the backward pass of a normalisation has three terms and not four: the derivative of the variance by the mean
is a multiple of the sum of the centred values, and that sum is zero. So the gradient of the variance is the one that
comes out when its mean is taken for a constant.

It holds for every group of N values, and so for each sample of layer normalisation and for each feature of batch
normalisation.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "norm-three-terms"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3", "ba2016": "Section 3"}


def variance(x: "N"):
    mu = x.mean()
    var = ((x - mu) ** 2).mean()
    return var


def mean_taken_for_a_constant(g, x, mu):
    return g * 2 / x.shape[0] * (x - mu)


def build() -> Derivation:
    """The statement and its proof."""
    return derive(variance, wrt="x", upstream="g").conclude(mean_taken_for_a_constant).document(__name__)
