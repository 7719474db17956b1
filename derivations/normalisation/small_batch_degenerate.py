"""Batch normalisation of one sample returns its shift; of two samples, without eps, only which of them is larger.

For one sample the layer is beta for every input. For two samples at a distance Delta it is plus and minus
(1 + 4 eps / Delta^2)^(-1/2): the square of the normalised value is Delta^2 / (Delta^2 + 4 eps), which at eps = 0 is 1. All
magnitude is lost there, and the sign is all that is left.

The gradient for one sample is small-batch-degenerate-backward.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.chain import about
from symres.derivation.document import Derivation

ID = "small-batch-degenerate"
SUBJECT = "normalisation"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Algorithm 1"}


def one_and_two(x: "1 D", u: "D", w: "D", gamma: "D", beta: "D", eps=1e-5):
    y = gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) + beta
    z = np.stack([u, w])
    mu = z.mean(axis=0)
    var = ((z - mu) ** 2).mean(axis=0)
    z_hat = (z - mu) / np.sqrt(var + eps)
    delta = u - w
    return y, z_hat


def one_sample(y):
    return y[0]


def shift(beta):
    return beta


def variance(var):
    return var


def quarter(delta):
    return delta**2 / 4


def first(z_hat):
    return z_hat[0]


def half_over_root(delta, eps):
    return delta / 2 / np.sqrt(delta**2 / 4 + eps)


def second(z_hat):
    return z_hat[1]


def square(z_hat):
    return z_hat[0] ** 2


def share(delta, eps):
    return delta**2 / (delta**2 + 4 * eps)


def negative(z_hat):
    return -z_hat[0]


def build() -> Derivation:
    """The statement and its proof."""
    return (
        about(one_and_two)
        .chain("one", one_sample, shift, title="One sample", reasons=["it is its own mean"])
        .chain("variance", variance, quarter, title="Two samples", reasons=["each is half of Delta from the mean"])
        .chain("first", first, half_over_root, title="The first", reasons=["half of Delta over the deviation"])
        .chain("second", second, negative, title="The second", reasons=["on the other side of the mean"])
        .chain("square", square, share, title="The magnitude", reasons=["squared, times 4"])
        .document(__name__)
    )
