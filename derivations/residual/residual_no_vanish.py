"""A residual block can have the gradient zero, in spite of the 1 of its shortcut.

The branch F(x) = -x cancels the shortcut, for every x and every gradient above. With ReLU after the addition a unit is dead
where branch and shortcut add to something negative: for the branch G = -2 u at u = 1.

The 1 is one summand of the gradient; what the branch adds to it can be its negative.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.counterexample import refute
from symres.derivation.document import Derivation

ID = "residual-no-vanish"
SUBJECT = "residual"
KIND = "counterexample"
VERDICT = "refuted"
SOURCES = {"he2016identity": "Eq. 5"}


def cancelled(x: "D"):
    F = -x
    y = F + x
    return y


def dead_unit(u: ""):
    G = -2 * u
    z = np.maximum(0, G + u)
    return z


def build() -> Derivation:
    """The claim, the examples against it and the true statement beside it."""
    return (
        refute("The gradient of a residual block cannot be zero, because its shortcut has the derivative 1.")
        .vanishing_gradient("cancelled", cancelled, reason="the branch takes away what the shortcut gives")
        .vanishing_gradient("dead", dead_unit, "u", "h", at={"u": 1}, reason="ReLU lets nothing through at -1")
        .nearest("residual-backward-additive", "the gradient is the one above plus what the branches add to it")
        .document(__name__)
    )
