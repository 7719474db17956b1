"""Padding biases the statistics of batch normalisation, whatever number it is replaced by; masked statistics are exact.

Of N entries those with keep = 1 are real; the others are padding and were replaced by the number v. q is the share of the
padding, m and s2 are mean and variance of the real entries. Both biases vanish for every v only if q = 0: at v = m the mean
is right, but the variance is still too small by the factor 1 - q.

Statistics summed over the real entries alone are m and s2 themselves, whatever stands in the padding.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.chain import about
from symres.derivation.document import Derivation
from symres.derivation.picture import Picture

ID = "padding-bias"
SUBJECT = "normalisation"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3", "shen2020powernorm": ""}


def padded(x: "N", keep: "N bool", v: ""):
    q = 1 - keep.mean()
    m = (keep * x).sum() / keep.sum()
    s2 = (keep * (x - m) ** 2).sum() / keep.sum()
    z = np.where(keep, x, v)
    return z


def mean(z):
    return z.mean()


def biased_mean(q, m, v):
    return (1 - q) * m + q * v


def variance(z):
    return ((z - z.mean()) ** 2).mean()


def variance_around_biased_mean(z, q, m, v):
    return ((z - (1 - q) * m - q * v) ** 2).mean()


def biased_variance(q, m, s2, v):
    return (1 - q) * s2 + q * (1 - q) * (m - v) ** 2


def masked_mean(z, keep):
    return (keep * z).sum() / keep.sum()


def real_mean(m):
    return m


def masked_variance(z, keep, m):
    return (keep * (z - m) ** 2).sum() / keep.sum()


def real_variance(s2):
    return s2


def build() -> Derivation:
    """The statement and its proof."""
    return (
        about(padded)
        .chain("mean", mean, biased_mean, title="The mean", reasons=["the padding adds v to the sum, q N times"])
        .chain(
            "variance",
            variance,
            variance_around_biased_mean,
            biased_variance,
            title="The variance",
            reasons=["by the mean", "real entries and padding one by one"],
        )
        .chain("masked-mean", masked_mean, real_mean, title="The masked mean", reasons=["the mask removes the padding"])
        .chain(
            "masked-variance",
            masked_variance,
            real_variance,
            title="The masked variance",
            reasons=["the mask removes the padding"],
        )
        .document(__name__)
    )


def pictures() -> list[Picture]:
    """The statistics against the share of the padding."""
    from symres.derivations.normalisation._pictures import PADDING

    return [PADDING]
