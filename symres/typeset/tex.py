"""Layout trees as LaTeX: plain amsmath, safe for pdfLaTeX, XeLaTeX, LuaLaTeX and for converters to MathML.

Nothing passes through unescaped: names and words of users reach the output only through
:func:`symres.typeset.words.escape`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch

from symres.typeset import layout as tree
from symres.typeset.breaking import Line
from symres.typeset.layout import row
from symres.typeset.metrics import DISPLAY, SCRIPT, TEXT, TINY, bracket_size
from symres.typeset.words import escape

_SIGNS = {"dot": r"\cdot", "top": r"\top", "prime": r"\prime", "one": r"\mathbf{1}", "times": r"\times"}
_OPS = {
    "cdot": r"\cdot",
    "odot": r"\odot",
    "times": r"\times",
    ":=": r":=",
    "<=": r"\le",
    ">=": r"\ge",
    "!=": r"\ne",
    "->": r"\to",
    "=>": r"\implies",
    "in": r"\in",
    "|": r"\mid",
}
_SPACED = {"punctuation": "{} ", "leading": "{{}} {} "}
_NAMED = frozenset(
    (
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "arctan",
        "arcsin",
        "arccos",
        "max",
        "min",
        "det",
        "lim",
    )
)
_MATHEMATICS = re.compile(r"[A-Za-z0-9_%&#]+")
_SIZES = ("", "big", "Big", "bigg", "Bigg")
_FENCES = {
    "{": r"\{",
    "}": r"\}",
    "<": r"\langle",
    ">": r"\rangle",
    "|": r"\lvert",
    "|.": r"\rvert",
    "||": r"\lVert",
    "||.": r"\rVert",
    "floor": r"\lfloor",
    "floor.": r"\rfloor",
}


def delimiter(sign: str, size: int, side: str) -> str:
    """An opening (``side`` l) or closing (r) bracket of the given size."""
    text = _FENCES.get(sign, sign)
    return rf"\{_SIZES[size]}{side}{text}" if size else text


@singledispatch
def latex(node: tree.Node, style: int = DISPLAY) -> str:
    """The LaTeX of a layout, for mathematics mode."""
    raise TypeError(f"no LaTeX for a {type(node).__name__}")


@latex.register
def _(node: tree.Letter, style: int = DISPLAY) -> str:
    return node.text


@latex.register
def _(node: tree.Digits, style: int = DISPLAY) -> str:
    return node.text


@latex.register
def _(node: tree.Sign, style: int = DISPLAY) -> str:
    return _SIGNS.get(node.name, "\\" + node.name)


@latex.register
def _(node: tree.Bold, style: int = DISPLAY) -> str:
    return rf"\mathbf{{{node.text}}}"


@latex.register
def _(node: tree.Upright, style: int = DISPLAY) -> str:
    if node.operator and node.text in _NAMED:
        return "\\" + node.text
    command = r"\operatorname" if node.operator else r"\mathrm" if _MATHEMATICS.fullmatch(node.text) else r"\text"
    return rf"{command}{{{escape(node.text)}}}"


@latex.register
def _(node: tree.Prose, style: int = DISPLAY) -> str:
    return rf"\text{{{escape(node.text)}}}"


@latex.register
def _(node: tree.Op, style: int = DISPLAY) -> str:
    text = _OPS.get(node.sign, node.sign)
    if style >= SCRIPT or node.kind == "unary":
        return text
    return _SPACED.get(node.kind, " {} ").format(text)


@latex.register
def _(node: tree.Thin, style: int = DISPLAY) -> str:
    return r"\,"


@latex.register
def _(node: tree.Row, style: int = DISPLAY) -> str:
    return joined([latex(item, style) for item in node.items])


@latex.register
def _(node: tree.Fraction, style: int = DISPLAY) -> str:
    inner = min(style + 1, TINY)
    return rf"\frac{{{latex(node.top, inner)}}}{{{latex(node.bottom, inner)}}}"


@latex.register
def _(node: tree.Root, style: int = DISPLAY) -> str:
    return rf"\sqrt{{{latex(node.body, style)}}}"


@latex.register
def _(node: tree.Script, style: int = DISPLAY) -> str:
    inner = SCRIPT if style <= TEXT else TINY
    base = latex(node.base, style)
    if isinstance(node.base, (tree.Row, tree.Script, tree.Fraction)):
        base = f"{{{base}}}"
    sub = f"_{{{latex(node.sub, inner)}}}" if node.sub else ""
    primes = node.sup.items if isinstance(node.sup, tree.Row) else (node.sup,)
    if all(sign == tree.Sign("prime") for sign in primes):
        return base + "'" * len(primes) + sub
    sup = f"^{{{latex(node.sup, inner)}}}" if node.sup else ""
    return base + sub + sup


@latex.register
def _(node: tree.Accent, style: int = DISPLAY) -> str:
    return rf"\{node.name}{{{latex(node.body, style)}}}"


@latex.register
def _(node: tree.Big, style: int = DISPLAY) -> str:
    inner = SCRIPT if style <= TEXT else TINY
    below = f"_{{{latex(node.below, inner)}}}" if node.below else ""
    above = f"^{{{latex(node.above, inner)}}}" if node.above else ""
    return rf"\{node.sign}{below}{above}"


@latex.register
def _(node: tree.Fence, style: int = DISPLAY) -> str:
    size = bracket_size(node.body, style) if style <= TEXT else 0
    left, right = delimiter(node.left, size, "l"), delimiter(node.right, size, "r")
    return joined([left, latex(node.body, style), right])


@latex.register
def _(node: tree.Bracket, style: int = DISPLAY) -> str:
    return delimiter(node.sign, node.size, node.side)


@latex.register
def _(node: tree.Cases, style: int = DISPLAY) -> str:
    rows = (rf"{latex(value, TEXT)} & {latex(condition, TEXT)}" for value, condition in node.rows)
    return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


@latex.register
def _(node: tree.Grid, style: int = DISPLAY) -> str:
    rows = (" & ".join(latex(cell, TEXT) for cell in cells) for cells in node.rows)
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def display(lines: list[Line], end: str = "") -> str:
    r"""The rows of a display, for ``equation`` or ``\[ … \]``; more than one row is ``aligned``. ``end`` follows."""
    if len(lines) == 1:
        left, right, _ = lines[0]
        return latex(row(*(node for node in (left, right) if node is not None))).strip() + end
    body = " \\\\\n".join(map(_row, lines)) + end
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def align(formulas: list[list[Line]], labels: Sequence[str] = (), end: str = ".") -> str:
    """The rows of several formulas for ``align``, a comma after each and ``end`` after the last.

    The number of a formula, if it has a label, stands at its last row.
    """
    rows = []
    for position, lines in enumerate(formulas):
        *before, last = map(_row, lines)
        mark = rf" \label{{{labels[position]}}}" if any(labels) else ""
        rows += [line + (r" \notag" if any(labels) else "") for line in before]
        rows.append(last + (end if position == len(formulas) - 1 else ",") + mark)
    return " \\\\\n".join(rows)


def _row(line: Line) -> str:
    before = f"{latex(line.left)} " if line.left is not None else ""
    return f"{before}&{_space(line.indent)}{latex(line.right).strip()}"


def _space(indent: float) -> str:
    quads = round(indent)
    return r"\qquad" * (quads // 2) + r"\quad" * (quads % 2) + " " * bool(quads)


def joined(parts: list[str]) -> str:
    """The parts side by side, with a space where a command would run into a letter."""
    text = ""
    for part in parts:
        if text and part and part[0].isalpha() and _ends_in_command(text):
            text += " "
        text += part
    return text


def _ends_in_command(text: str) -> bool:
    head = text.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    return head != text and head.endswith("\\")
