"""Padding cannot reach another token through layer normalisation; through batch normalisation it does.

The padding v stands where keep = 0. The loss sees the outputs of real tokens only. Its gradient by v is zero for layer
normalisation, and for batch normalisation it is what comes through the mean and the variance: not zero in general, at
every padded token alike. A single real token and a single padded one, with g = 1 at the real one, give a value that is
not zero unless eps = 0.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "padding-layernorm"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ba2016": "Section 3", "shen2020powernorm": ""}


def both(x: "B T D", v: "B T D", keep: "B T bool", eps=1e-5):
    real = keep[:, :, None]
    z = np.where(real, x, v)
    mu = z.mean(axis=-1, keepdims=True)
    rho = 1 / np.sqrt(((z - mu) ** 2).mean(axis=-1, keepdims=True) + eps)
    m = z.mean(axis=(0, 1))
    r = 1 / np.sqrt(((z - m) ** 2).mean(axis=(0, 1)) + eps)
    z_hat = (z - m) * r
    layer = real * ((z - mu) * rho)
    batch = real * z_hat
    return layer, batch


def both_backward(dlayer, dbatch, keep, z_hat, r):
    real = keep[:, :, None]
    d = real * dbatch
    dv = -(1 - real) * r * (d.mean(axis=(0, 1)) + z_hat * (d * z_hat).mean(axis=(0, 1)))
    return dv


def build() -> Derivation:
    """The statement and its proof."""
    return derive(both, wrt="v").use("norm-three-terms").conclude(both_backward).document(__name__)
