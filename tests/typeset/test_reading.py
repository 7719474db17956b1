"""What is printed says what the term says: random terms are printed, read back by another reader, and evaluated."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from symres.kernel.terms import ZERO, Fun, Iverson, Maximum, Size, Tensor, Term, Var, add, delta, mul, power, sum_
from symres.language.functions import absolute, maximum, minimum, relu
from symres.typeset.printer import Printer
from tests.typeset.oracle import value
from tests.typeset.reader import Values, close, read

B, D = Size("B"), Size("D")
LENGTHS = {B: 2, D: 3}
x, y, z, s = Tensor("x", (B, D)), Tensor("y", (B,)), Tensor("z", (D,)), Tensor("s", (), "positive")
w = Tensor("w", (D, D))
b, i = Var("b", B), Var("i", D)
TABLES = {
    "x": lambda m, n: 0.7 + 0.31 * m - 0.43 * n,
    "y": lambda m: 1.3 - 0.9 * m,
    "z": lambda n: -0.6 + 0.55 * n,
    "s": lambda: 1.7,
    "w": lambda m, n: 0.2 + 0.5 * m - 0.35 * n * n,
}
EXPONENTS = [Fraction(2), Fraction(3), Fraction(-1), Fraction(1, 2), Fraction(-1, 2), Fraction(-2), Fraction(-3, 2)]
NUMBERS = [Fraction(1), Fraction(2), Fraction(-1), Fraction(-3), Fraction(1, 2), Fraction(-2, 3)]


@st.composite
def terms(draw: st.DrawFn, scope: tuple[Var, ...] = (b, i), depth: int = 4) -> Term:
    """A random term whose free variables are in scope."""
    batch = [var for var in scope if var.dim is B]
    features = [var for var in scope if var.dim is D]
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        m, n = draw(st.sampled_from(batch)), draw(st.sampled_from(features))
        k = draw(st.sampled_from(features))
        number = draw(st.sampled_from(NUMBERS))
        return draw(st.sampled_from([x(m, n), y(m), z(n), s(), w(n, k), delta(n, k), B + 0, D + 0, number + 0 * B]))
    inner = terms(scope, depth - 1)
    kind = draw(st.sampled_from(["add", "add", "mul", "mul", "power", "sum", "fun", "max", "neg", "index", "pattern"]))
    if kind == "add":
        return add(*draw(st.lists(inner, min_size=2, max_size=3)))
    if kind == "mul":
        return mul(draw(st.sampled_from(NUMBERS)), *draw(st.lists(inner, min_size=1, max_size=3)))
    if kind == "neg":
        return -draw(inner)
    if kind == "power":
        base, exponent = draw(inner), draw(st.sampled_from(EXPONENTS))
        # A root of a negative number has two values, and the sign of a zero would choose between them.
        base = base if exponent.denominator == 1 else base**2 + 1
        return power(base, exponent) if base is not ZERO else base
    if kind in ("sum", "max"):
        # one of those in force again, or a new one
        var = draw(st.sampled_from([Var("j", B), Var("j", D), *scope]))
        body = draw(terms((*scope, var), depth - 1))
        return sum_(var, body) if kind == "sum" else Maximum(var, body)
    if kind == "fun":
        return Fun(draw(st.sampled_from(["exp", "tanh", "step", "sigmoid"])), draw(inner))
    if kind == "index":
        left, right = draw(st.sampled_from(features)), draw(st.sampled_from(features))
        return Iverson(draw(st.sampled_from(["=", ">="])), left - right + draw(st.integers(-2, 2)))
    one, two = draw(inner), draw(inner)
    return draw(st.sampled_from([relu(one), absolute(one), maximum(one, two), minimum(one, two), 1 - Fun("step", one)]))


def from_one(table: Callable[..., float]) -> Callable[..., float]:
    """The table for indices that count from 1."""
    return lambda *indices: table(*(index - 1 for index in indices))


def printed_value(text: str) -> complex:
    """The value of the print at the second sample and the third feature."""
    numbers = {"B": 2, "D": 3, "b": 2, "i": 3}
    ranges = {f"range {letter}": 2 if letter in "bnm" else 3 for letter in "bnmijkpq"}
    tensors = {name: from_one(table) for name, table in TABLES.items()}
    return read(text, Values(numbers | ranges, tensors))


def true_value(term: Term) -> complex:
    """The value of the term there."""
    return value(term, {**LENGTHS, **TABLES, b: 1, i: 2})


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(terms(), st.sampled_from([9.0, 16.0, 34.0, 500.0]))
def test_print_read_back_has_the_value_of_the_term(term: Term, width: float) -> None:
    try:
        expected = true_value(term)
    except (ZeroDivisionError, OverflowError):
        assume(False)
    assume(abs(expected) < 1e6)
    printer = Printer.of(term, x(b, i), width=width)
    for text in (printer.inline(term), printer.display(term)):
        try:
            found = printed_value(text)
        except (ZeroDivisionError, OverflowError):
            assume(False)
        assert close(found, expected), text


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (r"x_{bi} - y_{b} + z_{i}", r"x_{bi} - (y_{b} + z_{i})"),
        (r"\sum_{j=1}^{D} z_{j} + y_{b}", r"\sum_{j=1}^{D} (z_{j} + y_{b})"),
        (r"-y_{b}^{2}", r"(-y_{b})^{2}"),
        (r"\frac{1}{D}x_{bi}^{2}", r"\Bigl(\frac{1}{D}x_{bi}\Bigr)^{2}"),
    ],
)
def test_the_reader_tells_missing_brackets(wrong: str, right: str) -> None:
    assert not close(printed_value(wrong), printed_value(right))
