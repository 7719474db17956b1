"""Real expressions as Coq writes them: a small tree that the printer and the proofs take apart in the same way.

The tree is binary where Coq's notations are, so a proof about a printed expression can follow it sign by sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from functools import singledispatch

from symres.kernel.terms import Term, Var


class Level(IntEnum):
    """How tightly the outermost sign of a text binds in Coq."""

    SUM = 0
    PRODUCT = 1
    UNARY = 2
    POWER = 3
    APPLICATION = 4
    ATOM = 5


class Node:
    """A real expression."""


@dataclass(frozen=True)
class Leaf(Node):
    """An identifier or an application. ``proof`` shows its derivative along the curve; ``None`` if it is constant.

    ``positive`` and ``nonnegative`` are proof terms of its sign at the point of the curve, empty where unknown;
    ``inside`` gives what a definition stands for.
    """

    text: str
    level: Level = Level.APPLICATION
    proof: str | None = None
    positive: str = ""
    nonnegative: str = ""
    inside: Callable[[], Node] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Number(Node):
    """A rational number that is not negative."""

    value: Fraction


@dataclass(frozen=True)
class Plus(Node):
    left: Node
    right: Node


@dataclass(frozen=True)
class Opposite(Node):
    arg: Node


@dataclass(frozen=True)
class Times(Node):
    left: Node
    right: Node


@dataclass(frozen=True)
class Inverse(Node):
    """``/ arg``; ``term`` is what must not be zero, ``names`` its index variables."""

    arg: Node
    term: Term
    names: Mapping[Var, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Power(Node):
    """``arg ^ exponent`` with an exponent of at least 2."""

    arg: Node
    exponent: int


@dataclass(frozen=True)
class Call(Node):
    """An elementwise function of the library; ``term`` is its argument, ``names`` are its index variables."""

    name: str
    arg: Node
    term: Term
    names: Mapping[Var, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Total(Node):
    """The sum over ``var < size``; ``fact`` names the hypothesis that the size is at least 1, ``hyp`` the range.

    ``tangent`` is the text of the derivative of the summand, where one is wanted."""

    size: str
    fact: str
    var: str
    hyp: str
    body: Node
    tangent: str = ""


@dataclass(frozen=True)
class Argument:
    """A whole tensor given entry by entry, and the derivatives of its entries, to a general function."""

    vars: tuple[str, ...]
    hyps: tuple[str, ...]
    body: Node
    tangent: str

    @property
    def text(self) -> str:
        return lam(self.vars, text(self.body))


@dataclass(frozen=True)
class Applied(Node):
    """Entry ``outs`` of a general function of whole tensors; ``derivative`` names the hypothesis about it."""

    name: str
    derivative: str
    arguments: tuple[Argument, ...]
    outs: tuple[str, ...]
    ranges: tuple[str, ...]


def lam(names: tuple[str, ...], body: str) -> str:
    """``(fun b i => body)``; the body alone where there is nothing to bind."""
    return f"(fun {' '.join(names)} => {body})" if names else f"({body})"


def is_constant(node: Node) -> bool:
    """Whether no part of the expression moves with the curve."""
    if isinstance(node, Leaf):
        return node.proof is None
    if isinstance(node, Number):
        return True
    if isinstance(node, (Plus, Times)):
        return is_constant(node.left) and is_constant(node.right)
    if isinstance(node, Total):
        return is_constant(node.body)
    if isinstance(node, Applied):
        return all(is_constant(argument.body) for argument in node.arguments)
    return is_constant(node.arg)  # type: ignore[attr-defined]


def text(node: Node, level: Level = Level.SUM) -> str:
    """The expression in Coq's notation, in parentheses if it binds less tightly than ``level``."""
    words, found = write(node)
    return words if found >= level else f"({words})"


@singledispatch
def write(node: Node) -> tuple[str, Level]:
    """The text and its level."""
    raise TypeError(f"no Coq text for a {type(node).__name__}")


@write.register
def _(node: Leaf) -> tuple[str, Level]:
    return node.text, node.level


@write.register
def _(node: Number) -> tuple[str, Level]:
    whole = node.value.denominator == 1
    return (str(node.value) if whole else f"({node.value.numerator} / {node.value.denominator})"), Level.ATOM


@write.register
def _(node: Plus) -> tuple[str, Level]:
    minus = isinstance(node.right, Opposite)
    right = node.right.arg if isinstance(node.right, Opposite) else node.right
    return f"{text(node.left)} {'-' if minus else '+'} {text(right, Level.PRODUCT)}", Level.SUM


@write.register
def _(node: Opposite) -> tuple[str, Level]:
    return f"- {text(node.arg, Level.UNARY)}", Level.UNARY


@write.register
def _(node: Times) -> tuple[str, Level]:
    over = isinstance(node.right, Inverse)
    right = node.right.arg if isinstance(node.right, Inverse) else node.right
    return f"{text(node.left, Level.PRODUCT)} {'/' if over else '*'} {text(right, Level.UNARY)}", Level.PRODUCT


@write.register
def _(node: Inverse) -> tuple[str, Level]:
    return f"/ {text(node.arg, Level.UNARY)}", Level.UNARY


@write.register
def _(node: Power) -> tuple[str, Level]:
    return f"{text(node.arg, Level.APPLICATION)} ^ {node.exponent}", Level.POWER


@write.register
def _(node: Call) -> tuple[str, Level]:
    return f"{node.name} {text(node.arg, Level.ATOM)}", Level.APPLICATION


@write.register
def _(node: Total) -> tuple[str, Level]:
    return f"sum {node.size} (fun {node.var} => {text(node.body)})", Level.APPLICATION


@write.register
def _(node: Applied) -> tuple[str, Level]:
    return " ".join((node.name, *(argument.text for argument in node.arguments), *node.outs)), Level.APPLICATION
