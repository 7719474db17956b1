"""Words in documents: slots, sentences, sizes and errors."""

from __future__ import annotations

import pytest

from symres.derivation.document import Check
from symres.errors import SymresError
from symres.export.prose import error_in_words, fill, sentence
from symres.kernel.terms import Size
from symres.language.formula import Text


def test_slots_are_filled_and_words_escaped() -> None:
    text = Text("for {d} & more {d}", {"d": Size("D")})
    assert fill(text, lambda words: words.replace("&", "+"), repr) == "for D + more D"


def test_a_slot_without_a_formula_is_an_error() -> None:
    with pytest.raises(SymresError, match=r"no formula for \{d\}"):
        fill(Text("for {d}"), str, str)


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("chain rule", "Chain rule."),
        ("It is so.", "It is so."),
        ("as follows:", "As follows."),
        ("$x$ is 0", "$x$ is 0."),
    ],
)
def test_reasons_become_sentences(words: str, result: str) -> None:
    assert sentence(words) == result


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (None, ""),
        (0.0, "0"),
        (1.44e-16, "1.4\u00a0×\u00a010⁻¹⁶"),
        (2.5, "2.5\u00a0×\u00a010⁰"),
        (float("1e12"), "1.0\u00a0×\u00a010¹²"),
    ],
)
def test_errors_stay_in_one_piece(error: float | None, words: str) -> None:
    assert error_in_words(Check("NumPy", "complex step", True, error=error)) == words
