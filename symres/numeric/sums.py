"""Before a sum becomes code: deltas are contracted, and products multiplied out where that keeps arrays small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symres.kernel.terms import (
    Add,
    Entry,
    Fun,
    Iverson,
    Mul,
    Num,
    Pow,
    Size,
    Term,
    Var,
    add,
    mul,
    neg,
    substitute,
    walk,
)
from symres.language.ranges import inside


def factors_of(term: Term) -> tuple[Term, ...]:
    """The factors of a product; another term is its only one."""
    return term.args if isinstance(term, Mul) else (term,)


@dataclass(frozen=True)
class _Solution:
    """An equation ``step * var = value`` between a bound variable and the rest; ``delta`` is the bracket that says so."""

    var: Var
    step: int
    value: Term
    delta: Iverson

    def rank(self, others: Sequence[_Solution]) -> tuple[int, bool]:
        """The variable with the longest range goes first, so that what is summed is short.

        Of an input, an output and a kernel with L, L - K + 1 and K entries the order is this one: a size is longer than
        what is left of it, and what is left of something is taken to be longer than what was taken off. Then those with
        a stride.
        """
        dim = self.var.dim
        if any(isinstance(node, Add) and dim in node.args for other in others for node in walk(other.var.dim)):
            return 0, self.step == 1
        return (2 if isinstance(dim, Size | Num) else 1), self.step == 1

    @property
    def index(self) -> Term:
        """The variable in terms of the rest."""
        return self.value if self.step == 1 else Fun("floordiv", self.value, self.step)


def without_deltas(bound: list[Var], body: Term) -> tuple[list[Var], Term]:
    """``sum_k [k = e] u(k) = u(e)`` where that is safe, until no delta can be contracted.

    With a stride, ``sum_k [2 k = e] u(k)`` is ``[2 (e // 2) = e] u(e // 2)``.
    """
    bound = list(bound)
    while True:
        factors = factors_of(body)
        found = [
            solution
            for factor in factors
            if isinstance(factor, Iverson) and factor.rel == "="
            for solution in _solutions(factor, bound)
            if _is_safe(solution.var, solution.index, [other for other in factors if other is not factor])
        ]
        if not found:
            return bound, body
        best = min(found, key=lambda solution: solution.rank(found))
        bound.remove(best.var)
        kept = factors if best.step > 1 else [factor for factor in factors if factor is not best.delta]
        body = substitute(mul(*kept), {best.var: best.index})


def _solutions(delta: Iverson, bound: list[Var]) -> list[_Solution]:
    """The bound variables that the bracket gives in terms of the rest."""
    parts = delta.arg.args if isinstance(delta.arg, Add) else (delta.arg,)
    found = []
    for var in bound:
        moving = [part for part in parts if var in part.free]
        step = _coefficient(moving[0], var) if len(moving) == 1 else 0
        if step:
            rest = [part for part in parts if part is not moving[0]]
            value = add(*(map(neg, rest) if step > 0 else rest))
            found.append(_Solution(var, abs(step), value, delta))
    return found


def _coefficient(term: Term, var: Var) -> int:
    """The integer c of a term c * var, 0 for any other term."""
    if term is var:
        return 1
    if isinstance(term, Mul) and len(term.args) == 2 and term.args[1] is var and isinstance(term.args[0], Num):
        value = term.args[0].value
        return int(value) if value.denominator == 1 else 0
    return 0


def _is_safe(var: Var, value: Term, others: list[Term]) -> bool:
    """The value is always in range; or a factor is an entry at the variable, which is 0 where the value is not."""
    if inside(value, var.dim):
        return True
    if any(_is_singular(node) for other in others if var in other.free for node in walk(other)):
        return False
    return any(
        isinstance(other, Entry)
        and any(arg is var and dim is var.dim for arg, dim in zip(other.args, other.tensor.dims, strict=True))
        for other in others
    )


def _is_singular(node: Term) -> bool:
    """Whether the node may be infinite at an entry that reads as 0."""
    return (isinstance(node, Pow) and node.exponent < 0) or (
        isinstance(node, Fun) and node.name not in ("step", "floordiv")
    )


def is_compact(term: Term) -> bool:
    """Whether the array of the term is no larger than one of the arrays that it is made of."""
    if isinstance(term, Add | Mul):
        return all(map(is_compact, term.args)) and any(arg.free == term.free for arg in term.args)
    return all(map(is_compact, term.children)) if isinstance(term, Pow | Fun) else True


def expand_for_sum(bound: list[Var], body: Term) -> list[Term]:
    """The body as a sum of products, multiplied out where an array would otherwise grow or a delta stay."""
    over = frozenset(bound)
    for factor in factors_of(body):
        if not isinstance(factor, Add) or not factor.free & over:
            continue
        has_delta = any(
            isinstance(part, Iverson) and part.rel == "=" for arg in factor.args for part in factors_of(arg)
        )
        if has_delta or not is_compact(factor):
            rest = list(factors_of(body))
            rest.remove(factor)
            parts = [mul(*rest, arg) for arg in factor.args]
            return [piece for part in parts for piece in expand_for_sum(bound, part)]
    return [body]
