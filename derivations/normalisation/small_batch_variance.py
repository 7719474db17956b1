"""The variance of a small batch is too small on average, by (B - 1) / B, and it scatters with the fourth moment.

v divides by B, as batch normalisation does in training; s divides by B - 1, for B at least 2, and is right on average.
Both scatter: the variance of s is that of v times (B / (B - 1))^2. Heavy tails, a large mu_4, make it worse.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.derivation.moments import MOMENTS, B, Moments

ID = "small-batch-variance"
SUBJECT = "normalisation"
KIND = "moments"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3"}

SIGMA2, MU4 = MOMENTS[2], MOMENTS[4]


def biased(x):
    return ((x - x.mean()) ** 2).mean()


def unbiased(x):
    return ((x - x.mean()) ** 2).sum() / (x.shape[0] - 1)


def build() -> Derivation:
    """The statement and its proof."""
    scatter = (MU4 - SIGMA2**2 * (B - 3) / (B - 1)) / B
    return (
        Moments()
        .expectation("v", biased, SIGMA2 * (B - 1) / B, reason="the mean of the batch takes one degree of freedom")
        .expectation("s", unbiased, SIGMA2, reason="dividing by B - 1 makes up for it")
        .variance("v", biased, scatter * ((B - 1) / B) ** 2, reason="that of s, scaled")
        .variance("s", unbiased, scatter, reason="fourth powers and pairs of squares remain")
        .document(__name__)
    )
