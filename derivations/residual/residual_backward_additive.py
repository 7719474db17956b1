"""The gradient of a residual stack is the gradient above plus what its branches add to it.

"1 + …": with the identity after the addition the Jacobian of the stack is I plus the total derivative of the sum of its
branches, so that the gradient above arrives unchanged as one summand. He et al. 2016 write the scalar 1 for I.

The derivative of a branch is taken through all blocks below it: its own Jacobian times that of its input. One summand
being the gradient above is no lower bound: the other can cancel it.
"""

from __future__ import annotations

from functools import partial

from symres.derivation.document import Derivation
from symres.derivation.notation import total
from symres.derivation.stack import StackInduction, jacobian_product
from symres.derivations.residual import _stacks as stacks
from symres.derivations.residual._stacks import D, G, L
from symres.kernel.terms import ZERO, Term, delta
from symres.language.formula import adjoint

ID = "residual-backward-additive"
SUBJECT = "residual"
KIND = "induction"
VERDICT = "theorem"
SOURCES = {"he2016identity": "Eq. 5"}

x = stacks.identity_stack()
y = stacks.output(x)
block = partial(stacks.identity_block, x)
S = jacobian_product("S", L, D, block)


def branches(n: Term, e: Term, d: Term) -> Term:
    """The total derivative of the sum of the first n branches, entry e by entry d of the input."""
    return total(n, lambda i: total(D, lambda c: stacks.jacobian(x, i, e, c) * S(i, c, d), "c"))


def gradient(d: Term) -> Term:
    return total(D, lambda e: G(e) * S(L, e, d), "e")


def additive(d: Term) -> Term:
    return G(d) + total(D, lambda e: G(e) * branches(L, e, d), "e")


def build() -> Derivation:
    """The statement and its proof."""
    return (
        StackInduction(L, [x, S, y])
        .let("For every depth {L} and all differentiable functions F, with the gradient {g} at the output,", L=L, g=G)
        .show("jacobian", "The Jacobian", S, lambda n, e, d: delta(e, d) + branches(n, e, d), [D, D])
        .show_gradient("gradient", "The gradient as a product", x, y.tensor, G, S, block, stacks.identity_network)
        .consequence(
            "additive",
            "The gradient as a sum",
            "jacobian",
            gradient,
            additive,
            [D],
            of=partial(adjoint(x.tensor), ZERO),
        )
        .instances(1, 2, 3, 8)
        .document(__name__)
    )
