"""The LaTeX of every construct is within what the converter to MathML understands."""

from __future__ import annotations

import pytest

from symres.kernel.terms import Term
from symres.language.formula import equation
from symres.typeset.printer import Printer, inline_latex
from tests.typeset.layernorm import SIX_TERMS, THREE_TERMS, b, i, x
from tests.typeset.test_terms import PRINTED

math_core = pytest.importorskip("math_core")


@pytest.mark.parametrize(("term", "latex"), PRINTED, ids=range(len(PRINTED)))
def test_every_term_converts(term: Term, latex: str) -> None:
    converter = math_core.LatexToMathML()
    assert converter.convert_with_local_state(inline_latex(term), displaystyle=False).startswith("<math")


def test_aligned_lines_convert() -> None:
    chain = equation(x(b, i), SIX_TERMS, THREE_TERMS)
    text = Printer.of(chain, width=20).display(chain)
    assert math_core.LatexToMathML().convert_with_local_state(text, displaystyle=True).count("<mtr") > 2
