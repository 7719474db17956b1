"""The layout tree: what stands where in a formula, before any language of typesetting.

The setting (:mod:`symres.typeset.setting`) turns terms into these nodes, the backends turn the nodes into LaTeX or
Typst. The set is closed; a backend handles each class.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class Level(IntEnum):
    """How tightly the outermost sign of a node binds; what binds less than its place asks for is put in brackets."""

    RELATION = 0
    SUM = 1
    OPERATOR = 2
    """A prefix sign such as Σ: its operand is the product to its right."""
    PRODUCT = 3
    FACTOR = 4
    """May stand in a product, but not under an exponent: a fraction, f(u), e^u."""
    ATOM = 5


@dataclass(frozen=True)
class Node:
    """A node of the tree."""


@dataclass(frozen=True)
class Letter(Node):
    """One Latin letter, in italics."""

    text: str


@dataclass(frozen=True)
class Sign(Node):
    """A sign by name: a Greek letter (``mu``, ``Gamma``) or ``ell``, ``partial``, ``infty``, ``one``, …"""

    name: str


@dataclass(frozen=True)
class Upright(Node):
    """Several letters in upright type; ``operator`` for the name of a function."""

    text: str
    operator: bool = False


@dataclass(frozen=True)
class Digits(Node):
    """A number as written."""

    text: str


@dataclass(frozen=True)
class Bold(Node):
    """A bold upright letter or digit: the vector of ones."""

    text: str


@dataclass(frozen=True)
class Prose(Node):
    """Words inside a formula."""

    text: str


@dataclass(frozen=True)
class Op(Node):
    """``+``, ``-``, ``cdot``, ``odot``, ``,`` or a relation. ``kind``: binary, unary, relation, or punctuation."""

    sign: str
    kind: str = "binary"


@dataclass(frozen=True)
class Thin(Node):
    """A thin space."""


@dataclass(frozen=True)
class Row(Node):
    """Nodes side by side."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Product(Row):
    """Factors side by side; a line may break between them, with a dot."""


@dataclass(frozen=True)
class Fraction(Node):
    """A fraction with a bar."""

    top: Node
    bottom: Node


@dataclass(frozen=True)
class Root(Node):
    """A square root."""

    body: Node


@dataclass(frozen=True)
class Script(Node):
    """A base with a subscript, a superscript or both."""

    base: Node
    sub: Node | None = None
    sup: Node | None = None


@dataclass(frozen=True)
class Accent(Node):
    """``hat``, ``bar``, ``tilde``, ``dot`` or ``vec`` over a letter."""

    name: str
    body: Node


@dataclass(frozen=True)
class Big(Node):
    """A large operator, ``sum``, ``prod`` or ``max``, with what stands below and above it."""

    sign: str
    below: Node | None = None
    above: Node | None = None


@dataclass(frozen=True)
class Fence(Node):
    """A body in brackets that grow with it; lines may break inside."""

    body: Node
    left: str = "("
    right: str = ")"


@dataclass(frozen=True)
class Bracket(Node):
    """One bracket of a size from 0 to 4, its partner being elsewhere, perhaps in another line. ``side``: l or r."""

    sign: str
    size: int
    side: str


@dataclass(frozen=True)
class Cases(Node):
    """A brace with values and the conditions under which each holds."""

    rows: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True)
class Grid(Node):
    """A matrix or vector written out, in brackets."""

    rows: tuple[tuple[Node, ...], ...]


class Piece(NamedTuple):
    """A node and how tightly it binds."""

    node: Node
    level: Level


def atom(node: Node) -> Piece:
    """The node as something that never needs brackets."""
    return Piece(node, Level.ATOM)


def row(*nodes: Node) -> Node:
    """The nodes side by side, nested rows flattened."""
    flat: list[Node] = []
    for node in nodes:
        flat.extend(node.items if isinstance(node, Row) and not isinstance(node, Product) else (node,))
    return flat[0] if len(flat) == 1 else Row(tuple(flat))


def at(piece: Piece, level: Level) -> Node:
    """The node of the piece, in parentheses if it binds less tightly than ``level``."""
    return piece.node if piece.level >= level else Fence(piece.node)


def relation(sign: str) -> Op:
    """A relation sign."""
    return Op(sign, "relation")


def separated(nodes: list[Node], sign: str = ",") -> Node:
    """The nodes with a comma, or another punctuation mark, between them."""
    parts: list[Node] = []
    for node in nodes:
        parts += [Op(sign, "punctuation"), node] if parts else [node]
    return row(*parts)


def subscripted(symbol: Node, sub: Node | None, sup: Node | None = None) -> Node:
    """The symbol with further scripts, set beside those it already has: W₁ with ij is W_{1,ij}.

    Scripts of a derivative ∂ℓ/∂x go to the x, scripts of dγ to the γ.
    """
    if isinstance(symbol, Fraction):
        return Fraction(symbol.top, subscripted(symbol.bottom, sub, sup))
    if isinstance(symbol, Row):
        return Row((*symbol.items[:-1], subscripted(symbol.items[-1], sub, sup)))
    base, below, above = (symbol.base, symbol.sub, symbol.sup) if isinstance(symbol, Script) else (symbol, None, None)
    parts = [part for part in (below, sub) if part is not None]
    sups = [part for part in (above, sup) if part is not None]
    if not parts and not sups:
        return symbol
    return Script(base, separated(parts) if parts else None, row(*sups) if sups else None)


def has_superscript(node: Node) -> bool:
    """Whether a further exponent would be misread: σ² already has one."""
    return isinstance(node, Script) and node.sup is not None
