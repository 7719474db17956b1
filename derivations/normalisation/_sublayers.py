"""Stacks of blocks with layer normalisation after the addition (Post-LN) and inside the branch (Pre-LN).

F is an arbitrary differentiable vector function of each block. The normalisation is the one without scale and shift; its
Jacobian is that of layernorm-backward.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symres.derivation.notation import General, State, total, whole
from symres.kernel.terms import Size, Tensor, Term, Var, delta
from symres.language.program import Definition

L, D = Size("L"), Size("D")
F = General("F", (L + 1, D))
EPS = Tensor("eps", (), "positive")
G = Tensor("g", (D,))
INPUT = Tensor("x_in", (D,))
Entries = Callable[[Term], Term]


def mean(u: Entries) -> Term:
    """The mean of a vector."""
    return total(D, u) / D


def rstd(u: Entries) -> Term:
    """One over its deviation."""
    return (mean(lambda i: (u(i) - mean(u)) ** 2) + EPS()) ** "-1/2"


def normalised(u: Entries, d: Term) -> Term:
    """Entry d of the normalised vector."""
    return (u(d) - mean(u)) * rstd(u)


def post_stack(name: str = "x") -> State:
    """x[n + 1] = LN(x[n] + F(x[n]))."""

    def added(n: Term, d: Term) -> Term:
        return x(n, d) + F(n, d)(x.at(n))

    x = State(name, L, (D,), base=lambda d: INPUT(d), step=lambda n, d: normalised(lambda i: added(n, i), d))
    return x


def pre_stack(name: str = "z") -> State:
    """z[n + 1] = z[n] + F(LN(z[n]))."""

    def step(n: Term, d: Term) -> Term:
        return z(n, d) + F(n, d)(whole((D,), lambda k: normalised(lambda i: z(n, i), k)))

    z = State(name, L, (D,), base=lambda d: INPUT(d), step=step)
    return z


def layer_norm(u, eps):
    return (u - u.mean()) / np.sqrt(u.var() + eps)


def post_network(x_in, eps, F):
    """The Post-LN stack, in NumPy; F has a row more than there are blocks."""
    x = x_in
    for n in range(len(F(x)) - 1):
        x = layer_norm(x + F(x)[n], eps)
    return x


def pre_network(x_in, eps, F):
    """The Pre-LN stack, in NumPy."""
    x = x_in
    for n in range(len(F(x)) - 1):
        x = x + F(layer_norm(x, eps))[n]
    return x


def layer_values(name: str, body: Callable[..., Term], *dims: Term) -> Definition:
    """A value at each block, with the axes ``dims``."""
    n = Var("n", L + 1)
    rest = tuple(Var("d", dim) for dim in dims)
    return Definition(Tensor(name, (L + 1, *dims)), ((L + 1,), *((dim,) for dim in dims)), (n, *rest), body(n, *rest))


def norm_values(names: tuple[str, str, str], u: Callable[..., Term]) -> tuple[Definition, Definition, Definition]:
    """Mean, one over the deviation and the normalised values of u at each block, with these names."""
    mu = layer_values(names[0], lambda n: mean(lambda i: u(n, i)))
    rho = layer_values(names[1], lambda n: (mean(lambda i: (u(n, i) - mu.tensor(n)) ** 2) + EPS()) ** "-1/2")
    hat = layer_values(names[2], lambda n, d: (u(n, d) - mu.tensor(n)) * rho.tensor(n), D)
    return mu, rho, hat


def norm_jacobian(rho: Tensor, hat: Tensor, n: Term, e: Term, c: Term) -> Term:
    """The Jacobian of the normalisation of block n: rho (I - 1 1^T / D - x_hat x_hat^T / D)."""
    return rho(n) * (delta(e, c) - 1 / D - hat(n, e) * hat(n, c) / D)
