"""Random index expressions, and ways to write one differently without changing its value."""

from __future__ import annotations

import random

from symres.kernel.terms import (
    ONE,
    Add,
    Fun,
    Iverson,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
    add,
    delta,
    mul,
    power,
    substitute,
    sum_,
)

N, D = Size("N"), Size("D")
X = Tensor("x", (N, D))
A = Tensor("a", (D, D))
U = Tensor("u", (D,))
V = Tensor("v", (N,))
C = Tensor("c", ())
EPS = Tensor("eps", (), "positive")
Y = Tensor("y", (N,), "int", D)
MASK = Tensor("m", (N, D), "bool")


def random_term(rng: random.Random, scope: list[Var], depth: int, *, shifts: bool = False) -> Term:
    """A term whose free variables are in ``scope``; binders may shadow or repeat the names of others.

    With ``shifts``, entries are also read at computed indices and brackets compare shifted ones.
    """
    if depth == 0:
        return _leaf(rng, scope, shifts)
    kind = rng.choice(["add", "mul", "mul", "sum", "sum", "power", "function", "delta", "quotient", "leaf"])
    sub = lambda: random_term(rng, scope, depth - 1, shifts=shifts)  # noqa: E731
    if kind == "add":
        return add(sub(), sub())
    if kind == "mul":
        return mul(sub(), sub())
    if kind == "sum":
        # Now and then an outer variable itself is bound again, so that binders shadow each other.
        var = rng.choice(scope) if scope and rng.random() < 0.2 else Var(rng.choice("ij"), rng.choice([N, D]))
        return sum_(var, random_term(rng, [*scope, var], depth - 1, shifts=shifts))
    if kind == "power":
        return power(sub(), rng.choice([2, 3]))
    if kind == "function":
        return Fun(rng.choice(["f", "g", "step"]), sub())
    if kind == "quotient":
        return power(add(EPS(), mul(sub(), sub())), rng.choice([-1, -2]))
    if kind == "delta" and len(scope) > 1:
        left, right = rng.sample(scope, 2)
        shift = rng.choice([-1, 1, 2]) if shifts else 0
        shifted = delta(left, right + shift)
        return rng.choice(
            [delta(left, right), Iverson(">=", left - right), shifted, Iverson(">=", left - right + shift)]
        )
    return _leaf(rng, scope, shifts)


def _leaf(rng: random.Random, scope: list[Var], shifts: bool) -> Term:
    rows = [var for var in scope if var.dim is N]
    columns = [var for var in scope if var.dim is D]
    leaves: list[Term] = [Num(rng.choice([-2, -1, 1, 2, 3])), C(), rng.choice([N, D])]
    if rows:
        leaves.append(V(rng.choice(rows)))
    if columns:
        leaves += [U(rng.choice(columns)), A(rng.choice(columns), rng.choice(columns))]
        # Entries at computed indices, beside the range at times, where they are zero.
        if shifts:
            leaves += [U(rng.choice(columns) + rng.choice([-1, 1])), U(rng.choice(columns) + rng.choice(columns))]
    if rows and columns:
        leaves += [X(rng.choice(rows), rng.choice(columns)), MASK(rng.choice(rows), rng.choice(columns))]
        leaves += [delta(rng.choice(columns), Y(rng.choice(rows)))]
    return rng.choice(leaves)


def rewrite(rng: random.Random, term: Term) -> Term:
    """The same value, written differently: shuffled, renamed, expanded, split, swapped, with deltas put in."""
    match term:
        case Add():
            args = [rewrite(rng, arg) for arg in term.args]
            rng.shuffle(args)
            return add(*args)
        case Mul():
            args = [rewrite(rng, arg) for arg in term.args]
            rng.shuffle(args)
            for place, arg in enumerate(args):
                if isinstance(arg, Add) and rng.random() < 0.7:
                    return add(*(mul(*args[:place], part, *args[place + 1 :]) for part in arg.args))
            return mul(*args)
        case Pow() if term.exponent in (2, 3):
            base = rewrite(rng, term.base)
            return mul(*(base for _ in range(int(term.exponent))))
        case Pow():
            return power(rewrite(rng, term.base), term.exponent)
        case Sum():
            return _rewrite_sum(rng, term)
        case Fun():
            return Fun(term.name, *(rewrite(rng, arg) for arg in term.args))
        case _:
            return term


def _rewrite_sum(rng: random.Random, term: Sum) -> Term:
    var = term.var.fresh()
    body = rewrite(rng, substitute(term.body, {term.var: var}))
    choice = rng.random()
    if isinstance(body, Add) and choice < 0.4:
        return add(*(sum_(var, part) for part in body.args))
    if isinstance(body, Sum) and body.var.dim is not var and choice < 0.5:
        return sum_(body.var, sum_(var, body.body)) if body.var not in var.dim.free else sum_(var, body)
    if isinstance(body, Mul) and choice < 0.7:
        outside = [arg for arg in body.args if var not in arg.free]
        inside = [arg for arg in body.args if var in arg.free]
        return mul(*outside, sum_(var, mul(*inside) if inside else ONE))
    if choice < 0.85:
        other = var.fresh()
        return sum_(var, sum_(other, mul(delta(var, other), substitute(body, {var: other}))))
    return sum_(var, body)
