"""A residual stack with ReLU after the addition is not the sum of its input and its branches.

One unit and two blocks are enough: the first branch is -2 x, the second is the constant 1. At x = 1 ReLU cuts off the -1
after the first addition.
"""

from __future__ import annotations

import numpy as np

from symres.derivation.counterexample import refute
from symres.derivation.document import Derivation

ID = "residual-forward-relu-sum-counterexample"
SUBJECT = "residual"
KIND = "counterexample"
VERDICT = "refuted"
SOURCES = {"he2015resnet": "Eq. 1", "he2016identity": "Eq. 4"}


def stack(x):
    F = -2 * x
    y = np.maximum(0, F + x)
    z = np.maximum(0, 1 + y)
    return z


def sum_of_branches(x):
    s = x + -2 * x + 1
    return s


def build() -> Derivation:
    """The claim, the example against it and the true statements beside it."""
    return (
        refute("With ReLU after the addition, a residual stack is its input plus the sum of its branches.")
        .different(
            "two-blocks", stack, sum_of_branches, {"x": 1}, reason="the first addition gives -1, which ReLU cuts off"
        )
        .nearest("residual-forward-relu-sum", "what ReLU cuts off is to be added")
        .document(__name__)
    )
