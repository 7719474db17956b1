"""Where long formulas break: rows of an aligned display that fit a width.

Lines break before a relation, else before + or − outside brackets, else inside brackets, else between factors; the
choice with the least total displeasure is found by dynamic programming. Brackets around a break keep their size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from symres.typeset.layout import Bracket, Fence, Node, Op, Product, Row, Script, Thin, row
from symres.typeset.metrics import bracket_size, measure

INDENT = 1.0
"""The indent of a continued line, in ems, for each depth of brackets at its start."""

_DEEPEST = 4
_SHORT = 8.5
"""Brackets up to this width stay whole."""

_BEFORE = {"binary": 0.0, "relation": 4.0}
"""Signs before which a line may break, with what speaks against it."""

_LINE, _DEPTH, _FACTOR, _OVERFULL = 3.0, 4.0, 14.0, 1000.0


class Line(NamedTuple):
    """A row of a display: what stands left of the alignment point, what stands right of it, and an indent in ems."""

    left: Node | None
    right: Node
    indent: float = 0.0


@dataclass(frozen=True)
class _Token:
    """A piece that does not break; ``cost`` is that of a break before it, ``None`` where there can be none."""

    node: Node
    width: float
    cost: float | None = None
    depth: int = 0
    dot: bool = False


def break_relation(parts: list[Node], ops: list[Op], width: float, left: float = 0.0) -> list[Line]:
    """The rows of the chain ``parts[0] ops[0] parts[1] …`` for lines of ``width`` ems.

    One row if all fits; otherwise one for each relation sign, and more where a part is too long. ``left`` is the room
    kept left of the alignment point for the rows around.
    """
    whole = row(parts[0], *(node for pair in zip(ops, parts[1:], strict=True) for node in pair))
    if not ops:
        return [Line(None, line, indent) for line, indent in _broken(parts[0], width, width)]
    own = measure(parts[0]).width
    left, sign = max(left, own), measure(ops[0]).width
    if measure(whole).width + left - own <= width:
        return [Line(parts[0], row(ops[0], *_rest(parts, ops)))]
    room = width - left - sign
    needed = max(_widest_token(part) for part in parts[1:])
    lines: list[Line] = []
    if left <= 0.45 * width and needed + 2 * INDENT <= room:
        first: Node | None = parts[0]
        shift = 0.0
    else:
        # The left side gets lines of its own, and all that follows moves to the left margin.
        broken = _broken(parts[0], width, width)
        lines = [Line(None, line, indent) for line, indent in broken]
        first, room, shift = None, width - INDENT - sign, INDENT
    for op, part in zip(ops, parts[1:], strict=True):
        for position, (line, indent) in enumerate(_broken(part, room, room + sign)):
            if position == 0:
                lines.append(Line(first, row(op, line), shift))
            else:
                lines.append(Line(None, line, shift + indent))
            first = None
    return lines


def _rest(parts: list[Node], ops: list[Op]) -> Iterator[Node]:
    yield parts[1]
    for op, part in zip(ops[1:], parts[2:], strict=True):
        yield op
        yield part


def _widest_token(node: Node) -> float:
    return max(token.width for token in _units(node))


def _units(node: Node) -> list[_Token]:
    """The node as tokens, with those glued together between which no line can break."""
    units: list[_Token] = []
    for token in _tokens(node, 0):
        if units and token.cost is None:
            last = units.pop()
            node = Row((*_items(last.node), *_items(token.node)))
            token = _Token(node, last.width + token.width, last.cost, last.depth, last.dot)
        units.append(token)
    return units


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if type(node) is Row else (node,)


def _broken(node: Node, first: float, later: float) -> list[tuple[Node, float]]:
    """The node in lines with their indents: the first of width ``first``, the others of width ``later``."""
    if measure(node).width <= first:
        return [(node, 0.0)]
    units = _units(node)
    count = len(units)
    best: list[tuple[float, int]] = [(0.0, 0)] + [(float("inf"), 0)] * count
    for end in range(1, count + 1):
        used = 0.0
        for start in range(end - 1, -1, -1):
            unit = units[start]
            used += unit.width
            room = first if start == 0 else later - _indent(unit)
            excess = used + 0.5 * unit.dot - room
            cost = _LINE + (unit.cost or 0.0) + _OVERFULL * max(0.0, excess)
            if end < count:
                cost += 2.0 * max(0.0, -excess / room) ** 2
            best[end] = min(best[end], (best[start][0] + cost, start))
            if excess > 0 and start < end - 1:
                break
    lines: list[tuple[Node, float]] = []
    end = count
    while end:
        start = best[end][1]
        lines.append((_line(units[start:end], bool(start)), _indent(units[start]) if start else 0.0))
        end = start
    return lines[::-1]


def _indent(unit: _Token) -> float:
    """The indent of a line that begins with the unit; very deep brackets do not push it further."""
    return INDENT * (1 + min(unit.depth, _DEEPEST))


def _line(units: list[_Token], continued: bool) -> Node:
    items = [item for unit in units for item in _items(unit.node)]
    if continued and units[0].dot:
        items.insert(0, Op("cdot", "leading"))
    elif continued and isinstance(items[0], Op) and items[0].kind == "binary":
        items[0] = Op(items[0].sign, "leading")
    return Row(tuple(items))


def _tokens(node: Node, depth: int) -> Iterator[_Token]:
    if isinstance(node, Product):
        yield from _factors(node, depth)
    elif isinstance(node, Row):
        after_comma = False
        for item in node.items:
            sign = item.kind if isinstance(item, Op) else ""
            if sign in _BEFORE:
                yield _Token(item, measure(item).width, _DEPTH * depth + _BEFORE[sign], depth)
            elif after_comma:
                first, *others = _tokens(item, depth)
                yield replace(first, cost=_DEPTH * depth, depth=depth)
                yield from others
            else:
                yield from _tokens(item, depth)
            after_comma = sign == "punctuation"
    elif isinstance(node, Fence) and measure(node).width > _SHORT:
        yield from _opened(node, None, depth)
    elif isinstance(node, Script) and isinstance(node.base, Fence) and measure(node).width > _SHORT:
        yield from _opened(node.base, node, depth)
    else:
        yield _Token(node, measure(node).width)


def _factors(node: Product, depth: int) -> Iterator[_Token]:
    """Factors; the first of each is where a line may begin, unless the sign before it stands for the product."""
    for position, item in enumerate(node.items):
        signed = position and isinstance(node.items[position - 1], (Op, Thin))
        for start, token in enumerate(_tokens(item, depth)):
            if start == 0 and position and not signed and not isinstance(item, (Op, Thin)):
                cost = _FACTOR + _DEPTH * depth
                yield _Token(token.node, token.width, cost, depth, dot=True)
            else:
                yield token


def _opened(fence: Fence, script: Script | None, depth: int) -> Iterator[_Token]:
    """Brackets as two signs with the tokens of the body between them."""
    size = bracket_size(fence.body)
    left: Node = Bracket(fence.left, size, "l")
    right: Node = Bracket(fence.right, size, "r")
    if script is not None:
        right = Script(right, script.sub, script.sup)
    yield _Token(left, measure(left).width)
    # A comparison in square brackets had better stay whole.
    yield from _tokens(fence.body, depth + (2 if fence.left == "[" else 1))
    yield _Token(right, measure(right).width)
