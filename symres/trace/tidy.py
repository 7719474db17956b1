"""Reading a body at other indices: brackets that are decided disappear, and sums over a delta are carried out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symres.kernel.terms import (
    ONE,
    ZERO,
    Add,
    Entry,
    Fun,
    Iverson,
    Mul,
    Num,
    Sum,
    Term,
    Var,
    add,
    mul,
    substitute,
    sum_,
    transform,
    walk,
)
from symres.language.functions import step
from symres.trace.indexterms import complemented, floor_quotient, in_range, nonnegative
from symres.trace.polynomials import combine, from_polynomial, index, polynomial
from symres.trace.signals import notes

_INDEX_FUNCTIONS = frozenset({"floordiv"})


def bracket(rel: str, arg: Term) -> Term:
    """The Iverson bracket ``[arg = 0]`` or ``[arg >= 0]``, decided where it can be for all sizes."""
    arg = index(arg)
    if nonnegative(mul(-1, arg) - 1):
        return ZERO
    if rel == ">=":
        return ONE if nonnegative(arg) else Iverson(rel, arg)
    return ONE if arg is ZERO else ZERO if nonnegative(arg - 1) else Iverson(rel, arg)


def equal_indices(left: Term, right: Term) -> Term:
    """``[left = right]``."""
    return bracket("=", left - right)


def complement(term: Term) -> Term:
    """``1 - term``, with ``1 - (1 - m)`` folded back to ``m``."""
    rest = complemented(term)
    return add(1, mul(-1, term)) if rest is None else rest


def at(body: Term, mapping: Mapping[Var, Term]) -> Term:
    """The body with index variables replaced, tidied."""
    return tidy(substitute(body, mapping))


def tidy(term: Term) -> Term:
    """Decide brackets, fold index arithmetic and carry out sums over deltas; the value is unchanged."""
    memo = notes().memo
    found = memo.get(term)
    if found is None:
        children = term.children
        new = tuple(tidy(child) for child in children)
        found = term if all(a is b for a, b in zip(new, children, strict=True)) else term.rebuild(new)
        found = _fold(found)
        memo[term] = memo[found] = found
    return found


def _fold(term: Term) -> Term:
    if isinstance(term, Iverson):
        return bracket(term.rel, term.arg)
    if isinstance(term, Entry):
        return term.rebuild(tuple(map(index, term.args)))
    if isinstance(term, Fun):
        if term.name in _INDEX_FUNCTIONS:
            return floor_quotient(*term.args)
        return step(term.args[0]) if term.name == "step" else term
    return contracted(term.var, term.body) if isinstance(term, Sum) else term


def factors(term: Term) -> tuple[Term, ...]:
    """The factors of a product."""
    return term.args if isinstance(term, Mul) else (term,)


def addends(term: Term) -> tuple[Term, ...]:
    """The parts of a sum; none for 0."""
    if term is ZERO:
        return ()
    return term.args if isinstance(term, Add) else (term,)


def solution(arg: Term, var: Term) -> Term | None:
    """The value of ``var`` for which the index term ``arg`` is 0, if it occurs with coefficient 1 or -1 only."""
    poly = dict(polynomial(arg))
    coefficient = poly.pop((var,), None)
    if coefficient not in (1, -1) or any(var in atom.free for monomial in poly for atom in monomial):
        return None
    return from_polynomial(combine((poly, -coefficient))) if coefficient is not None else None


def pinned(term: Term, var: Var) -> Term | None:
    """The value that a bracket among the factors of ``term`` (possibly below sums) gives to ``var``."""
    while isinstance(term, Sum):
        term = term.body
    for factor in factors(term):
        if isinstance(factor, Iverson) and factor.rel == "=" and var in factor.free:
            value = solution(factor.arg, var)
            if value is not None:
                return value
        if isinstance(factor, Sum):
            value = pinned(factor, var)
            if value is not None:
                return value
    return None


def contracted(var: Var, body: Term) -> Term:
    """The sum over ``var``; carried out where a delta fixes the variable inside its range."""
    if body is ZERO:
        return ZERO
    parts = factors(body)
    for position, factor in enumerate(parts):
        if not (isinstance(factor, Iverson) and factor.rel == "=" and var in factor.free):
            continue
        value = solution(factor.arg, var)
        if value is None:
            continue
        if in_range(value, var.dim):
            return at(mul(*parts[:position], *parts[position + 1 :]), {var: value})
        if nonnegative(mul(-1, value) - 1) or nonnegative(value - var.dim):
            return ZERO
    return sum_(var, body)


def summed(variables: Iterable[Var], body: Term) -> Term:
    """The sum over several variables, the first outermost.

    A sum over a number of terms is written out where brackets or floor divisions depend on the variable, because each
    term is then free of them.
    """
    for var in reversed(tuple(variables)):
        if isinstance(var.dim, Num) and depends_by_case(body, var):
            body = add(*(at(body, {var: Num(k)}) for k in range(int(var.dim.value))))
        else:
            body = contracted(var, body)
    return body


def depends_by_case(body: Term, var: Var) -> bool:
    """Whether a bracket or a floor division in the body depends on the variable."""
    return any(
        var in node.free and (isinstance(node, Iverson) or (isinstance(node, Fun) and node.name in _INDEX_FUNCTIONS))
        for node in walk(body)
    )


def written_out(term: Term) -> Term:
    """The term with every sum over a number of terms written out, for comparisons at concrete sizes."""

    def rule(node: Term) -> Term | None:
        if isinstance(node, Sum) and isinstance(node.var.dim, Num):
            return add(*(at(node.body, {node.var: Num(k)}) for k in range(int(node.var.dim.value))))
        return None

    return transform(term, rule)
