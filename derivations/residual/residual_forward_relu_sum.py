"""A residual stack with ReLU after the addition is the sum of its branches exactly when no addition is ever negative.

It is the sum plus what ReLU cuts off: ReLU(u) = u + ReLU(-u). What is cut off is never negative, so that for every entry
the sum form holds if and only if all of it is zero: if F(x) + x >= 0 in that entry at every block. Then, from x >= 0 on, the
stack is the one with the identity after the addition, in this entry.

That it does not hold without this condition is residual-forward-relu-sum-counterexample.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.derivation.induction import Induction
from symres.derivation.notation import total
from symres.derivations.residual._stacks import D, L, branch, relu_network, relu_stack
from symres.kernel.terms import Term
from symres.language.functions import relu

ID = "residual-forward-relu-sum"
SUBJECT = "residual"
KIND = "induction"
VERDICT = "theorem under conditions"
SOURCES = {"he2015resnet": "Eq. 1", "he2016identity": "Eq. 4"}

x = relu_stack()


def left(n: Term, d: Term) -> Term:
    return x(n, d)


def right(n: Term, d: Term) -> Term:
    cut_off = total(n, lambda i: relu(-branch(x, i, d) - x(i, d)))
    return x(0, d) + total(n, lambda i: branch(x, i, d)) + cut_off


def build() -> Derivation:
    """The statement and its proof."""
    return (
        Induction(L, [x])
        .let("For every depth {L} and all functions F,", L=L)
        .show("cut-off", "The sum and what is cut off", left, right, [D], network=relu_network)
        .instances(1, 2, 3)
        .document(__name__)
    )
