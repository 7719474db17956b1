"""Terms as nested lists, the way a certificate stores them, and back.

Each node is a list that begins with its name::

    ["num", "1/2"]  ["size", "B"]  ["var", "b"]  ["entry", "x", [t, …]]
    ["add", t, …]  ["mul", t, …]  ["pow", t, "-1/2"]
    ["sum", "i", dim, t]  ["max", "i", dim, t]  ["fun", "exp", t, …]  ["iverson", "=", t]
    ["apply", "F", [out, …], [[[["k", dim], …], t], …], [[position, [t, …]], …]]

Index variables are objects in a term and names in a certificate: within one term, different variables get different
names, and a variable that is bound again inside its own scope gets another name there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import singledispatch
from typing import Any

from symres.errors import CertificateError
from symres.kernel.terms import (
    Add,
    Apply,
    Entry,
    Fun,
    Iverson,
    Lam,
    Maximum,
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
)

Json = list[Any]


class Names:
    """The names of the index variables of one term.

    ``scope`` has the names of the variables that can be read here, ``_bound`` all names bound around here (one of them
    may belong to a variable that is hidden by another binding of itself), ``_taken`` who bears a name anywhere.
    """

    def __init__(self, variables: Iterable[Var] = ()) -> None:
        self.scope: dict[Var, str] = {}
        self._bound: frozenset[str] = frozenset()
        self._taken: dict[str, Var] = {}
        for var in variables:
            name = self._fresh(var)
            self.scope[var] = name
            self._bound |= {name}

    def bind(self, var: Var) -> tuple[str, Names]:
        """The name of a variable that is bound here, and the names inside."""
        name, inner = self._fresh(var), Names()
        inner.scope, inner._bound, inner._taken = {**self.scope, var: name}, self._bound | {name}, self._taken
        return name, inner

    def _fresh(self, var: Var) -> str:
        return next(
            name
            for name in itertools.chain((var.name,), (f"{var.name}{k}" for k in itertools.count(1)))
            if name not in self._bound and self._taken.setdefault(name, var) is var
        )


def to_json(term: Term, variables: Iterable[Var] = ()) -> Json:
    """The term as nested lists; ``variables`` are its free index variables, named first.

    Raises:
        CertificateError: if the term has other free index variables.
    """
    return _write(term, Names(variables))


def variables_to_json(variables: Iterable[Var]) -> list[Json]:
    """Index variables with their ranges, under the names that :func:`to_json` gives them."""
    variables = tuple(variables)
    names = Names(variables)
    return [[names.scope[var], to_json(var.dim)] for var in variables]


@singledispatch
def _write(term: Term, names: Names) -> Json:
    raise CertificateError(f"a {type(term).__name__} cannot stand in a certificate")


@_write.register
def _(term: Num, names: Names) -> Json:
    return ["num", str(term.value)]


@_write.register
def _(term: Size, names: Names) -> Json:
    return ["size", term.name]


@_write.register
def _(term: Var, names: Names) -> Json:
    if term not in names.scope:
        raise CertificateError(f"the index {term.name} is free in a term of the certificate")
    return ["var", names.scope[term]]


@_write.register
def _(term: Entry, names: Names) -> Json:
    return ["entry", term.tensor.name, [_write(arg, names) for arg in term.args]]


@_write.register
def _(term: Add, names: Names) -> Json:
    return ["add", *(_write(arg, names) for arg in term.args)]


@_write.register
def _(term: Mul, names: Names) -> Json:
    return ["mul", *(_write(arg, names) for arg in term.args)]


@_write.register
def _(term: Pow, names: Names) -> Json:
    return ["pow", _write(term.base, names), str(term.exponent)]


@_write.register
def _(term: Sum, names: Names) -> Json:
    name, inner = names.bind(term.var)
    return ["sum", name, _write(term.var.dim, names), _write(term.body, inner)]


@_write.register
def _(term: Maximum, names: Names) -> Json:
    name, inner = names.bind(term.var)
    return ["max", name, _write(term.var.dim, names), _write(term.body, inner)]


@_write.register
def _(term: Fun, names: Names) -> Json:
    return ["fun", term.name, *(_write(arg, names) for arg in term.args)]


@_write.register
def _(term: Iverson, names: Names) -> Json:
    return ["iverson", term.rel, _write(term.arg, names)]


@_write.register
def _(term: Apply, names: Names) -> Json:
    outs = [_write(out, names) for out in term.outs]
    derivatives = [[position, [_write(index, names) for index in at]] for position, at in term.derivatives]
    return ["apply", term.name, outs, [_write_lam(argument, names) for argument in term.arguments], derivatives]


def _write_lam(argument: Lam, names: Names) -> Json:
    variables = []
    for var in argument.vars:
        dim = _write(var.dim, names)
        name, names = names.bind(var)
        variables.append([name, dim])
    return [variables, _write(argument.body, names)]


# ---------------------------------------------------------------- and back


class Reader:
    """Reads terms that :func:`to_json` wrote.

    Args:
        tensors: the tensors by name.
        functions: the axes of the value of each general function, by name.
    """

    def __init__(self, tensors: Mapping[str, Tensor], functions: Mapping[str, tuple[Term, ...]] | None = None) -> None:
        self.tensors, self.functions = tensors, functions or {}
        self._variables: dict[tuple[str, Term], Var] = {}

    def term(self, value: Json, scope: Mapping[str, Var] | None = None) -> Term:
        """The term; ``scope`` holds its free index variables by name.

        Raises:
            CertificateError: if the value is no term over the given names.
        """
        try:
            return _READERS[value[0]](self, value, scope or {})
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise CertificateError(f"{str(value)[:60]} is no term over the given names: {error!r}") from error

    def terms(self, values: Iterable[Json], scope: Mapping[str, Var]) -> tuple[Term, ...]:
        """Several terms."""
        return tuple(self.term(value, scope) for value in values)

    def variables(self, pairs: Iterable[Json], scope: Mapping[str, Var] | None = None) -> dict[str, Var]:
        """Index variables given as pairs of name and range."""
        return {name: self.variable(name, self.term(dim, scope)) for name, dim in pairs}

    def variable(self, name: str, dim: Term) -> Var:
        """An index variable; the same one for the same name and range, as names are unique within a term."""
        return self._variables.setdefault((name, dim), Var(name, dim))


def _read_binder(cls: type[Sum] | type[Maximum]) -> Callable[[Reader, Json, Mapping[str, Var]], Term]:
    def read(reader: Reader, value: Json, scope: Mapping[str, Var]) -> Term:
        _, name, dim, body = value
        var = reader.variable(name, reader.term(dim, scope))
        made: Term = cls(var, reader.term(body, {**scope, name: var}))
        return made

    return read


def _read_apply(reader: Reader, value: Json, scope: Mapping[str, Var]) -> Term:
    _, name, outs, arguments, derivatives = value
    lams = []
    for pairs, body in arguments:
        variables = reader.variables(pairs, scope)
        lams.append(Lam(tuple(variables.values()), reader.term(body, {**scope, **variables})))
    at = tuple((position, reader.terms(indices, scope)) for position, indices in derivatives)
    return Apply(name, reader.functions[name], reader.terms(outs, scope), tuple(lams), at)


_READERS: dict[str, Callable[[Reader, Json, Mapping[str, Var]], Term]] = {
    "num": lambda reader, value, scope: Num(Fraction(value[1])),
    "size": lambda reader, value, scope: Size(value[1]),
    "var": lambda reader, value, scope: scope[value[1]],
    "entry": lambda reader, value, scope: reader.tensors[value[1]](*reader.terms(value[2], scope)),
    "add": lambda reader, value, scope: add(*reader.terms(value[1:], scope)),
    "mul": lambda reader, value, scope: mul(*reader.terms(value[1:], scope)),
    "pow": lambda reader, value, scope: power(reader.term(value[1], scope), Fraction(value[2])),
    "sum": _read_binder(Sum),
    "max": _read_binder(Maximum),
    "fun": lambda reader, value, scope: Fun(value[1], *reader.terms(value[2:], scope)),
    "iverson": lambda reader, value, scope: Iverson(value[1], reader.term(value[2], scope)),
    "apply": _read_apply,
}
