"""What enters a residual stack stands in its output as a summand with coefficient I; all else comes through the branches.

With the identity after the addition. The Jacobian of the stack less I is the sum over the last branch on the way: the
Jacobian J of the branch times S, which leads to its input. Put into itself, that is the sum of all paths with at least one
branch. The derivative of the output by x is I only where this sum vanishes; deep layers reuse x and change it.
"""

from __future__ import annotations

from functools import partial

from symres.derivation.document import Derivation
from symres.derivation.notation import total
from symres.derivation.stack import StackInduction, jacobian_product
from symres.derivations.residual import _stacks as stacks
from symres.derivations.residual._stacks import D, L
from symres.kernel.terms import Term, delta

ID = "residual-feature-reuse"
SUBJECT = "residual"
KIND = "induction"
VERDICT = "theorem"
SOURCES = {"he2016identity": "Eq. 4", "veit2016": ""}

x = stacks.identity_stack()
block = partial(stacks.identity_block, x)
S = jacobian_product("S", L, D, block)


def through_branches(n: Term, e: Term, d: Term) -> Term:
    """The sum over the last branch i that a path takes."""
    return total(n, lambda i: total(D, lambda c: stacks.jacobian(x, i, e, c) * S(i, c, d), "c"))


def build() -> Derivation:
    """The statement and its proof."""
    return (
        StackInduction(L, [x, S])
        .let("For every depth {L} and all differentiable functions F,", L=L)
        .show(
            "output",
            "The output",
            lambda n, d: x(n, d),
            lambda n, d: x(0, d) + total(n, lambda i: stacks.branch(x, i, d)),
            [D],
            network=stacks.identity_network,
        )
        .show("jacobian", "The Jacobian", S, lambda n, e, d: delta(e, d) + through_branches(n, e, d), [D, D])
        .consequence(
            "paths",
            "The Jacobian less the identity",
            "jacobian",
            lambda e, d: S(L, e, d) - delta(e, d),
            lambda e, d: through_branches(L, e, d),
            [D, D],
        )
        .instances(1, 2, 3, 8)
        .document(__name__)
    )
