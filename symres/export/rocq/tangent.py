"""Derivatives along a curve, as terms: the tangent of each definition in terms of the tangents it rests on.

If the inputs move with velocities ``x'``, the value ``u`` of a term moves with ``u' = Σ ∂u/∂x · x'``. This is forward
mode, one definition at a time, in the author's own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatchmethod

from symres.errors import Unsupported
from symres.kernel.terms import (
    ZERO,
    Add,
    Apply,
    Entry,
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
    mul,
    power,
    substitute,
    sum_,
)
from symres.language.functions import FUNCTIONS, partial


class Tangents:
    """The tangent of terms, given the tangent tensor of each tensor that moves."""

    def __init__(self, moving: Mapping[Tensor, Tensor]) -> None:
        self.moving = moving
        self.found: dict[Term, Term] = {}

    def __call__(self, term: Term) -> Term:
        """The tangent; 0 for what does not move.

        Raises:
            Unsupported: for terms without a derivative rule here.
        """
        found = self.found.get(term)
        if found is None:
            found = self.found[term] = self._of(term)
        return found

    @singledispatchmethod
    def _of(self, term: Term) -> Term:
        raise Unsupported(f"Coq certificates do not differentiate {type(term).__name__}")

    @_of.register(Num)
    @_of.register(Size)
    @_of.register(Var)
    @_of.register(Iverson)
    def _(self, term: Term) -> Term:
        return ZERO

    @_of.register
    def _(self, term: Entry) -> Term:
        tensor = self.moving.get(term.tensor)
        return ZERO if tensor is None else Entry(tensor, term.args)

    @_of.register
    def _(self, term: Add) -> Term:
        return add(*map(self, term.args))

    @_of.register
    def _(self, term: Mul) -> Term:
        parts = []
        for k, part in enumerate(term.args):
            moved = self(part)
            if moved is not ZERO:
                parts.append(mul(*term.args[:k], moved, *term.args[k + 1 :]))
        return add(*parts)

    @_of.register
    def _(self, term: Pow) -> Term:
        moved = self(term.base)
        return ZERO if moved is ZERO else mul(Num(term.exponent), power(term.base, term.exponent - 1), moved)

    @_of.register
    def _(self, term: Sum) -> Term:
        return sum_(term.var, self(term.body))

    @_of.register
    def _(self, term: Fun) -> Term:
        row = FUNCTIONS.get(term.name)
        if row is not None and row.definition is not None and term.name not in ("tanh", "sigmoid"):
            return self(row.definition(*term.args))
        return add(
            *(mul(partial(term, k), moved) for k, arg in enumerate(term.args) if (moved := self(arg)) is not ZERO)
        )

    @_of.register
    def _(self, term: Apply) -> Term:
        parts = []
        for position, argument in enumerate(term.arguments):
            moved = self(argument.body)
            if moved is ZERO:
                continue
            if term.derivatives:
                raise Unsupported(f"Coq certificates do not differentiate the Jacobian of {term.name}")
            fresh = tuple(var.fresh() for var in argument.vars)
            entry = Apply(term.name, term.dims, term.outs, term.arguments, ((position, fresh),))
            direction = substitute(moved, dict(zip(argument.vars, fresh, strict=True)))
            parts.append(sum_(fresh, mul(entry, direction)))
        return add(*parts)
