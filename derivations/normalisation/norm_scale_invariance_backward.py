"""Under a normalisation the gradient by the weights shrinks as they grow, and at eps = 0 it is orthogonal to them.

As in norm-scale-invariance, u = A w are the values normalised together. The gradient by w of the layer at a w is the one
at w with eps / a^2 in place of eps. By the chain rule it is also a times the gradient at the point a w; so that is
1 / a times the gradient at w, exactly at eps = 0.

At a = 1 the gradient by a is the inner product of the weights and their gradient. It is a multiple of eps, and zero at
eps = 0. The gradient by a shift of all values is zero for every eps.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.document import Derivation
from symres.derivation.gradient import derive

ID = "norm-scale-invariance-backward"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {"ioffe2015": "Section 3.3", "vanlaarhoven2017": ""}


def normalised_layer(A: "N P", w: "P", a: "positive", c: "", eps=1e-5):
    z = a * (A @ w) + c
    mu = z.mean()
    var = ((z - mu) ** 2).mean()
    rstd = 1 / np.sqrt(var + eps)
    z_hat = (z - mu) * rstd
    return z_hat


def normalised_layer_backward(dy, A, w, a, z_hat, rstd, eps):
    u = A @ w
    scale = 1 / np.sqrt(((u - u.mean()) ** 2).mean() + eps / a**2)
    du = scale * (dy - dy.mean() - z_hat * (dy * z_hat).mean())
    dw = A.T @ du
    da = eps * rstd**2 * (dy * z_hat).sum() / a
    dc = 0
    return dw, da, dc


def build() -> Derivation:
    """The statement and its proof."""
    return (
        derive(normalised_layer, wrt=("w", "a", "c"), upstream="dy")
        .use("norm-three-terms")
        .conclude(normalised_layer_backward)
        .document(__name__)
    )
