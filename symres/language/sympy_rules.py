"""How each class of SymPy expressions reads as a term: a table of rules for :mod:`symres.language.from_sympy`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import (
    ZERO,
    Apply,
    Entry,
    Fun,
    Lam,
    Maximum,
    Size,
    Sum,
    Term,
    Var,
    add,
    delta,
    mul,
    power,
)
from symres.language.constants import PI
from symres.language.functions import (
    FUNCTIONS,
    absolute,
    derivative_name,
    exp,
    log,
    maximum,
    minimum,
    sign,
    split_name,
)
from symres.language.sympy_logic import condition, heaviside
from symres.language.to_sympy import MAXIMUM

if TYPE_CHECKING:
    from symres.language.from_sympy import SympyReader

Scope = Mapping[Any, Term]
"""What the indices in scope stand for."""
Rule = Callable[["SympyReader", Any, Scope], Term]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the reading of the SymPy classes with these names; a second one for a name is an error."""

    def register(function: Rule) -> Rule:
        for name in names:
            if name in RULES:
                raise ValueError(f"there is a reading for {name} already")
            RULES[name] = function
        return function

    return register


@rule("Rational", "Integer")
def _rational(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return add(Fraction(int(node.p), int(node.q)))


@rule("Float")
def _float(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return add(Fraction(str(node)))


@rule("Pi")
def _pi(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return PI()


@rule("Exp1")
def _e(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return exp(1)


@rule("Idx")
def _idx(reader: SympyReader, node: Any, scope: Scope) -> Term:
    found = scope.get(node, scope.get(node.label))
    return found if found is not None else reader.index(node)


@rule("Symbol")
def _symbol(reader: SympyReader, node: Any, scope: Scope) -> Term:
    if node in scope:
        return scope[node]
    name = str(node)
    if name in reader.variables or node in reader.ranges:
        return reader.index(node)
    if node.is_integer and node.is_positive and name not in reader.tensors:
        return Size(name)
    if node.is_integer and name not in reader.tensors:
        return reader.index(node)
    return Entry(reader.tensor(node, ()), ())


@rule("Indexed")
def _indexed(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return reader.entry(node.base.label, node.base.shape, node.indices, scope)


@rule("MatrixElement")
def _matrix_element(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return reader.entry(node.parent, node.parent.shape, (node.i, node.j), scope)


@rule("Add")
def _add(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return add(*(reader.term(arg, scope) for arg in node.args))


@rule("Mul")
def _mul(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return mul(*(reader.term(arg, scope) for arg in node.args))


@rule("Pow")
def _pow(reader: SympyReader, node: Any, scope: Scope) -> Term:
    base, exponent = node.args
    if exponent.is_Rational:
        return power(reader.term(base, scope), Fraction(int(exponent.p), int(exponent.q)))
    if base == reader.sp.E:
        return exp(reader.term(exponent, scope))
    return Fun("pow", reader.term(base, scope), reader.term(exponent, scope))


@rule("Sum")
def _sum(reader: SympyReader, node: Any, scope: Scope) -> Term:
    bound = []
    for limit in reversed(node.limits):  # the last limit is the outermost
        if len(limit) != 3:
            raise UsageError(f"the sum over {limit[0]} has no limits")
        var, scope = reader.bind(limit, scope)
        bound.append(var)
    body = reader.term(node.function, scope)
    for var in reversed(bound):
        body = Sum(var, body) if body is not ZERO else ZERO
    return body


@rule("KroneckerDelta")
def _delta(reader: SympyReader, node: Any, scope: Scope) -> Term:
    left, right = (reader.term(arg, scope) for arg in node.args)
    return delta(left, right) if all(arg.is_integer for arg in node.args) else Fun("eq0", left - right)


@rule("Heaviside")
def _heaviside(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return heaviside(node, reader.term(node.args[0], scope))


@rule("Piecewise")
def _piecewise(reader: SympyReader, node: Any, scope: Scope) -> Term:
    total: Term = ZERO
    left: Term = add(1)
    for value, test in node.args:
        holds = condition(reader, test, scope)
        total = add(total, mul(left, holds, reader.term(value, scope)))
        left = mul(left, 1 - holds)
    if left is not ZERO:
        raise Unsupported(f"a Piecewise without a last case: {node}")
    return total


@rule("Max", "Min")
def _extreme(reader: SympyReader, node: Any, scope: Scope) -> Term:
    choose = maximum if type(node).__name__ == "Max" else minimum
    first, *rest = (reader.term(arg, scope) for arg in node.args)
    for term in rest:
        first = choose(first, term)
    return first


_NAMED: dict[str, Callable[[Term], Term]] = {
    "Abs": absolute,
    "sign": sign,
    "exp": exp,
    "log": log,
    **{name: partial(Fun, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "erfc")},
    **{f"a{name}": partial(Fun, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


@rule(*_NAMED)
def _named(reader: SympyReader, node: Any, scope: Scope) -> Term:
    return _NAMED[type(node).__name__](reader.term(node.args[0], scope))


@rule("floor")
def _floor(reader: SympyReader, node: Any, scope: Scope) -> Term:
    above, below = node.args[0].together().as_numer_denom()
    return Fun("floordiv", reader.term(above, scope), reader.term(below, scope))


@rule("AppliedUndef")
def _unknown(reader: SympyReader, node: Any, scope: Scope) -> Term:
    name = node.func.__name__
    if name == MAXIMUM:
        return _maximum(reader, node, scope)
    if any(isinstance(arg, reader.sp.Lambda) for arg in node.args):
        return _general(reader, node, scope)
    if split_name(name)[0] in FUNCTIONS:
        raise UsageError(f"the undefined function {name} has the name of a known one")
    return Fun(name, *(reader.term(arg, scope) for arg in node.args))


def _maximum(reader: SympyReader, node: Any, scope: Scope) -> Term:
    function, length = node.args
    var, inner = reader.bind((function.variables[0], reader.sp.Integer(0), length - 1), scope)
    result: Term = Maximum(var, reader.term(function.expr, inner))
    return result


def _general(reader: SympyReader, node: Any, scope: Scope) -> Term:
    name, positions = split_name(node.func.__name__)
    arguments = []
    for function in (arg for arg in node.args if isinstance(arg, reader.sp.Lambda)):
        variables, inner = [], scope
        for symbol in function.variables:
            length = reader.length_in(symbol, function.expr)
            var, inner = reader.bind((symbol, reader.sp.Integer(0), length - 1), inner)
            variables.append(var)
        arguments.append(Lam(tuple(variables), reader.term(function.expr, inner)))
    indices = [reader.term(arg, scope) for arg in node.args if not isinstance(arg, reader.sp.Lambda)]
    ranks = [len(arguments[position].vars) for position in positions]
    outs = tuple(indices[: len(indices) - sum(ranks)])
    if not all(isinstance(index, Var) for index in outs):
        raise Unsupported(f"an entry of {name} is read at plain indices only: {node}")
    rest = iter(indices[len(outs) :])
    derivatives = tuple(
        (position, tuple(next(rest) for _ in range(rank))) for position, rank in zip(positions, ranks, strict=True)
    )
    return Apply(
        name, tuple(index.dim for index in outs if isinstance(index, Var)), outs, tuple(arguments), derivatives
    )


@rule("Subs")
def _subs(reader: SympyReader, node: Any, scope: Scope) -> Term:
    points = {symbol: reader.term(point, scope) for symbol, point in zip(node.variables, node.point, strict=True)}
    return reader.term(node.expr, {**scope, **points})


@rule("Derivative")
def _derivative(reader: SympyReader, node: Any, scope: Scope) -> Term:
    function, name = node.expr, getattr(node.expr.func, "__name__", "")
    if type(function).__mro__[1].__name__ != "AppliedUndef":
        raise Unsupported(
            f"the unevaluated derivative {node}", remedy="differentiate with symres: SymPy is often wrong under a sum"
        )
    for symbol, count in node.variable_count:
        places = [place for place, arg in enumerate(function.args) if arg.has(symbol)]
        if len(places) != 1 or function.args[places[0]] != symbol:
            raise Unsupported(f"the derivative {node}, which is not by an argument of {name}")
        for _ in range(int(count)):
            name = derivative_name(name, places[0], len(function.args))
    return Fun(name, *(reader.term(arg, scope) for arg in function.args))
