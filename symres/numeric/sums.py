"""Before a sum becomes code: deltas are contracted, and products multiplied out where that keeps arrays small."""

from __future__ import annotations

from symres.kernel.terms import (
    Add,
    Entry,
    Fun,
    Iverson,
    Mul,
    Pow,
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


def without_deltas(bound: list[Var], body: Term) -> tuple[list[Var], Term]:
    """``sum_k [k = e] u(k) = u(e)`` where that is safe, until no delta can be contracted."""
    bound = list(bound)
    while True:
        found = next(
            (
                (var, value, factor)
                for factor in factors_of(body)
                if isinstance(factor, Iverson) and factor.rel == "="
                for var, value in _solutions(factor.arg, bound)
                if _is_safe(var, value, [other for other in factors_of(body) if other is not factor])
            ),
            None,
        )
        if found is None:
            return bound, body
        var, value, delta = found
        bound.remove(var)
        body = substitute(mul(*(factor for factor in factors_of(body) if factor is not delta)), {var: value})


def _solutions(arg: Term, bound: list[Var]) -> list[tuple[Var, Term]]:
    """The bound variables that ``arg = 0`` gives in terms of the rest."""
    parts = arg.args if isinstance(arg, Add) else (arg,)
    found = []
    for var in bound:
        for part in parts:
            rest = add(*(other for other in parts if other is not part))
            if var in rest.free:
                continue
            if part is var:
                found.append((var, neg(rest) if not isinstance(rest, Add) else add(*map(neg, rest.args))))
            elif part is neg(var):
                found.append((var, rest))
    return found


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
    return (isinstance(node, Pow) and node.exponent < 0) or (isinstance(node, Fun) and node.name != "step")


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
