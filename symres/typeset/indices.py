"""Index arithmetic between the inside, where indices count from 0, and print, where they count from 1.

A printed index i' stands for i = i' - 1. So the entry ``x[i + 1]`` is printed x_{i'+1} for x at inside position i + 1,
``x[S*i + k]`` is x_{S(i'-1)+k'}, and an index used as a number is i' - 1. Indices along the depth of a stack may count
from 0 in print as well: x_0 is its input. Entries of integer tensors (labels) are indices too.
"""

from __future__ import annotations

from collections.abc import Callable

from symres.kernel.terms import Add, Entry, Iverson, Mul, Num, Size, Term, Var, add, mul, neg

Base = Callable[[Term], int]
"""The number of the first index in print, by the length of the axis."""


def base_of(term: Term, base: Base) -> int:
    """What the printed form of an index variable or a label is ahead of its value."""
    if isinstance(term, Var):
        return base(term.dim)
    if isinstance(term, Entry) and term.tensor.kind == "int" and term.tensor.bound is not None:
        return base(term.tensor.bound)
    return 0


def printed(value: Term, offset: int, base: Base) -> Term:
    """``value + offset``, an index expression by value, written in printed index variables.

    The same variables stand for their printed forms in the result.
    """
    constant, parts = offset, list[Term]()
    for part in value.args if isinstance(value, Add) else (value,):
        if isinstance(part, Num) and part.value.denominator == 1:
            constant += int(part.value)
            continue
        sign, rest = (-1, neg(part)) if _is_negated(part) else (1, part)
        ahead = base_of(rest, base)
        if ahead or isinstance(rest, (Var, Entry, Size)):
            constant -= sign * ahead
            parts.append(part)
        else:
            parts.append(_inside(part, base))
    return add(*parts, constant)


def _inside(term: Term, base: Base) -> Term:
    """The term with each index replaced by its printed form minus what that is ahead."""
    ahead = base_of(term, base)
    if ahead:
        return add(term, -ahead)
    if isinstance(term, Mul):
        return mul(*(_inside(part, base) for part in term.args))
    if not term.children or isinstance(term, Entry):
        return term
    return term.rebuild(tuple(_inside(child, base) for child in term.children))


def _is_negated(term: Term) -> bool:
    return isinstance(term, Mul) and len(term.args) == 2 and term.args[0] is _MINUS_ONE


_MINUS_ONE = Num(-1)


def sides(term: Iverson, base: Base) -> tuple[str, Term, Term]:
    """An Iverson bracket as relation, left and right side in printed variables: ``i - j >= 0`` is i ≥ j.

    A constant goes to the right; ``i - j - 1 >= 0`` is i > j.
    """
    whole = printed(term.arg, 0, base)
    left, right, constant = [], [], 0
    for part in whole.args if isinstance(whole, Add) else (whole,):
        number = part.args[0] if isinstance(part, Mul) else part
        if isinstance(part, Num):
            constant += int(part.value)
        elif isinstance(number, Num) and number.value < 0:
            right.append(neg(part))
        else:
            left.append(part)
    if not left:
        # 0 >= right - constant is right <= constant
        flipped = {">=": "<=", "=": "="}[term.rel]
        return flipped, add(*right), Num(constant)
    if term.rel == ">=" and constant == -1 and right:
        return ">", add(*left), add(*right)
    if constant > 0 and right:
        return term.rel, add(*left, constant), add(*right)
    return term.rel, add(*left), add(*right, -constant)
