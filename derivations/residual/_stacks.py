"""The stacks of residual blocks that the entries speak of, with the identity and with ReLU after the addition.

Block n maps the state x[n] to x[n + 1]. F is an arbitrary differentiable vector function of each block, of the state and
of the weights W[n] of the block, with full Jacobians. Blocks are counted from the state that is differentiated by, so
that this is x[0].
"""

from __future__ import annotations

import numpy as np

from symres.derivation.notation import General, State, whole
from symres.kernel.terms import Lam, Size, Tensor, Term, Var, delta
from symres.language.functions import relu, step
from symres.language.program import Definition

L, D, P = Size("L"), Size("D"), Size("P")
F = General("F", (L + 1, D))
W = Tensor("W", (L + 1, P))
G = Tensor("g", (D,))
INPUT = Tensor("x_in", (D,))
H = Tensor("h", (D,))
M = Tensor("M", (L + 1, D))


def weights(n: Term | int) -> Lam:
    """The weights of block n."""
    return whole((P,), lambda p: W(n, p))


def branch(x: State, n: Term | int, d: Term) -> Term:
    """Entry d of what block n adds."""
    return F(n, d)(x.at(n), weights(n))


def jacobian(x: State, n: Term, e: Term, c: Term) -> Term:
    """The derivative of entry e of the branch of block n by entry c of its input."""
    return F.jacobian(n, e, by=(c,))(x.at(n), weights(n))


def slope(x: State, n: Term, e: Term, p: Term) -> Term:
    """The derivative of entry e of the branch of block n by its weight p."""
    return F.jacobian(n, e, by=(p,), place=1)(x.at(n), weights(n))


def identity_stack(name: str = "x") -> State:
    """x[n + 1] = x[n] + F(x[n])."""
    x = State(name, L, (D,), base=lambda d: INPUT(d), step=lambda n, d: x(n, d) + branch(x, n, d))
    return x


def relu_stack(name: str = "x") -> State:
    """x[n + 1] = ReLU(F(x[n]) + x[n])."""
    x = State(name, L, (D,), base=lambda d: INPUT(d), step=lambda n, d: relu(branch(x, n, d) + x(n, d)))
    return x


def identity_network(x_in, W, F):
    """The stack with the identity, in NumPy; W has a row more than there are blocks."""
    x = x_in
    for n in range(len(W) - 1):
        x = x + F(x, W[n])[n]
    return x


def relu_network(x_in, W, F):
    """The stack with ReLU, in NumPy."""
    x = x_in
    for n in range(len(W) - 1):
        x = np.maximum(0, F(x, W[n])[n] + x)
    return x


def mask(x: State) -> Definition:
    """M[n, d], 1 where ReLU lets entry d of block n through and 0 elsewhere."""
    n, d = Var("n", L + 1), Var("d", D)
    return Definition(M, ((L + 1,), (D,)), (n, d), step(branch(x, n, d) + x(n, d)))


def output(x: State, name: str = "y") -> Definition:
    """y = x[L]."""
    d = Var("d", D)
    return Definition(Tensor(name, (D,)), ((D,),), (d,), x(L, d))


def identity_block(x: State, n: Term, e: Term, c: Term) -> Term:
    """The Jacobian I + J of a block with the identity after the addition."""
    return delta(e, c) + jacobian(x, n, e, c)


def relu_block(x: State, n: Term, e: Term, c: Term) -> Term:
    """The Jacobian M (I + J) of a block with ReLU after the addition."""
    return M(n, e) * (delta(e, c) + jacobian(x, n, e, c))
