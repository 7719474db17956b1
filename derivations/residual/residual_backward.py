"""The gradient of a residual stack is carried back by the ordered product of the Jacobians of its blocks.

With ReLU after the addition a block has the Jacobian M (I + J), with the identity after the addition I + J. The product
has the last block first; the gradient is its transpose times the gradient above. Factors of different blocks do not
commute. He et al. 2016 write the second form, with the scalar 1 for I.

The gradient h at the output of a block inside the stack is given by the same theorem for the blocks above it.
"""

from __future__ import annotations

from functools import partial

from symres.derivation.document import Derivation
from symres.derivation.picture import Picture
from symres.derivation.stack import StackInduction, jacobian_product
from symres.derivations.residual import _stacks as stacks
from symres.derivations.residual._stacks import D, G, H, L, M, W
from symres.kernel.terms import Term

ID = "residual-backward"
SUBJECT = "residual"
KIND = "induction"
VERDICT = "theorem"
SOURCES = {"he2015resnet": "Eq. 1", "he2016identity": "Eq. 5"}

x, z = stacks.relu_stack("x"), stacks.identity_stack("z")
y, v = stacks.output(x, "y"), stacks.output(z, "v")
relu_block, identity_block = partial(stacks.relu_block, x), partial(stacks.identity_block, z)
R = jacobian_product("R", L, D, relu_block)
S = jacobian_product("S", L, D, identity_block)


def relu_slope(n: Term, e: Term, p: Term) -> Term:
    return M(n, e) * stacks.slope(x, n, e, p)


def identity_slope(n: Term, e: Term, p: Term) -> Term:
    return stacks.slope(z, n, e, p)


def build() -> Derivation:
    """The statement and its proof."""
    return (
        StackInduction(L, [x, stacks.mask(x), R, y, z, S, v])
        .let("For every depth {L} and all differentiable functions F, with the gradient {g} at the output", L=L, g=G)
        .let("and {h} at the output of one block,", h=H)
        .show_gradient("relu", "ReLU after the addition", x, y.tensor, G, R, relu_block, stacks.relu_network)
        .show_block_gradient("relu-weights", "The weights of a block with ReLU", x, W, H, relu_slope)
        .show_gradient("identity", "The identity", z, v.tensor, G, S, identity_block, stacks.identity_network)
        .show_block_gradient("identity-weights", "The weights of a block with the identity", z, W, H, identity_slope)
        .instances(1, 2, 3, 8)
        .document(__name__)
    )


def pictures() -> list[Picture]:
    """The norm of the gradient against the depth."""
    from symres.derivations.residual._pictures import GRADIENT_NORMS

    return [GRADIENT_NORMS]
