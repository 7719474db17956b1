"""The value of each kind of node: one function for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod
from typing import Any, TypeVar

from symres.judge.evaluate import RULES, Evaluator, Grid
from symres.judge.faults import Undefined
from symres.judge.functions import KNOWN, Numbers
from symres.judge.syntax import Add, Apply, Entry, Fun, Iverson, Lambda, Max, Mul, Node, Num, Pow, Size, Sum, Var

V = TypeVar("V")


def _num(self: Evaluator[V], node: Num) -> Grid[V]:
    return Grid((), [self.arithmetic.number(node.value)])


def _size(self: Evaluator[V], node: Size) -> Grid[V]:
    return Grid((), [self.arithmetic.number(self.sizes[node.name])])


def _var(self: Evaluator[V], node: Var) -> Grid[V]:
    if node in self.fixed:
        return Grid((), [self.arithmetic.number(self.fixed[node])])
    return Grid((node,), [self.arithmetic.number(k) for k in range(self.length(node))])


def _pointwise(operation: Callable[[Any], Callable[[Any, Any], Any]]) -> Callable[[Any, Any], Any]:
    def rule(self: Evaluator[V], node: Node) -> Grid[V]:
        variables = self.free(node)
        combine = operation(self.arithmetic)
        columns = (self.spread(self.grid(child), variables) for child in node.children)
        return Grid(variables, reduce(lambda left, right: list(map(combine, left, right)), columns))

    return rule


def _pow(self: Evaluator[V], node: Pow) -> Grid[V]:
    grid = self.grid(node.children[0])
    return Grid(grid.vars, [self.arithmetic.power(value, node.exponent) for value in grid.values])


def _groups(self: Evaluator[V], node: Sum | Max) -> tuple[tuple[Var, ...], list[list[V]]]:
    outer, length = self.free(node), self.length(node.var)
    number = self.number_of((*outer, node.var)) // length if length else self.number_of(outer)
    values = self.spread(self.grid(node.children[0]), (*outer, node.var)) if length else []
    return outer, [values[k * length : (k + 1) * length] for k in range(number)]


def _sum(self: Evaluator[V], node: Sum) -> Grid[V]:
    outer, groups = _groups(self, node)
    add, zero = self.arithmetic.add, self.arithmetic.number(0)
    return Grid(outer, [reduce(add, group) if group else zero for group in groups])


def _max(self: Evaluator[V], node: Max) -> Grid[V]:
    outer, groups = _groups(self, node)
    if not all(groups):
        raise Undefined("a maximum over nothing")
    return Grid(outer, [group[self.arithmetic.argmax(group)] for group in groups])


def _fun(self: Evaluator[V], node: Fun) -> Grid[V]:
    variables = self.free(node)
    if node.name == "floordiv":
        top, bottom = (self.spread(self.index(child), variables) for child in node.children)
        if 0 in bottom:
            raise Undefined("a division by zero")
        return Grid(variables, [self.arithmetic.number(a // b) for a, b in zip(top, bottom, strict=True)])
    rows = zip(*(self.spread(self.grid(child), variables) for child in node.children), strict=True)
    if node.name in KNOWN:
        rule = KNOWN[node.name].rule
        return Grid(variables, [rule(*(Numbers(self.arithmetic, u) for u in row)).value for row in rows])
    unknown = self.unknowns[node.name]
    return Grid(variables, [unknown.at(self.arithmetic, self.lift, row).value(0, node.positions) for row in rows])


def _iverson(self: Evaluator[V], node: Iverson) -> Grid[V]:
    grid = self.rational(node.children[0])
    false, true = self.arithmetic.number(0), self.arithmetic.number(1)
    if node.relation == "=":
        return Grid(grid.vars, [false if value else true for value in grid.values])
    return Grid(grid.vars, [false if value < 0 else true for value in grid.values])


def _entry(self: Evaluator[V], node: Entry) -> Grid[V]:
    table, variables = self.table(node.name), self.free(node)
    if node.name in self.partial and any(k >= table.shape[0] for k in self.index(node.children[0]).values):
        raise Undefined(f"the recurrence {node.name} reads what it has not reached")
    places = _places(self, node.children, table.shape, variables)
    values, zero = table.values, self.arithmetic.number(0)
    return Grid(variables, [zero if place is None else values[place] for place in places])


def _places(
    self: Evaluator[V], indices: Sequence[Node], shape: tuple[int, ...], variables: tuple[Var, ...]
) -> list[int | None]:
    """The place in a table for each value of the variables; ``None`` out of range."""
    places: list[int | None] = [0] * self.number_of(variables)
    for node, length in zip(indices, shape, strict=True):
        column = self.spread(self.index(node), variables)
        places = [
            None if place is None or not 0 <= k < length else place * length + k
            for place, k in zip(places, column, strict=True)
        ]
    return places


def _apply(self: Evaluator[V], node: Apply) -> Grid[V]:
    unknown, variables = self.unknowns[node.name], self.free(node)
    shapes = unknown.arguments
    if tuple(tuple(map(self.length, argument.vars)) for argument in node.arguments) != shapes:
        raise Undefined(f"{node.name} is given an argument of another shape than declared")
    arguments = [self.spread(_whole(self, argument), variables) for argument in node.arguments]
    # the place of each entry in the list of all entries of all arguments
    offsets = [sum(map(prod, shapes[:position])) for position in range(len(shapes))]
    columns = [_places(self, node.outs, unknown.out, variables)]
    for position, at in node.derivatives:
        places = _places(self, at, shapes[position], variables)
        columns.append([None if place is None else place + offsets[position] for place in places])
    zero, values = self.arithmetic.number(0), []
    for k in range(self.number_of(variables)):
        places = [column[k] for column in columns]
        point = unknown.at(self.arithmetic, self.lift, tuple(z for argument in arguments for z in argument[k]))
        out, *by = [-1 if place is None else place for place in places]
        values.append(zero if None in places else point.value(out, by))
    return Grid(variables, values)


def _whole(self: Evaluator[V], argument: Lambda) -> Grid[tuple[V, ...]]:
    """The argument as one tuple of entries for each value of its free variables."""
    outer, number = self.free(argument), self.number_of(argument.vars)
    self.number_of((*outer, *argument.vars))
    values = self.spread(self.grid(argument.children[0]), (*outer, *argument.vars))
    return Grid(outer, [tuple(values[k * number : (k + 1) * number]) for k in range(self.number_of(outer))])


RULES |= {
    Num: _num,
    Size: _size,
    Var: _var,
    Entry: _entry,
    Add: _pointwise(lambda arithmetic: arithmetic.add),
    Mul: _pointwise(lambda arithmetic: arithmetic.mul),
    Pow: _pow,
    Sum: _sum,
    Max: _max,
    Fun: _fun,
    Iverson: _iverson,
    Apply: _apply,
}
