"""Layer normalisation does not depend on the rest of the batch, nor on the order of samples and tokens.

Samples taken out of a batch are normalised as they are in it, for M indices of samples in any order and with repetitions.
M = 1 is a sample alone; all B indices in another order are a permutation of the batch. The same holds along time, and so
layer normalisation is equivariant under permutations of both.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.chain import about
from symres.derivation.document import Derivation

ID = "layernorm-batch-independence"
SUBJECT = "normalisation"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"ba2016": "Section 3"}


def layer_norm(x, gamma, beta, eps):
    return gamma * (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta


def batch(x: "B T D", gamma: "D", beta: "D", samples: "M int B", times: "S int T", eps=1e-5):
    y = layer_norm(x, gamma, beta, eps)
    return y


def of_selected_samples(x, gamma, beta, samples, eps):
    return layer_norm(x[samples], gamma, beta, eps)


def selected_samples(y, samples):
    return y[samples]


def of_selected_times(x, gamma, beta, times, eps):
    return layer_norm(x[:, times], gamma, beta, eps)


def selected_times(y, times):
    return y[:, times]


def build() -> Derivation:
    """The statement and its proof."""
    alone = "mean and variance of a token are sums over its own features"
    return (
        about(batch)
        .chain("samples", of_selected_samples, selected_samples, title="Any samples of the batch", reasons=[alone])
        .chain("times", of_selected_times, selected_times, title="Any tokens of the samples", reasons=[alone])
        .document(__name__)
    )
