"""Array expressions: what terms become before they are spelled in NumPy.

A node is an array with one *label*, an index variable, for each axis; where its axes stand in memory, and which axes of
length 1 are kept for broadcasting, is decided later (:mod:`symres.numeric.layout`). Nodes are interned: the same
expression is one object, which is how shared subexpressions come to be computed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symres.kernel.terms import Term, Var

Labels = tuple[Var, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """An array expression.

    ``op`` is one of: ``input``, ``number``, ``size``, ``constant``, ``arange``; the elementwise ``add``, ``sub``,
    ``mul``, ``div``, ``neg``, ``pow``, ``fun``, ``unknown``, ``compare``, ``where``, ``maximum``; ``sum``, ``mean``,
    ``max`` over the labels in ``data``; ``einsum``; ``rename`` (the same array under other labels); ``take`` (entries
    at computed indices); ``apply`` (a general function). ``kind`` is ``real``, ``int`` or ``bool``: the latter two
    need care in NumPy.
    """

    op: str
    args: tuple[Node, ...]
    data: tuple[Any, ...]
    labels: Labels
    kind: str

    def __repr__(self) -> str:
        inside = ", ".join([*map(repr, self.args), *map(repr, self.data)])
        return f"{self.op}[{''.join(label.name for label in self.labels)}]({inside})"


ELEMENTWISE = frozenset({"add", "sub", "mul", "div", "neg", "pow", "fun", "unknown", "compare", "where", "maximum"})
REDUCTIONS = frozenset({"sum", "mean", "max"})
LEAVES = frozenset({"input", "number", "size", "constant"})
UNNAMED = LEAVES | {"rename"}
"""What is written out where it is used, whatever the derivation calls it."""


class Graph:
    """Makes nodes, each once, and remembers the names that the derivation gave to some.

    ``preferred`` is the order of axes in what is being defined; contractions give their axes in it.
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple[Any, ...], Node] = {}
        self._rank: dict[Var, int] = {}
        self.names: dict[Node, str] = {}
        self.preferred: Labels = ()

    def make(self, op: str, args: Sequence[Node], data: tuple[Any, ...], labels: Labels, kind: str = "") -> Node:
        """The node with these parts; ``kind`` is that of NumPy's result unless it is given."""
        kind = kind or _kind(op, args, data)
        for label in labels:
            self._rank.setdefault(label, len(self._rank))
        key = (op, tuple(args), data, labels, kind)
        if key not in self._nodes:
            self._nodes[key] = Node(op, tuple(args), data, labels, kind)
        return self._nodes[key]

    def known(self, op: str, args: Sequence[Node], data: tuple[Any, ...] = ()) -> bool:
        """Whether an elementwise node with these parts has been made already."""
        return (op, tuple(args), data, self.join(args), _kind(op, args, data)) in self._nodes

    def rank(self, labels: Iterable[Var]) -> list[int]:
        """Where labels come in the order in which they were met."""
        return sorted(self._rank[label] for label in labels)

    def join(self, args: Sequence[Node]) -> Labels:
        """The labels of an elementwise combination: those of the largest part, the others put in where they rank."""
        basis = list(max(args, key=lambda arg: len(arg.labels)).labels)
        for arg in args:
            for label in arg.labels:
                if label not in basis:
                    place = next((k for k, other in enumerate(basis) if self._rank[other] > self._rank[label]), None)
                    basis.insert(len(basis) if place is None else place, label)
        return tuple(basis)

    def number(self, value: Fraction | int) -> Node:
        """A rational number."""
        value = Fraction(value)
        return self.make("number", (), (value,), ())

    def size(self, term: Term) -> Node:
        """A symbolic size."""
        return self.make("size", (), (term,), ())

    def add(self, left: Node, right: Node) -> Node:
        """left + right; ``b + max(a - b, 0)`` is ``max(a, b)``."""
        for one, other in ((left, right), (right, left)):
            if other.op == "maximum" and is_number(other.args[1], 0):
                inside = other.args[0]
                if inside.op == "sub" and inside.args[1] is one:
                    return self.elementwise("maximum", inside.args)
        if right.op == "neg":
            return self.sub(left, right.args[0])
        if left.op == "neg":
            return self.sub(right, left.args[0])
        if is_number(left, 0):
            return right
        return left if is_number(right, 0) else self.elementwise("add", (left, right))

    def sub(self, left: Node, right: Node) -> Node:
        """left - right."""
        if right.op == "neg":
            return self.add(left, right.args[0])
        return left if is_number(right, 0) else self.elementwise("sub", (left, right))

    def mul(self, left: Node, right: Node) -> Node:
        """left * right; of a pair made before in the other order, that one."""
        if is_number(left, 1):
            return right
        if is_number(right, 1):
            return left
        if self.known("mul", (right, left)):
            left, right = right, left
        return self.elementwise("mul", (left, right))

    def div(self, left: Node, right: Node) -> Node:
        """left / right."""
        if is_number(right, 1):
            return left
        return self.elementwise("div", (left, right))

    def neg(self, node: Node) -> Node:
        """-node."""
        if node.op == "number":
            return self.number(-node.data[0])
        return self.elementwise("neg", (node,))

    def elementwise(self, op: str, args: Sequence[Node], data: tuple[Any, ...] = ()) -> Node:
        """A node over the joined labels of its parts; or one made before under other labels, renamed."""
        from symres.numeric.relabel import found_again  # it makes nodes itself

        again = found_again(self, op, args, data) if any(arg.op == "rename" for arg in args) else None
        return again or self.make(op, args, data, self.join(args))


def _kind(op: str, args: Sequence[Node], data: tuple[Any, ...]) -> str:
    """What NumPy makes of the operation: real, int or bool."""
    if op == "compare":
        return "bool"
    if op in ("size", "arange") or (op == "fun" and data[0] == "floordiv"):
        return "int"
    if op == "number":
        return "int" if data[0].denominator == 1 else "real"
    if op in ("div", "mean", "fun", "unknown", "apply", "constant"):
        return "real"
    kinds = {arg.kind for arg in (args[1:] if op == "where" else args[:1] if op == "take" else args)}
    if "real" in kinds or (op == "pow" and data[0].denominator != 1) or (op == "einsum" and kinds == {"bool"}):
        return "real"
    return "bool" if kinds == {"bool"} and op in ("mul", "max", "maximum", "where", "rename", "take") else "int"


def is_number(node: Node, value: int) -> bool:
    """Whether the node is this number."""
    return node.op == "number" and node.data[0] == value


def is_python_number(node: Node) -> bool:
    """Whether the value is a Python number: made of sizes and constants alone."""
    if node.op in ELEMENTWISE:
        return not node.labels and all(map(is_python_number, node.args))
    return node.op in ("number", "size", "constant")
