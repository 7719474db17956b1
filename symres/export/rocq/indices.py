"""Index variables: shifts along the depth, the sides of Iverson brackets, and the variables of a node."""

from __future__ import annotations

from dataclasses import dataclass

from symres.errors import Unsupported
from symres.kernel.plain import split_sign
from symres.kernel.terms import Add, Binder, Entry, Iverson, Lam, Mul, Num, Term, Var, add, substitute
from symres.language.certificate import Recurrence


@dataclass(frozen=True)
class Before:
    """The step of a recurrence from ``var`` to the next index."""

    var: Var
    step: Term


def before_last(part: Recurrence) -> Before:
    """The step of a recurrence, its first index written as one more than a variable."""
    first = part.vars[0]
    var = Var("m", add(first.dim, -1))
    return Before(var, substitute(part.step, {first: var + 1}))


def variables_of(node: Term) -> tuple[Var, ...]:
    """The variables that a node is or binds."""
    if isinstance(node, Var):
        return (node,)
    if isinstance(node, Binder):
        return (node.var,)
    return node.vars if isinstance(node, Lam) else ()


def is_index(node: Term) -> bool:
    """Whether a node is an entry of an integer tensor, such as a label."""
    return isinstance(node, Entry) and node.tensor.kind == "int" and node.tensor.bound is not None


def shifted(term: Term) -> tuple[Term, int]:
    """An index or a range as another one and a number that is added to it."""
    if not isinstance(term, Add) or len(term.args) != 2:
        return term, 0
    base, more = term.args
    return (base, int(more.value)) if isinstance(more, Num) and more.value.denominator == 1 else (term, 0)


def sides(term: Iverson) -> tuple[list[Term], list[Term]]:
    """The two sides of an Iverson bracket as sums of indices: ``below`` (the negative part) and ``above``."""
    parts = term.arg.args if isinstance(term.arg, Add) else (term.arg,)
    above = [part for part in parts if not split_sign(part)[0]]
    below = [split_sign(part)[1] for part in parts if split_sign(part)[0]]
    if any(isinstance(part, Mul) for part in (*above, *below)):
        raise Unsupported(f"Coq certificates have no index arithmetic: {term}")
    return below or [Num(0)], above or [Num(0)]
