"""A residual stack with the identity after the addition is its input plus the sum of all its branches.

He et al. 2016 find it by repeated substitution; here it is an induction over the number of blocks.

Counted from l instead of 0, the blocks give the sum from l to L - 1.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.derivation.induction import Induction
from symres.derivation.notation import total
from symres.derivations.residual._stacks import D, L, branch, identity_network, identity_stack
from symres.kernel.terms import Term

ID = "residual-forward-identity"
SUBJECT = "residual"
KIND = "induction"
VERDICT = "theorem"
SOURCES = {"he2016identity": "Eq. 4"}

x = identity_stack()


def left(n: Term, d: Term) -> Term:
    return x(n, d)


def right(n: Term, d: Term) -> Term:
    return x(0, d) + total(n, lambda i: branch(x, i, d))


def build() -> Derivation:
    """The statement and its proof."""
    return (
        Induction(L, [x])
        .let("For every depth {L} and all functions F,", L=L)
        .show("sum", "The sum over the blocks", left, right, [D], network=identity_network)
        .instances(1, 2, 3, 8)
        .document(__name__)
    )
