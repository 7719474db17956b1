"""Terms, programs and scalar functions as mathematics on a page.

From the kernel's terms to a layout tree (:mod:`.setting` and the rules beside it), from there to LaTeX and Typst. The
way in is :class:`symres.typeset.printer.Printer`, for one formula :func:`latex`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["latex"]


def latex(formula: Any, *, width: float = 30.0) -> str:
    """LaTeX of a term, a relation, a matrix expression, a traced program, or a scalar Python function.

    The text is for a display; lines fit ``width`` ems.

    Raises:
        Unsupported: for a function of arrays, which is printed from its trace, and for what has no rule.
    """
    from symres.language.program import Program
    from symres.typeset.printer import display_latex
    from symres.typeset.programs import latex_program
    from symres.typeset.scalar import scalar_latex

    if isinstance(formula, Program):
        return latex_program(formula, width=width)
    return scalar_latex(formula) if callable(formula) else display_latex(formula, width=width)
