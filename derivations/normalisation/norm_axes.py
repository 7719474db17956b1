"""Layer, batch, instance and group normalisation are one function: they differ in which entries they put into a group.

The function normalises each row of a matrix. For a tensor of batch, time and features, layer normalisation makes a row
of each token, batch normalisation one of each feature over batch and time, instance normalisation one of each feature
of a sample over time. Group normalisation makes one of each group of features of a sample: z has them in G groups of C.

So what is proved of rows, in norm-axes-backward and in norm-moments, is proved of all of them.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.chain import about
from symres.derivation.document import Derivation
from symres.derivation.picture import Picture

ID = "norm-axes"
SUBJECT = "normalisation"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"ba2016": "Section 3", "ioffe2015": "Section 3", "ulyanov2016": "", "wu2018groupnorm": ""}


def rows_normalised(z, eps):
    return (z - z.mean(axis=1, keepdims=True)) / np.sqrt(z.var(axis=1, keepdims=True) + eps)


def axes_normalised(x, axes, eps):
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)


def tensors(x: "B T D", z: "B G C", eps=1e-5):
    return x, z


def layer_norm(x, eps):
    return axes_normalised(x, 2, eps)


def rows_of_tokens(x, eps):
    B, T, D = x.shape
    return rows_normalised(x.reshape(B * T, D), eps).reshape(B, T, D)


def batch_norm(x, eps):
    return axes_normalised(x, (0, 1), eps)


def rows_of_features(x, eps):
    B, T, D = x.shape
    return rows_normalised(x.reshape(B * T, D).T, eps).T.reshape(B, T, D)


def instance_norm(x, eps):
    return axes_normalised(x, 1, eps)


def rows_of_features_of_samples(x, eps):
    B, T, D = x.shape
    rows = x.transpose(0, 2, 1).reshape(B * D, T)
    return rows_normalised(rows, eps).reshape(B, D, T).transpose(0, 2, 1)


def group_norm(z, eps):
    return axes_normalised(z, 2, eps)


def rows_of_groups(z, eps):
    B, G, C = z.shape
    return rows_normalised(z.reshape(B * G, C), eps).reshape(B, G, C)


def build() -> Derivation:
    """The statement and its proof."""
    same = "each entry is normalised together with the same others"
    return (
        about(tensors)
        .chain("layer", layer_norm, rows_of_tokens, title="Layer normalisation", reasons=[same])
        .chain("batch", batch_norm, rows_of_features, title="Batch normalisation", reasons=[same])
        .chain("instance", instance_norm, rows_of_features_of_samples, title="Instance normalisation", reasons=[same])
        .chain("group", group_norm, rows_of_groups, title="Group normalisation", reasons=[same])
        .document(__name__)
    )


def pictures() -> list[Picture]:
    """What each normalisation averages over."""
    from symres.derivations.normalisation._pictures import AXES

    return [AXES]
