"""The mean of a batch is right on average, and its variance falls as one over the batch size.

For independent samples. A batch of 4 has half the deviation of a batch of 1, and it takes 100 for a tenth of it.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.derivation.moments import MEAN, MOMENTS, B, Moments

ID = "small-batch-mean"
SUBJECT = "normalisation"
KIND = "moments"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3"}


def batch_mean(x):
    return x.mean()


def build() -> Derivation:
    """The statement and its proof."""
    return (
        Moments()
        .expectation("mu", batch_mean, MEAN(), reason="each of the B entries has the mean m")
        .variance("mu", batch_mean, MOMENTS[2] / B, reason="different entries are independent: B of B^2 pairs remain")
        .document(__name__)
    )
