"""Typst is made from the layout, compiles, and never lets brackets slip into a subscript."""

from __future__ import annotations

import pytest

from symres.language.formula import equation
from symres.typeset.printer import Printer
from symres.typeset.typst import escape, rows, string, typst
from tests.typeset.layernorm import SIX_TERMS, b, i, x
from tests.typeset.test_terms import PRINTED

engine = pytest.importorskip("typst")


def test_every_term_compiles() -> None:
    body = "\n\n".join(f"$ {typst(Printer.of(term).node(term))} $" for term, _ in PRINTED)
    assert engine.compile(body.encode()).startswith(b"%PDF")


def test_broken_lines_compile() -> None:
    chain = equation(x(b, i), SIX_TERMS)
    lines = Printer.of(chain, width=16).lines(chain)
    text = rows(lines, ["."])
    assert text.count("\\\n") == len(lines[0]) - 1 > 1
    assert engine.compile(f"$ {text} $".encode()).startswith(b"%PDF")


def test_arguments_stay_out_of_subscripts() -> None:
    term = next(term for term, latex in PRINTED if latex == r"F_{i}(x_{b})")
    printed = typst(Printer.of(term).node(term))
    assert printed == 'attach(F, b: i) class("opening", \\() attach(x, b: b) class("closing", \\))'


@pytest.mark.parametrize("text", ["#panic()", "$x$ *b* _i_", '"', "\\", "@ref <a> [x]", "= head", "- item", "// no"])
def test_words_are_escaped(text: str) -> None:
    assert engine.compile(f"x {escape(text)} y".encode()).startswith(b"%PDF")
    assert engine.compile(f"$ {string(text)} $".encode()).startswith(b"%PDF")


def test_escape_leaves_nothing_active() -> None:
    assert escape("#a_b") == "\\#a\\_b"
    with pytest.raises(engine.TypstError):
        engine.compile(b"#panic()")
