"""SymPy's conditions, steps and derivatives of unknown functions, for :mod:`symres.language.from_sympy`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from symres.errors import Unsupported
from symres.kernel.terms import ONE, ZERO, Fun, Iverson, Term, add, delta, mul
from symres.language.functions import step

if TYPE_CHECKING:
    from symres.language.from_sympy import SympyReader

Scope = Mapping[Any, Term]


def heaviside(node: Any, argument: Term) -> Term:
    """``step(u)``, or a bracket of integers. The value that SymPy is told to take at 0 is kept, unless it is 1/2."""
    at_zero = int(node.args[1] == 1)
    if node.args[0].is_integer:
        return Iverson(">=", argument if at_zero else argument - 1)
    return add(step(argument), Fun("eq0", argument)) if at_zero else step(argument)


def condition(reader: SympyReader, test: Any, scope: Scope) -> Term:
    """A condition as a number, 1 where it holds and 0 elsewhere.

    Comparisons of integers are brackets; a comparison of reals is a step, exact at the point of equality too.
    """
    name = type(test).__name__
    if name in ("BooleanTrue", "BooleanFalse"):
        return ONE if name == "BooleanTrue" else ZERO
    if name == "Not":
        return 1 - condition(reader, test.args[0], scope)
    if name == "And":
        return mul(*(condition(reader, arg, scope) for arg in test.args))
    if name == "Or":
        return 1 - mul(*(1 - condition(reader, arg, scope) for arg in test.args))
    compare = (_INTEGER if all(arg.is_integer for arg in test.args) else _REAL).get(name)
    if compare is None:
        raise Unsupported(f"the condition {test} has no meaning as a term")
    left, right = (reader.term(arg, scope) for arg in test.args)
    return compare(left, right)


def _at_least(left: Term, right: Term) -> Term:
    return Iverson(">=", left - right)


_INTEGER: dict[str, Callable[[Term, Term], Term]] = {
    "Equality": delta,
    "Unequality": lambda left, right: 1 - delta(left, right),
    "GreaterThan": _at_least,
    "LessThan": lambda left, right: _at_least(right, left),
    "StrictGreaterThan": lambda left, right: _at_least(left - 1, right),
    "StrictLessThan": lambda left, right: _at_least(right - 1, left),
}
_REAL: dict[str, Callable[[Term, Term], Term]] = {
    "Equality": lambda left, right: Fun("eq0", left - right),
    "Unequality": lambda left, right: 1 - Fun("eq0", left - right),
    "GreaterThan": lambda left, right: 1 - step(right - left),
    "LessThan": lambda left, right: 1 - step(left - right),
    "StrictGreaterThan": lambda left, right: step(left - right),
    "StrictLessThan": lambda left, right: step(right - left),
}
