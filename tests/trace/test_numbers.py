"""Numbers are exact: what is written, what was computed, and what stands for infinity."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy
import pytest

from symres.errors import Unsupported
from symres.kernel.terms import Entry, Num, Tensor, Term, mul, power
from symres.language.constants import INFINITY, PI
from symres.trace.numbers import number
from symres.trace.signals import recording

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Num(3)),
        (True, Num(1)),
        (0.1, Num(Fraction(1, 10))),
        (0.044715, Num(Fraction(44715, 1000000))),
        (1e-5, Num(Fraction(1, 100000))),
        (-2.5e-3, Num(Fraction(-1, 400))),
        (1 / 3, Num(Fraction(1, 3))),
        (2 / 7, Num(Fraction(2, 7))),
        (0.7978845608, Num(Fraction(7978845608, 10**10))),
        (math.pi, PI()),
        (-math.pi, mul(-1, PI())),
        (math.sqrt(2 / math.pi), power(2 / PI(), HALF)),
        (math.sqrt(2), power(2, HALF)),
        (numpy.float64(0.5), Num(HALF)),
        (numpy.int64(7), Num(7)),
        (Fraction(2, 3), Num(Fraction(2, 3))),
        (math.inf, INFINITY()),
        (-math.inf, mul(-1, INFINITY())),
    ],
)
def test_numbers_are_exact(value: Any, expected: Term) -> None:
    with recording() as notes:
        assert number(value) is expected
    assert notes.assumptions == []


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(-1e9, "−1e9 is read as −∞"), (1e30, "1e30 is read as ∞"), (-(10**9), "−1e9 is read as −∞")],
)
def test_large_numbers_are_read_as_infinity_and_it_is_said(value: Any, sentence: str) -> None:
    with recording() as notes:
        assert number(value) in (INFINITY(), mul(-1, INFINITY()))
    assert notes.assumptions == [sentence]


@pytest.mark.parametrize("value", [math.nan, 1j, "1"])
def test_what_is_no_real_number_is_refused(value: Any) -> None:
    with pytest.raises(Unsupported, match="not a real number"):
        number(value)


def test_a_float_that_is_no_simple_fraction_keeps_its_decimals() -> None:
    assert number(0.1 + 0.2) is Num(Fraction("0.30000000000000004"))
    assert not isinstance(number(0.1), Entry)
    assert Tensor("pi", (), "positive") == PI
