"""Formulas as text: the way in for everything that prints mathematics.

``inline_latex(term)`` for a formula in a line of words, ``display_latex(relation)`` for one on lines of its own, broken
to fit a width. :class:`Printer` does the same for all formulas of a document in one notation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from symres.errors import UsageError
from symres.language.formula import Formula, Relation
from symres.typeset import functions, matrix, products, rules  # noqa: F401  (their rules enter the table)
from symres.typeset import latex as as_latex
from symres.typeset.breaking import Line, break_relation
from symres.typeset.layout import Node, Op, relation
from symres.typeset.notation import Notation
from symres.typeset.setting import Setting, layout

WIDTHS = {"one": 30.0, "two": 19.5}
"""The room for a numbered display in ems: in one column of an article, and in one of two."""


def width(text: str) -> float:
    """A width in ems: ``one`` or ``two`` for the columns of a page, or a number.

    Raises:
        UsageError: if it is neither, or too narrow for any formula.
    """
    try:
        found = WIDTHS.get(text) or float(text)
    except ValueError:
        found = 0.0
    if not 8 <= found < 1000:
        raise UsageError(f"{text!r} is no width", remedy="Give one, two, or the width of a line in ems, at least 8.")
    return found


@dataclass(frozen=True)
class Printer:
    """Prints the formulas of one document: one notation for all, lines of one width in ems."""

    notation: Notation = field(default_factory=Notation)
    width: float = WIDTHS["one"]

    @classmethod
    def of(cls, *formulas: Any, notation: Notation | None = None, width: float = WIDTHS["one"]) -> Printer:
        """A printer whose notation covers all names in the formulas, which may be whole derivations."""
        return cls((notation or Notation()).of(*formulas), width)

    def setting(self, *formulas: Any) -> Setting:
        """Letters for formulas that stand together, such as a step and the words of its reason."""
        return Setting.of(*formulas, notation=self.notation, numerator=max(4.0, 0.45 * self.width))

    def node(self, formula: Formula, among: Iterable[Any] = ()) -> Node:
        """The layout of a formula on one line."""
        return layout(formula, self.setting(formula, *among)).node

    def lines(self, formula: Formula, among: Iterable[Any] = ()) -> list[Line]:
        """The layout of a formula in lines that fit the width."""
        setting = self.setting(formula, *among)
        whole = formula if isinstance(formula, Relation) else Relation((formula,), ())
        ops: list[Op] = [relation(sign) for sign in whole.ops]
        return break_relation([layout(part, setting).node for part in whole.parts], ops, self.width)

    def inline(self, formula: Formula, among: Iterable[Any] = ()) -> str:
        """LaTeX for mathematics inside a line. ``among``: what it is printed together with."""
        return as_latex.latex(self.node(formula, among), as_latex.TEXT).strip()

    def display(self, formula: Formula, among: Iterable[Any] = ()) -> str:
        r"""LaTeX for ``equation`` or ``\[ … \]``, with ``aligned`` where it takes several lines."""
        return as_latex.display(self.lines(formula, among))


def inline_latex(formula: Formula, *among: Any) -> str:
    """LaTeX of a formula for mathematics inside a line of words; ``among``: what it is printed together with."""
    return Printer.of(formula, *among).inline(formula, among)


def display_latex(formula: Formula, *among: Any, width: float = WIDTHS["one"]) -> str:
    """LaTeX of a formula on lines of its own that fit ``width`` ems."""
    return Printer.of(formula, *among, width=width).display(formula, among)
