"""Entries of arrays at computed indices: whole axes, slices, and index arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symres.kernel.terms import Add, Entry, Mul, Num, Term, Var, add, mul
from symres.language.ranges import inside
from symres.numeric.nodes import Graph, Node

Lower = Callable[[Term], Node]

WHOLE, SPAN, INDEX = "whole", "span", "index"


def read(graph: Graph, node: Node, variables: tuple[Var, ...], entry: Entry, lower: Lower) -> Node:
    """The array of ``entry``, whose tensor is ``node`` over ``variables``; 0 where an index is out of range."""
    given = dict(zip(variables, entry.args, strict=True))
    args = [given[label] for label in node.labels]
    outside = [
        (arg, label.dim) for label, arg in given.items() if label not in node.labels and not inside(arg, label.dim)
    ]
    result = at_indices(graph, node, args, lower)
    for arg, dim in outside:  # the array has no axis for this index, but it is 0 out of range all the same
        for low, high in ((arg, Num(0)), (dim - 1, arg)):
            result = graph.mul(
                graph.elementwise("compare", (lower(low), lower(high)), (">=",)),
                result,
            )
    return result


def at_indices(graph: Graph, node: Node, args: list[Term], lower: Lower) -> Node:
    """The entries of an array at one index for each of its axes."""
    if tuple(args) == node.labels:
        return node
    labels = tuple(arg for arg in args if isinstance(arg, Var))
    if len(set(labels)) == len(args) and all(
        label.dim is old.dim for label, old in zip(labels, node.labels, strict=True)
    ):
        return graph.make("rename", (node,), labels, labels)
    slots = [
        _slot(arg, old.dim, [*args[:k], *args[k + 1 :]], lower)
        for k, (arg, old) in enumerate(zip(args, node.labels, strict=True))
    ]
    indices = [lower(arg) for arg, slot in zip(args, slots, strict=True) if slot[0] == INDEX]
    padded = any(
        slot[0] == INDEX and not inside(arg, old.dim) for arg, old, slot in zip(args, node.labels, slots, strict=True)
    )
    advanced = graph.join(indices) if indices else ()
    kinds = [slot[0] == INDEX for slot in slots]
    first = kinds.index(True) if indices else 0
    adjacent = all(kinds[first : first + len(indices)])
    result: list[Var] = [] if adjacent else list(advanced)
    for k, slot in enumerate(slots):
        if adjacent and indices and k == first:
            result.extend(advanced)
        if slot[0] != INDEX:
            result.append(slot[1])
    return graph.make("take", (node, *indices), (tuple(slots), padded, tuple(advanced)), tuple(result))


def _slot(arg: Term, dim: Term, others: list[Term], lower: Lower) -> tuple[Any, ...]:
    """How one axis is read: whole, as a slice ``start + step * var``, or at an index array."""
    var, step, start = _linear(arg)
    if var is None or any(var in other.free for other in others) or not inside(arg, dim):
        return (INDEX,)
    if arg is var and var.dim is dim:
        return (WHOLE, var)
    return (SPAN, var, lower(start), lower(var.dim), step)


def _linear(arg: Term) -> tuple[Var | None, int, Term]:
    """``start + step * var`` with an integer step >= 1 and no index in the start; or no variable."""
    parts = arg.args if isinstance(arg, Add) else (arg,)
    moving = [part for part in parts if part.free]
    start = add(*(part for part in parts if not part.free))
    if len(moving) == 1:
        part = moving[0]
        if isinstance(part, Var):
            return part, 1, start
        if isinstance(part, Mul) and isinstance(part.args[0], Num):
            step, rest = part.args[0].value, mul(*part.args[1:])
            if isinstance(rest, Var) and step.denominator == 1 and step > 0:
                return rest, int(step), start
    return None, 0, start
