"""Layout trees as Typst mathematics, made from the layout itself: converters from LaTeX misread what they convert.

Two traps of the language are avoided throughout: ``f_i(h)`` would put (h) into the subscript, so brackets are always
escaped signs; and a word is a string without spaces around it, since a space beside a string is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from symres.typeset import layout as tree
from symres.typeset.breaking import Line
from symres.typeset.layout import row
from symres.typeset.metrics import DISPLAY, SCRIPT, TEXT, TINY, bracket_size

_SIGNS = {
    "varepsilon": "epsilon",
    "infty": "infinity",
    "dot": "dot.op",
    "one": 'bold(upright("1"))',
    "times": "times",
}
_OPS = {
    "cdot": "dot.op",
    "odot": "dot.o",
    "times": "times",
    ",": "\\,",
    ":": ":",
    "in": "in",
    "=>": "=>",
    "|": "bar.v",
}
_ACCENTS = {"hat": "hat", "bar": "macron", "tilde": "tilde", "dot": "dot", "vec": "arrow"}
_BIG = {"sum": "sum", "prod": "product", "max": "max", "min": "min", "lim": "lim", "sup": "sup"}
_FENCES = {
    "(": "\\(",
    ")": "\\)",
    "[": "\\[",
    "]": "\\]",
    "{": "\\{",
    "}": "\\}",
    "<": "chevron.l",
    ">": "chevron.r",
    "|": "bar.v",
    "|.": "bar.v",
    "||": "bar.v.double",
    "||.": "bar.v.double",
    "floor": "floor.l",
    "floor.": "floor.r",
}
_EMS = (0.0, 1.2, 1.8, 2.4, 3.0)


def escape(text: str) -> str:
    """Any text as Typst markup: no character of it is read as a command."""
    return "".join(
        f"\\{character}" if character.isascii() and not character.isalnum() and not character.isspace() else character
        for character in text
    )


def string(text: str) -> str:
    """A string literal."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{inner}"'


@singledispatch
def typst(node: tree.Node, style: int = DISPLAY) -> str:
    """The Typst of a layout, for mathematics mode."""
    raise TypeError(f"no Typst for a {type(node).__name__}")


@typst.register
def _(node: tree.Letter, style: int = DISPLAY) -> str:
    return node.text


@typst.register
def _(node: tree.Digits, style: int = DISPLAY) -> str:
    return node.text if node.text.isdecimal() else string(node.text)


@typst.register
def _(node: tree.Sign, style: int = DISPLAY) -> str:
    return _SIGNS.get(node.name, node.name)


@typst.register
def _(node: tree.Bold, style: int = DISPLAY) -> str:
    return f"bold(upright({string(node.text)}))"


@typst.register
def _(node: tree.Upright, style: int = DISPLAY) -> str:
    return f"op({string(node.text)})" if node.operator else string(node.text)


@typst.register
def _(node: tree.Prose, style: int = DISPLAY) -> str:
    return string(node.text)


@typst.register
def _(node: tree.Op, style: int = DISPLAY) -> str:
    sign = _OPS.get(node.sign, node.sign)
    return f'"" {sign}' if node.kind == "leading" else sign


@typst.register
def _(node: tree.Thin, style: int = DISPLAY) -> str:
    return "thin"


@typst.register
def _(node: tree.Row, style: int = DISPLAY) -> str:
    return joined([typst(item, style) for item in node.items])


@typst.register
def _(node: tree.Fraction, style: int = DISPLAY) -> str:
    inner = min(style + 1, TINY)
    return f"frac({typst(node.top, inner)}, {typst(node.bottom, inner)})"


@typst.register
def _(node: tree.Root, style: int = DISPLAY) -> str:
    return f"sqrt({typst(node.body, style)})"


@typst.register
def _(node: tree.Script, style: int = DISPLAY) -> str:
    inner = SCRIPT if style <= TEXT else TINY
    parts = [typst(node.base, style)]
    primes = node.sup.items if isinstance(node.sup, tree.Row) else (node.sup,)
    primed = all(sign == tree.Sign("prime") for sign in primes)
    if node.sup is not None and not primed:
        parts.append(f"t: {typst(node.sup, inner)}")
    if node.sub is not None:
        parts.append(f"b: {typst(node.sub, inner)}")
    if node.sup is not None and primed:
        parts.append(f"tr: {' '.join(['prime'] * len(primes))}")
    return f"attach({', '.join(parts)})"


@typst.register
def _(node: tree.Accent, style: int = DISPLAY) -> str:
    return f"{_ACCENTS[node.name]}({typst(node.body, style)})"


@typst.register
def _(node: tree.Big, style: int = DISPLAY) -> str:
    inner = SCRIPT if style <= TEXT else TINY
    below = f"_({typst(node.below, inner)})" if node.below else ""
    above = f"^({typst(node.above, inner)})" if node.above else ""
    return f"{_BIG[node.sign]}{below}{above}"


@typst.register
def _(node: tree.Fence, style: int = DISPLAY) -> str:
    size = bracket_size(node.body, style) if style <= TEXT else 0
    return f"{_bracket(node.left, size, 'opening')} {typst(node.body, style)} {_bracket(node.right, size, 'closing')}"


@typst.register
def _(node: tree.Bracket, style: int = DISPLAY) -> str:
    return _bracket(node.sign, node.size, "opening" if node.side == "l" else "closing")


@typst.register
def _(node: tree.Cases, style: int = DISPLAY) -> str:
    return f"cases({', '.join(f'{typst(value, TEXT)} & {typst(condition, TEXT)}' for value, condition in node.rows)})"


@typst.register
def _(node: tree.Grid, style: int = DISPLAY) -> str:
    return f"mat({'; '.join(', '.join(typst(cell, TEXT) for cell in cells) for cells in node.rows)})"


def _bracket(sign: str, size: int, role: str) -> str:
    text = _FENCES[sign]
    return f'class("{role}", {f"lr(size: #{_EMS[size]}em, {text})" if size else text})'


def joined(parts: list[str]) -> str:
    """The parts side by side; a space between two, but not beside a string."""
    text = ""
    for part in parts:
        spaced = text and not text.endswith('"') and not part.startswith('"')
        text += " " + part if spaced else part
    return text


def rows(formulas: Sequence[list[Line]], ends: Sequence[str] = ()) -> str:
    """The rows of formulas under one another, each followed by its mark of punctuation."""
    lines = []
    for position, formula in enumerate(formulas):
        end = string(ends[position]) if ends and ends[position] else ""
        last = len(formula) - 1
        lines += [_row(line) + (end if number == last else "") for number, line in enumerate(formula)]
    return " \\\n".join(lines)


def single(line: Line) -> str:
    """A line by itself, without an alignment point."""
    return typst(row(*(node for node in (line.left, line.right) if node is not None)))


def _row(line: Line) -> str:
    before = f"{typst(line.left)} " if line.left is not None else ""
    indent = f"#h({round(line.indent)}em) " if line.indent else ""
    return f"{before}& {indent}{typst(line.right)}"
