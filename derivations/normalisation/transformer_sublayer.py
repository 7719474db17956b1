"""The gradient of Post-LN and Pre-LN stacks: each block normalises the identity path in the one, none in the other.

A Post-LN block LN(x + F(x)) has the Jacobian N (I + J): N, the Jacobian of the normalisation, is a factor on the identity
path of each block, so that no path gets past it. A Pre-LN block x + F(LN(x)) has the Jacobian I + J N, with N on the branch
only: the gradient above arrives unchanged as one summand.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.derivation.notation import total, whole
from symres.derivation.stack import StackInduction, jacobian_product
from symres.derivations.normalisation import _sublayers as sub
from symres.derivations.normalisation._sublayers import D, F, G, L
from symres.derivations.residual._stacks import output
from symres.kernel.terms import Term, delta

ID = "transformer-sublayer"
SUBJECT = "normalisation"
KIND = "induction"
VERDICT = "theorem"
SOURCES = {"vaswani2017": "Section 3.1", "xiong2020": ""}

x, z = sub.post_stack("x"), sub.pre_stack("z")
y, v = output(x, "y"), output(z, "v")


u = sub.layer_values("u", lambda n, d: x(n, d) + F(n, d)(x.at(n)), D)
mu, rho, x_hat = sub.norm_values(("mu", "rho", "x_hat"), u.tensor)
m, r, z_hat = sub.norm_values(("m", "r", "z_hat"), z)


def post_block(n: Term, e: Term, c: Term) -> Term:
    def addition(k: Term) -> Term:
        return delta(k, c) + F.jacobian(n, k, by=(c,))(x.at(n))

    return total(D, lambda k: sub.norm_jacobian(rho.tensor, x_hat.tensor, n, e, k) * addition(k), "k")


def pre_block(n: Term, e: Term, c: Term) -> Term:
    inside = whole((D,), lambda k: z_hat.tensor(n, k))
    return delta(e, c) + total(
        D,
        lambda k: F.jacobian(n, e, by=(k,))(inside) * sub.norm_jacobian(r.tensor, z_hat.tensor, n, k, c),
        "k",
    )


R = jacobian_product("R", L, D, post_block)
S = jacobian_product("S", L, D, pre_block)


def build() -> Derivation:
    """The statement and its proof."""
    return (
        StackInduction(L, [x, u, mu, rho, x_hat, R, y, z, m, r, z_hat, S, v])
        .let("For every depth {L} and all differentiable functions F, with the gradient {g} at the output,", L=L, g=G)
        .show_gradient("post", "Post-LN", x, y.tensor, G, R, post_block, sub.post_network)
        .show_gradient("pre", "Pre-LN", z, v.tensor, G, S, pre_block, sub.pre_network)
        .instances(1, 2, 3)
        .document(__name__)
    )
