"""LaTeX, as our own typesetter writes it, into MathML."""

from __future__ import annotations

from functools import cache
from typing import Any

from symres.errors import SymresError


@cache
def _converter() -> Any:
    from math_core import LatexToMathML

    return LatexToMathML()


@cache
def mathml(latex: str, *, display: bool = False) -> str:
    """The MathML element for a formula in LaTeX.

    Raises:
        SymresError: if the converter does not know a command; a page never shows raw TeX in place of a formula.
    """
    from math_core import LatexError

    try:
        element: str = _converter().convert_with_local_state(latex, displaystyle=display)
    except LatexError as error:
        raise SymresError(f"a formula has no MathML: {error}\n{latex}") from error
    return element
