"""Terms as compact text, for terminals and error messages: ``rho[b]*(g[b,i] - 1/D*Σ_j g[b,j])``.

Indices count from 0, as inside. Two index variables that share a name hint are told apart by primes.
"""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from functools import singledispatchmethod

from symres.kernel.terms import (
    Add,
    Apply,
    Binder,
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
    Term,
    Var,
    neg,
    power,
    walk,
)


class Level(IntEnum):
    """How tightly the outermost sign of a text binds."""

    SUM = 0
    BINDER = 1
    PRODUCT = 2
    POWER = 3
    ATOM = 4


def plain(term: Term) -> str:
    """The term as one line of text."""
    return _Writer(term).text(term, Level.SUM)


def split_sign(term: Term) -> tuple[bool, Term]:
    """Whether the term is written with a leading minus, and the term after it."""
    number = term.args[0] if isinstance(term, Mul) else term
    if isinstance(number, Num) and number.value < 0:
        return True, neg(term)
    return False, term


class _Writer:
    def __init__(self, term: Term) -> None:
        self.names: dict[Var, str] = {}
        for node in walk(term):
            found = node.vars if isinstance(node, Lam) else (node.var,) if isinstance(node, Binder) else (node,)
            for var in found:
                if isinstance(var, Var):
                    self._name(var)

    def _name(self, var: Var) -> None:
        if var not in self.names:
            name, taken = var.name, set(self.names.values())
            while name in taken:
                name += "'"
            self.names[var] = name

    def text(self, term: Term, level: Level) -> str:
        """The term, in parentheses if it binds less tightly than ``level``."""
        text, found = self.write(term)
        return text if found >= level else f"({text})"

    def texts(self, terms: tuple[Term, ...]) -> str:
        return ",".join(self.text(term, Level.SUM) for term in terms)

    @singledispatchmethod
    def write(self, term: Term) -> tuple[str, Level]:
        raise TypeError(f"no text for a {type(term).__name__}")

    @write.register
    def _(self, term: Num) -> tuple[str, Level]:
        level = Level.SUM if term.value < 0 else Level.ATOM if term.value.denominator == 1 else Level.PRODUCT
        return str(term.value), level

    @write.register
    def _(self, term: Size) -> tuple[str, Level]:
        return term.name, Level.ATOM

    @write.register
    def _(self, term: Var) -> tuple[str, Level]:
        return self.names[term], Level.ATOM

    @write.register
    def _(self, term: Entry) -> tuple[str, Level]:
        return term.tensor.name + (f"[{self.texts(term.args)}]" if term.args else ""), Level.ATOM

    @write.register
    def _(self, term: Add) -> tuple[str, Level]:
        words = []
        for position, part in enumerate(term.args):
            negative, rest = split_sign(part)
            sign = (" - " if negative else " + ") if position else ("-" if negative else "")
            words.append(sign + self.text(rest, Level.BINDER if position == len(term.args) - 1 else Level.PRODUCT))
        return "".join(words), Level.SUM

    @write.register
    def _(self, term: Mul) -> tuple[str, Level]:
        negative, rest = split_sign(term)
        if negative:
            return "-" + self.text(rest, Level.BINDER), Level.SUM
        words = [self.text(term.args[0], Level.PRODUCT)]
        for position, part in enumerate(term.args[1:], start=1):
            last = position == len(term.args) - 1
            if isinstance(part, Pow) and part.exponent < 0:
                words.append("/" + self.text(power(part.base, -part.exponent), Level.POWER))
            else:
                words.append("*" + self.text(part, Level.BINDER if last else Level.PRODUCT))
        return "".join(words), Level.BINDER if isinstance(term.args[-1], Binder) else Level.PRODUCT

    @write.register
    def _(self, term: Pow) -> tuple[str, Level]:
        if term.exponent == -1:
            return "1/" + self.text(term.base, Level.POWER), Level.PRODUCT
        if term.exponent == Fraction(1, 2):
            return f"sqrt({self.text(term.base, Level.SUM)})", Level.ATOM
        exponent = str(term.exponent) if term.exponent.denominator == 1 and term.exponent > 0 else f"({term.exponent})"
        return f"{self.text(term.base, Level.ATOM)}^{exponent}", Level.POWER

    @write.register
    def _(self, term: Binder) -> tuple[str, Level]:
        sign = _BINDERS[type(term)]
        return f"{sign}_{self.names[term.var]} {self.text(term.body, Level.BINDER)}", Level.BINDER

    @write.register
    def _(self, term: Fun) -> tuple[str, Level]:
        return f"{term.name}({self.texts(term.args)})", Level.ATOM

    @write.register
    def _(self, term: Iverson) -> tuple[str, Level]:
        parts = term.arg.args if isinstance(term.arg, Add) else (term.arg,)
        left = [part for part in parts if not split_sign(part)[0]]
        right = [split_sign(part)[1] for part in parts if split_sign(part)[0]]
        sides = (" + ".join(self.text(part, Level.BINDER) for part in side) or "0" for side in (left, right))
        return f"[{f' {_RELATIONS[term.rel]} '.join(sides)}]", Level.ATOM

    @write.register
    def _(self, term: Lam) -> tuple[str, Level]:
        return f"({','.join(self.names[var] for var in term.vars)} -> {self.text(term.body, Level.SUM)})", Level.ATOM

    @write.register
    def _(self, term: Apply) -> tuple[str, Level]:
        marks = "".join(f"∂{position}[{self.texts(indices)}]" for position, indices in term.derivatives)
        arguments = ", ".join(self._whole(argument) for argument in term.arguments)
        outs = f"[{self.texts(term.outs)}]" if term.outs else ""
        return f"{marks}{term.name}{outs}({arguments})", Level.ATOM

    def _whole(self, argument: Lam) -> str:
        """A whole tensor by its name, a row of one as ``x[b,:]``, anything else entry by entry."""
        body, front = argument.body, len(argument.body.children) - len(argument.vars)
        if isinstance(body, Entry) and front >= 0 and body.args[front:] == argument.vars:
            fixed = body.args[:front]
            if not any(part.free & set(argument.vars) for part in fixed):
                colons = [":"] * len(argument.vars)
                return body.tensor.name + (f"[{','.join([self.texts(fixed), *colons])}]" if fixed else "")
        return self.text(argument, Level.SUM)


_BINDERS: dict[type[Binder], str] = {Sum: "Σ", Maximum: "max"}
_RELATIONS = {"=": "=", ">=": "≥"}
