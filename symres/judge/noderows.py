"""The nodes of the format: one function for each, which reads its parts and keeps its rules."""

from __future__ import annotations

import re
from typing import Any

from symres.judge.faults import Refused
from symres.judge.functions import INTEGER_FUNCTIONS, KNOWN
from symres.judge.syntax import Add, Apply, Entry, Fun, Iverson, Lambda, Max, Mul, Node, Num, Pow, Size, Sum, Var
from symres.judge.termreader import LARGEST_EXPONENT, MOST_NODES, Reading, Scope, TermReader, reads


@reads("num", 1, 1)
def _num(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    number = self.number(f"{place}[1]", value[1])
    self.literal(f"{place}[1]", number.numerator.bit_length() + number.denominator.bit_length() - 2)
    return self.make(Num, (), number)


@reads("size", 1, 1)
def _size(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    if not isinstance(value[1], str) or value[1] not in self.sizes:
        raise Refused(f"{place}[1]", f"the size {value[1]!r} is not declared")
    return self.make(Size, (), value[1])


@reads("var", 1, 1)
def _var(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    if not isinstance(value[1], str) or value[1] not in scope:
        raise Refused(f"{place}[1]", f"the variable {value[1]!r} is not bound here")
    return scope[value[1]]


@reads("entry", 2, 2)
def _entry(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    name = self.known(f"{place}[1]", value[1])
    indices = self.integers(f"{place}[2]", self.terms(f"{place}[2]", value[2], scope, depth))
    if len(indices) != len(self.axes(name)):
        raise Refused(f"{place}[2]", f"{name!r} has {len(self.axes(name))} axes, {len(indices)} indices are given")
    return self.make(Entry, indices, name)


@reads("add", 1, MOST_NODES)
def _add(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    return self.make(Add, self.terms(place, value, scope, depth, first=1))


@reads("mul", 1, MOST_NODES)
def _mul(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    return self.make(Mul, self.terms(place, value, scope, depth, first=1))


@reads("pow", 2, 2)
def _pow(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    exponent = self.number(f"{place}[2]", value[2])
    if abs(exponent.numerator) > LARGEST_EXPONENT or exponent.denominator > LARGEST_EXPONENT:
        raise Refused(f"{place}[2]", f"an exponent has no number over {LARGEST_EXPONENT} in it")
    before = self.length
    base = self.term(f"{place}[1]", value[1], scope, depth)
    self.literal(f"{place}[1]", (self.length - before) * abs(exponent.numerator))
    return self.make(Pow, (base,), exponent)


def _binder(cls: type[Node]) -> Reading:
    def read(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
        ((name, var),) = self.variable(f"{place}[1]", value[1:3], scope).items()
        body = self.term(f"{place}[3]", value[3], {**scope, name: var}, depth)
        return self.make(cls, (body,), var, bound=(var,))

    return read


reads("sum", 3, 3)(_binder(Sum))
reads("max", 3, 3)(_binder(Max))


@reads("fun", 2, 9)
def _fun(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    name = value[1]
    args = self.terms(place, value, scope, depth, first=2)
    if not isinstance(name, str):
        raise Refused(f"{place}[1]", "the name of a function is expected")
    positions: tuple[int, ...] = ()
    if name in KNOWN:
        arity = KNOWN[name].arity
    else:
        name, positions = _differentiated(f"{place}[1]", name)
        if name not in self.functions or not self.functions[name].elementwise:
            raise Refused(f"{place}[1]", f"the function {name!r} is neither known nor declared")
        arity = len(self.functions[name].args)
    if len(args) != arity or any(position >= arity for position in positions):
        raise Refused(place, f"the function {name!r} takes {arity} argument(s)")
    if name in INTEGER_FUNCTIONS:
        self.integers(place, args)
    return self.make(Fun, args, name, positions)


def _differentiated(place: str, name: str) -> tuple[str, tuple[int, ...]]:
    """``f''`` is f, twice by its first argument; ``f.1.2`` is f by its first and its second."""
    base = name.rstrip("'")
    if base != name:
        return base, (0,) * (len(name) - len(base))
    base, *positions = name.split(".")
    if not all(re.fullmatch("[1-8]", position, re.ASCII) for position in positions):
        raise Refused(place, f"{name[:40]!r} is no derivative of a function")
    return base, tuple(int(position) - 1 for position in positions)


@reads("iverson", 2, 2)
def _iverson(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    if value[1] not in ("=", ">="):
        raise Refused(f"{place}[1]", "a bracket compares with '=' or '>='")
    return self.make(Iverson, (self.index(f"{place}[2]", value[2], scope, depth),), value[1])


@reads("apply", 3, 4)
def _apply(self: TermReader, place: str, value: list[Any], scope: Scope, depth: int) -> Node:
    name = value[1]
    declared = self.functions.get(name) if isinstance(name, str) else None
    if declared is None or declared.elementwise:
        raise Refused(f"{place}[1]", f"the function {name!r} is not declared as one of tensors")
    outs = self.integers(f"{place}[2]", self.terms(f"{place}[2]", value[2], scope, depth))
    listed = (value[3], value[4] if len(value) == 5 else [])
    if not all(isinstance(part, list) and all(isinstance(x, list) and len(x) == 2 for x in part) for part in listed):
        raise Refused(place, "arguments and derivatives are lists of pairs")
    if len(outs) != len(declared.out) or len(listed[0]) != len(declared.args):
        raise Refused(place, f"{name!r} has {len(declared.out)} axes and {len(declared.args)} arguments")
    arguments = tuple(
        _lambda(self, f"{place}[3][{k}]", pair, declared.args[k], scope, depth) for k, pair in enumerate(listed[0])
    )
    derivatives = []
    for k, (position, at) in enumerate(listed[1]):
        if type(position) is not int or not 0 <= position < len(arguments):
            raise Refused(f"{place}[4][{k}]", "there is no such argument")
        indices = self.integers(f"{place}[4][{k}]", self.terms(f"{place}[4][{k}][1]", at, scope, depth))
        if len(indices) != len(declared.args[position]):
            raise Refused(f"{place}[4][{k}]", f"the argument has {len(declared.args[position])} axes")
        derivatives.append((position, indices))
    children = (*outs, *arguments, *(index for _, indices in derivatives for index in indices))
    return self.make(Apply, children, name, outs, arguments, tuple(derivatives))


def _lambda(self: TermReader, place: str, pair: list[Any], axes: tuple[Node, ...], scope: Scope, depth: int) -> Lambda:
    inner = dict(scope)
    variables: list[Var] = []
    if not isinstance(pair[0], list):
        raise Refused(f"{place}[0]", "a list of variables is expected")
    for k, given in enumerate(pair[0]):
        new = self.variable(f"{place}[0][{k}]", given, inner)
        inner |= new
        variables += new.values()
    if len(variables) != len(axes):
        raise Refused(f"{place}[0]", f"the argument has {len(axes)} axes")
    body = self.term(f"{place}[1]", pair[1], inner, depth)
    return self.make(Lambda, (body,), tuple(variables), bound=tuple(variables))
