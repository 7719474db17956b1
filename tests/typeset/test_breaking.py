"""Long formulas break where a reader expects it, and no line is too long for its column."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from symres.errors import Unsupported
from symres.kernel.terms import Term
from symres.language.formula import Relation, equation
from symres.typeset.metrics import measure
from symres.typeset.printer import WIDTHS, Printer, width
from tests.typeset.layernorm import SIX_TERMS, THREE_TERMS, b, i, x
from tests.typeset.test_reading import terms
from tests.typeset.tex import ONE, TWO, compiled, needs_tex, overfull, sheet

CHAIN = equation(x(b, i), SIX_TERMS, THREE_TERMS)


def lines(relation: Relation, ems: float) -> list[str]:
    """The rows of a display."""
    return Printer.of(relation, width=ems).display(relation).split("\\\\\n")


def test_what_fits_stays_on_one_line() -> None:
    assert len(lines(equation(x(b, i), THREE_TERMS), 30)) == 1
    assert "aligned" not in lines(equation(x(b, i), THREE_TERMS), 30)[0]


def test_a_chain_gets_a_row_for_each_sign() -> None:
    rows = lines(equation(x(b, i), THREE_TERMS, THREE_TERMS), 30)
    assert len(rows) == 2
    assert all("&= " in each for each in rows)


def test_lines_break_before_plus_and_minus() -> None:
    rows = lines(equation(x(b, i), SIX_TERMS), 24)
    assert len(rows) > 1
    assert all(each.lstrip("&\\quad ").startswith(("{} +", "{} -")) for each in rows[1:])


def test_brackets_keep_their_size_across_a_break() -> None:
    text = "".join(lines(equation(x(b, i), THREE_TERMS), 16))
    assert "\\\\" not in text
    assert text.count("\\biggl(") == text.count("\\biggr)") == 1
    assert "\\left" not in text


def test_no_line_is_estimated_wider_than_its_room() -> None:
    printer = Printer.of(CHAIN, width=20.0)
    for line in printer.lines(CHAIN)[0]:
        left = measure(line.left).width if line.left is not None else 0.0
        assert left + line.indent + measure(line.right).width <= 20.0


def test_a_long_left_side_gets_its_own_row() -> None:
    rows = lines(equation(SIX_TERMS, x(b, i)), 20)
    assert rows[-1].strip().startswith("&\\quad = x_{bi}")


def test_deep_formulas_print_fast_or_are_refused() -> None:
    deep = x(b, i)
    for number in range(1, 61):
        deep = (deep + number) * x(b, i)
    assert Printer.of(deep, width=20).display(deep).count("x_{bi}") == 61
    for number in range(2000):
        deep = (deep + number) * x(b, i)
    with pytest.raises(Unsupported, match="nested too deeply"):
        Printer.of(deep).display(deep)


def test_widths() -> None:
    assert width("one") == WIDTHS["one"]
    assert width("25.5") == 25.5


@pytest.mark.parametrize("options", [ONE, TWO])
class TestCompiled:
    pytestmark = needs_tex

    def test_random_formulas_fill_no_line_too_far(self, options: str, tmp_path: Path) -> None:
        found: list[Term] = []

        @settings(
            max_examples=60,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(terms(depth=3), min_size=3, max_size=5))
        def collect(drawn: list[Term]) -> None:
            found.extend(drawn)
            found.append(sum(drawn[1:], drawn[0]) * drawn[0])

        collect()
        ems = WIDTHS["two" if options else "one"]
        chosen = random.Random(5).sample(found, 90)
        formulas = [Printer.of(term, x(b, i), width=ems).display(equation(x(b, i), term)) for term in chosen]
        (tmp_path / "sheet.tex").write_text(sheet(formulas, options))
        assert overfull(compiled(tmp_path, "sheet.tex")) == []

    def test_the_check_sees_a_line_that_is_too_long(self, options: str, tmp_path: Path) -> None:
        formula = Printer.of(CHAIN, width=60.0).display(CHAIN)
        (tmp_path / "sheet.tex").write_text(sheet([formula], options))
        assert overfull(compiled(tmp_path, "sheet.tex"))
