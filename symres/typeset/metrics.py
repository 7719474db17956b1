"""How wide and how tall a layout is, in ems of the surrounding text, estimated from Computer Modern's font metrics.

The estimates choose the sizes of brackets and the places where lines break; they err on the wide side.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from functools import singledispatch

from symres.typeset import layout as tree

# Widths of cmmi10 and cmr10, in hundredths of an em.
_SMALL = (53, 43, 43, 52, 47, 60, 51, 58, 34, 47, 55, 34, 88, 60, 49, 51, 48, 48, 47, 36, 57, 52, 74, 57, 52, 51)
_CAPITAL = (75, 81, 79, 83, 80, 78, 79, 91, 52, 65, 92, 68, 108, 91, 79, 78, 79, 77, 67, 72, 79, 80, 108, 91, 80, 75)
_ITALIC = dict(zip(string.ascii_letters, (*_SMALL, *_CAPITAL), strict=True))
_ROMAN_NARROW, _ROMAN_WIDE = "fijlrst()[]|,.;: ", "mwMW%@"
_SIGNS = {
    "ell": 0.42,
    "partial": 0.59,
    "infty": 1.0,
    "dot": 0.28,
    "prime": 0.28,
    "top": 0.78,
    "one": 0.58,
    "iota": 0.36,
}
_BRACKETS = (0.39, 0.46, 0.6, 0.74, 0.8)
_BRACKET_HEIGHTS = (1.0, 1.2, 1.8, 2.4, 3.0)
# Brackets need not cover limits and scripts entirely: a displayed fraction gets the second size, a Σ the third.
_BRACKET_LIMITS = (1.35, 1.7, 2.35, 3.8)
_GAPS = {"binary": 0.46, "relation": 0.58, "punctuation": 0.17, "unary": 0.0, "leading": 0.46}
_BIG = {"sum": 1.45, "prod": 1.28, "max": 1.75, "min": 1.6, "lim": 1.4, "sup": 1.5}
_SCALE = (1.0, 1.0, 0.7, 0.5)
DISPLAY, TEXT, SCRIPT, TINY = range(4)


@dataclass(frozen=True)
class Box:
    """Width, height above and depth below the baseline, in ems."""

    width: float
    height: float = 0.7
    depth: float = 0.2

    def beside(self, other: Box) -> Box:
        """The box around two boxes side by side."""
        return Box(self.width + other.width, max(self.height, other.height), max(self.depth, other.depth))

    def scaled(self, factor: float) -> Box:
        """The box in another size of type."""
        return Box(self.width * factor, self.height * factor, self.depth * factor)


def upright_width(text: str) -> float:
    """The width of upright text."""
    return sum(0.4 if letter in _ROMAN_NARROW else 0.85 if letter in _ROMAN_WIDE else 0.56 for letter in text)


def bracket_size(body: tree.Node, style: int = DISPLAY) -> int:
    """The size of brackets around a body: 0 for those of the text, then 1 to 4."""
    return _size_around(measure(body, style))


def _size_around(box: Box) -> int:
    # Brackets are centred on the axis of the fraction bar, a quarter of an em up.
    needed = 2 * max(box.height - 0.25, box.depth + 0.25)
    return next((size for size, limit in enumerate(_BRACKET_LIMITS) if needed <= limit), len(_BRACKET_LIMITS))


def measure(node: tree.Node, style: int = DISPLAY) -> Box:
    """The box of a node in a style: display, text, script or script of script; in ems of that style's own size."""
    # Kept with the node, because each level of a formula asks for the boxes of all levels below.
    boxes: dict[int, Box] = node.__dict__.setdefault("_boxes", {})
    if style not in boxes:
        boxes[style] = _box(node, style)
    return boxes[style]


@singledispatch
def _box(node: tree.Node, style: int) -> Box:
    raise TypeError(f"no metrics for a {type(node).__name__}")


@_box.register
def _(node: tree.Letter, style: int) -> Box:
    return Box(_ITALIC.get(node.text, 80) / 100)


@_box.register
def _(node: tree.Sign, style: int) -> Box:
    return Box(_SIGNS.get(node.name, 0.8 if node.name[:1].isupper() else 0.64))


@_box.register(tree.Upright)
@_box.register(tree.Digits)
@_box.register(tree.Prose)
@_box.register(tree.Bold)
def _(node: tree.Upright | tree.Digits | tree.Prose | tree.Bold, style: int) -> Box:
    return Box(upright_width(node.text) + (0.17 if isinstance(node, tree.Upright) and node.operator else 0.0))


@_box.register
def _(node: tree.Op, style: int) -> Box:
    gap = _GAPS[node.kind] if style <= TEXT else 0.0
    return Box((0.28 if node.sign in {",", "cdot", ":"} else 0.78) + gap)


@_box.register
def _(node: tree.Thin, style: int) -> Box:
    return Box(0.17, 0.0, 0.0)


@_box.register
def _(node: tree.Row, style: int) -> Box:
    box = Box(0.0, 0.4, 0.0)
    for item in node.items:
        box = box.beside(measure(item, style))
    return box


@_box.register
def _(node: tree.Fraction, style: int) -> Box:
    inner = min(style + 1, TINY)
    scale = _SCALE[inner] / _SCALE[style]
    top, bottom = (measure(part, inner).scaled(scale) for part in (node.top, node.bottom))
    gap = 0.18 if style == DISPLAY else 0.08
    height = 0.25 + gap + top.depth + top.height
    return Box(max(top.width, bottom.width) + 0.24, height, gap + bottom.height + bottom.depth - 0.25)


@_box.register
def _(node: tree.Root, style: int) -> Box:
    box = measure(node.body, style)
    return Box(box.width + 0.85 + 0.1 * (box.height > 1.0), box.height + 0.2, box.depth)


@_box.register
def _(node: tree.Script, style: int) -> Box:
    inner = SCRIPT if style <= TEXT else TINY
    scale = _SCALE[inner] / _SCALE[style]
    base = measure(node.base, style)
    sub, sup = (measure(part, inner).scaled(scale) if part else Box(0, 0, 0) for part in (node.sub, node.sup))
    height = max(base.height, base.height - 0.3 + sup.height) if node.sup else base.height
    depth = max(base.depth, 0.15 + sub.depth) if node.sub else base.depth
    return Box(base.width + max(sub.width, sup.width) + 0.07, height, depth)


@_box.register
def _(node: tree.Accent, style: int) -> Box:
    box = measure(node.body, style)
    return Box(box.width, box.height + 0.05, box.depth)


@_box.register
def _(node: tree.Big, style: int) -> Box:
    inner = SCRIPT if style <= TEXT else TINY
    scale = _SCALE[inner] / _SCALE[style]
    below, above = (measure(part, inner).scaled(scale) if part else Box(0, 0, 0) for part in (node.below, node.above))
    symbolic = node.sign in {"sum", "prod"}
    if style == DISPLAY:
        height = (1.0 if symbolic else 0.7) + (0.2 + above.height if node.above else 0)
        depth = (0.45 if symbolic else 0.0) + (0.25 + below.height + below.depth if node.below else 0)
        # Limits may jut out over the neighbours; the operator is followed by a thin space.
        return Box(max(_BIG[node.sign], below.width, above.width) + 0.17, height, depth)
    width = (1.06 if symbolic else _BIG[node.sign]) + max(below.width, above.width)
    return Box(width + (0.25 if style == TEXT else 0.1), 0.9, 0.45)


@_box.register
def _(node: tree.Fence, style: int) -> Box:
    box = measure(node.body, style)
    size = _size_around(box)
    half = _BRACKET_HEIGHTS[size] / 2
    return Box(box.width + 2 * _BRACKETS[size], max(box.height, half + 0.25), max(box.depth, half - 0.25))


@_box.register
def _(node: tree.Bracket, style: int) -> Box:
    half = _BRACKET_HEIGHTS[node.size] / 2
    return Box(_BRACKETS[node.size], half + 0.25, half - 0.25)


@_box.register
def _(node: tree.Cases, style: int) -> Box:
    values = [measure(value, TEXT) for value, _ in node.rows]
    conditions = [measure(condition, TEXT) for _, condition in node.rows]
    width = max(box.width for box in values) + max(box.width for box in conditions) + 2.2
    tall = sum(max(1.2, box.height + box.depth + 0.25) for box in values) / 2
    return Box(width, tall + 0.25, tall - 0.25)


@_box.register
def _(node: tree.Grid, style: int) -> Box:
    boxes = [[measure(cell, TEXT) for cell in cells] for cells in node.rows]
    width = sum(max(box.width for box in column) for column in zip(*boxes, strict=True))
    tall = sum(max(1.2, *(box.height + box.depth + 0.2 for box in cells)) for cells in boxes) / 2
    return Box(width + len(boxes[0]) + 1.0, tall + 0.25, tall - 0.25)
