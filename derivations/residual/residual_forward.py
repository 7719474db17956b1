"""A residual stack with ReLU after the addition is the sum of its input and its branches, each behind its masks.

He et al. 2015 put ReLU after the addition. A branch of block i passes the masks of the blocks i, …, L - 1: P is their
product, entry by entry, and the masks depend on the input.

Where all masks are 1 this is the sum form of the stack with the identity after the addition.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.derivation.induction import Induction
from symres.derivation.notation import State, total
from symres.derivations.residual._stacks import D, L, M, branch, mask, relu_network, relu_stack
from symres.kernel.terms import Iverson, Num, Term

ID = "residual-forward"
SUBJECT = "residual"
KIND = "induction"
VERDICT = "theorem"
SOURCES = {"he2015resnet": "Eq. 1"}

x = relu_stack()


def one_more(n: Term, i: Term, d: Term) -> Term:
    """P[n + 1, i] = M[n] P[n, i] for i <= n, and 1 beyond, where there is no mask to pass."""
    return Iverson(">=", n - i) * M(n, d) * P(n, i, d) + Iverson(">=", i - n - 1)


P = State("P", L, (L + 1, D), base=lambda i, d: Num(1), step=one_more)


def left(n: Term, d: Term) -> Term:
    return x(n, d)


def last(n: Term, d: Term) -> Term:
    """ReLU(u) = [u > 0] u."""
    return M(n, d) * (branch(x, n, d) + x(n, d))


def right(n: Term, d: Term) -> Term:
    return P(n, 0, d) * x(0, d) + total(n, lambda i: P(n, i, d) * branch(x, i, d))


def build() -> Derivation:
    """The statement and its proof."""
    return (
        Induction(L, [x, mask(x), P])
        .let("For every depth {L} and all functions F,", L=L)
        .show("masked-sum", "The sum over the blocks", left, right, [D], last=last, network=relu_network)
        .instances(1, 2, 3, 8)
        .document(__name__)
    )
