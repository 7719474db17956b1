"""Formulas as text: the way in for everything that prints mathematics.

``inline_latex(term)`` for a formula in a line of words, ``display_latex(relation)`` for one on lines of its own, broken
to fit a width. :class:`Printer` does the same for all formulas of a document in one notation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import Var
from symres.language.formula import Formula, Relation
from symres.typeset import functions, matrix, products, rules  # noqa: F401  (their rules enter the table)
from symres.typeset.breaking import Line, break_relation
from symres.typeset.layout import Node, relation
from symres.typeset.letters import terms_of
from symres.typeset.metrics import TEXT, measure
from symres.typeset.notation import Notation
from symres.typeset.setting import Setting, layout
from symres.typeset.tex import align, display, latex

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
    """Prints the formulas of one document: one notation, one choice of letters, lines of one width in ems."""

    notation: Notation = field(default_factory=Notation)
    letters: Mapping[Var, Node] = field(default_factory=dict)
    width: float = WIDTHS["one"]

    @classmethod
    def of(cls, *documents: Any, notation: Notation | None = None, width: float = WIDTHS["one"]) -> Printer:
        """A printer for all formulas in the documents: derivations, steps, relations, terms."""
        found = (notation or Notation()).of(*documents)
        return cls(found, found.letters(documents), width)

    def setting(self, formula: Formula) -> Setting:
        """What the rules need to know of a formula's surroundings."""
        free = frozenset(var for term in terms_of(formula) for var in term.free)
        raw = isinstance(formula, Var)
        return Setting(self.notation, self.letters, raw, max(4.0, 0.45 * self.width), scope=free)

    def node(self, formula: Formula) -> Node:
        """The layout of a formula on one line; an index variable by itself is its letter.

        Raises:
            Unsupported: for a kind of formula without a rule, or one that is nested too deeply.
        """
        return self._laid_out(formula, formula)

    def _laid_out(self, part: Formula, formula: Formula) -> Node:
        try:
            return layout(part, self.setting(formula)).node
        except RecursionError:
            raise Unsupported("the formula is nested too deeply to be printed", remedy="Name parts of it.") from None

    def lines(self, *formulas: Formula) -> list[list[Line]]:
        """The layouts of formulas, aligned with one another, each in lines that fit the width."""
        chains = []
        for formula in formulas:
            whole = formula if isinstance(formula, Relation) else Relation((formula,), ())
            parts = [self._laid_out(part, formula) for part in whole.parts]
            chains.append((parts, [relation(sign) for sign in whole.ops]))
        left = max((measure(parts[0]).width for parts, ops in chains if ops), default=0.0)
        left = left if left <= 0.45 * self.width else 0.0
        return [break_relation(parts, ops, self.width, left) for parts, ops in chains]

    def inline(self, formula: Formula) -> str:
        """LaTeX for mathematics inside a line."""
        return latex(self.node(formula), TEXT).strip()

    def display(self, formula: Formula, end: str = "") -> str:
        r"""LaTeX for ``equation`` or ``\[ … \]``, with ``aligned`` where it takes several lines, ``end`` after it."""
        return display(self.lines(formula)[0], end)

    def align(self, formulas: Sequence[Formula], labels: Sequence[str] = (), end: str = ".") -> str:
        """LaTeX for the inside of ``align``: formulas under one another, each with its label if there are any."""
        return align(self.lines(*formulas), labels, end)


def inline_latex(formula: Formula) -> str:
    """LaTeX of a formula for mathematics inside a line of words."""
    return Printer.of(formula).inline(formula)


def display_latex(formula: Formula, width: float = WIDTHS["one"]) -> str:
    """LaTeX of a formula on lines of its own that fit ``width`` ems."""
    return Printer.of(formula, width=width).display(formula)
