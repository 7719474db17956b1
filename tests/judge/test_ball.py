"""Ball arithmetic against mpmath at a much higher precision: the value is in the ball, and the ball is small."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symres.judge.ball import Ball, Balls
from symres.judge.faults import Undecided, Undefined
from symres.judge.functions import KNOWN, Numbers

MP = mpmath.MPContext()
MP.prec = 4000
BITS = 400
BALLS = Balls(BITS)


def contains(ball: Ball, value: Any) -> bool:
    """Whether a high-precision number lies in a ball."""
    middle = MP.mpf(ball.mantissa) * MP.mpf(2) ** ball.exponent
    return bool(abs(value - middle) <= MP.mpf(ball.radius) * MP.mpf(2) ** ball.exponent + MP.mpf(2) ** -3000)


def exact(value: Fraction) -> Any:
    return MP.mpf(value.numerator) / value.denominator


fractions = st.fractions(min_value=-50, max_value=50, max_denominator=10**6) | st.integers(-(2**70), 2**70).map(
    lambda n: Fraction(n, 2**66)
)

UNARY: dict[str, Callable[[Any], Any]] = {
    "exp": MP.exp,
    "sin": MP.sin,
    "cos": MP.cos,
    "arctan": MP.atan,
    "erf": MP.erf,
    "tanh": MP.tanh,
    "sinh": MP.sinh,
    "cosh": MP.cosh,
    "sigmoid": lambda u: 1 / (1 + MP.exp(-u)),
    "softplus": lambda u: MP.log(1 + MP.exp(u)),
    "gelu": lambda u: u * MP.ncdf(u),
    "arcsinh": MP.asinh,
    "expm1": MP.expm1,
    "exp2": lambda u: MP.mpf(2) ** u,
}
POSITIVE: dict[str, Callable[[Any], Any]] = {
    "log": MP.log,
    "log2": lambda u: MP.log(u, 2),
    "log1p": MP.log1p,
}
INSIDE: dict[str, Callable[[Any], Any]] = {"arcsin": MP.asin, "arccos": MP.acos, "arctanh": MP.atanh}


def known(name: str, ball: Ball) -> Ball:
    result: Ball = KNOWN[name].rule(Numbers(BALLS, ball)).value
    return result


@pytest.mark.parametrize("name", [*UNARY, *POSITIVE, *INSIDE])
@settings(max_examples=40, deadline=None)
@given(value=fractions)
def test_functions(name: str, value: Fraction) -> None:
    if name in POSITIVE:
        value = abs(value) + Fraction(1, 10**6)
    if name in INSIDE:
        value = value / (abs(value) + 1)
    function = {**UNARY, **POSITIVE, **INSIDE}[name]
    ball = BALLS.number(value)
    result = known(name, ball)
    true = function(exact(value))
    assert contains(result, true)
    # relative to the larger of the value, the argument and 1: nothing is lost but by cancellation in the definition
    scale = max(abs(true), 1)
    assert exact(result.error) < scale * MP.mpf(2) ** -300


@pytest.mark.parametrize("name", ["exp", "sin", "cos", "arctan", "erf", "log"])
@settings(max_examples=30, deadline=None)
@given(value=fractions, width=st.integers(20, 390), inside=st.integers(-10, 10))
def test_functions_of_wide_balls(name: str, value: Fraction, width: int, inside: int) -> None:
    value = abs(value) + 1 if name == "log" else value
    middle = BALLS.number(value)
    ball = Ball((middle.mantissa << 400) if middle.mantissa else 0, middle.exponent - 400, middle.radius << 400)
    ball = BALLS.add(ball, Ball(0, -width, 1))
    point = exact(value) + MP.mpf(inside) / 10 * MP.mpf(2) ** -width
    function = {**UNARY, **POSITIVE}[name]
    assert contains(BALLS.primitive(name, ball), function(point))


@settings(max_examples=300, deadline=None)
@given(a=fractions, b=fractions, exponent=st.fractions(min_value=-4, max_value=4, max_denominator=6))
def test_arithmetic(a: Fraction, b: Fraction, exponent: Fraction) -> None:
    left, right = BALLS.number(a), BALLS.number(b)
    assert contains(BALLS.add(left, right), exact(a) + exact(b))
    assert contains(BALLS.mul(left, right), exact(a) * exact(b))
    base = abs(a) + Fraction(1, 1000)
    result = BALLS.power(BALLS.number(base), exponent)
    true = exact(base) ** exact(exponent)
    assert contains(result, true)
    assert exact(result.error) < true * MP.mpf(2) ** -(BITS - 20)


@settings(max_examples=100, deadline=None)
@given(
    parts=st.lists(
        st.tuples(st.integers(-1000, 1000), st.integers(-30, 30), st.integers(0, 50)), min_size=2, max_size=2
    ),
    inside=st.tuples(st.integers(-10, 10), st.integers(-10, 10)),
)
def test_arithmetic_of_wide_balls(parts: list[tuple[int, int, int]], inside: tuple[int, int]) -> None:
    balls = [Ball(*part) for part in parts]
    a, b = (
        (MP.mpf(ball.mantissa) + MP.mpf(ball.radius) * k / 10) * MP.mpf(2) ** ball.exponent
        for ball, k in zip(balls, inside, strict=True)
    )
    assert contains(BALLS.add(*balls), a + b)
    assert contains(BALLS.mul(*balls), a * b)
    if not balls[0].contains_zero:
        assert contains(BALLS.power(balls[0], Fraction(-1)), 1 / a)
    if balls[0].mantissa > balls[0].radius:
        assert contains(BALLS.power(balls[0], Fraction(1, 2)), MP.sqrt(a))
        assert contains(BALLS.power(balls[0], Fraction(-2, 3)), a ** (MP.mpf(-2) / 3))


def test_numbers_far_apart() -> None:
    small = BALLS.power(Ball(3, 0), Fraction(-1000))
    tower = BALLS.power(BALLS.power(small, Fraction(1000)), Fraction(2))
    both = BALLS.add(Ball(1, 0), tower)
    assert not both.contains_zero
    assert contains(both, MP.mpf(1))
    assert BALLS.add(tower, Ball(1, 0)) == both


def test_exp_far_out() -> None:
    assert BALLS.primitive("exp", Ball(-1, 40)).contains_zero
    assert BALLS.primitive("exp", Ball(-1, 40)).magnitude < -700_000
    assert MP.exp(-(MP.mpf(2) ** 19)) < MP.mpf(2) ** -750_000
    with pytest.raises(Undecided):
        BALLS.primitive("exp", Ball(1, 40))
    with pytest.raises(Undecided):
        BALLS.primitive("exp", Ball(1, 0, 2))


def test_exact_numbers_stay_exact() -> None:
    source = random.Random(5)
    values = [BALLS.draw(source, "real") for _ in range(10)]
    total = Ball(0, 0)
    for value in values:
        total = BALLS.add(total, BALLS.mul(value, value))
    assert total.radius == 0
    assert total.midpoint == sum(value.midpoint**2 for value in values)
    assert (
        BALLS.power(Ball(9, 2), Fraction(1, 2)) == Ball(6, 0) or BALLS.power(Ball(9, 2), Fraction(1, 2)).midpoint == 6
    )


def test_what_has_no_value() -> None:
    with pytest.raises(Undefined, match="a division by zero"):
        BALLS.power(Ball(0, 0), Fraction(-1))
    with pytest.raises(Undecided):
        BALLS.power(Ball(1, 0, 1), Fraction(-1))
    with pytest.raises(Undefined, match="a root of a negative number"):
        BALLS.power(Ball(-4, 0), Fraction(1, 2))
    with pytest.raises(Undefined):
        BALLS.primitive("log", Ball(0, 0))
    with pytest.raises(Undecided):
        BALLS.primitive("step", Ball(1, 0, 1))
    assert [BALLS.primitive("step", Ball(k, 0)).mantissa for k in (-1, 0, 1)] == [0, 0, 1]
    with pytest.raises(Undecided):
        BALLS.argmax([Ball(1, 0, 1), Ball(1, 0, 0)])
    assert BALLS.argmax([Ball(1, 0), Ball(7, 0), Ball(7, 0)]) == 1


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(1, 3), 6, "0.333333"),
        (Fraction(-2, 3), 3, "-0.667"),
        (Fraction(1234567), 3, "1.23e6"),
        (Fraction(1234567), 7, "1234567"),
        (Fraction(1, 4), 10, "0.25"),
        (Fraction(999999, 1000000), 3, "1"),
        (Fraction(1, 10**9), 2, "1e-9"),
        (Fraction(5, 10**4), 4, "0.0005"),
        (Fraction(30), 1, "3e1"),
        (Fraction(30), 4, "30"),
    ],
)
def test_decimals(value: Fraction, digits: int, text: str) -> None:
    assert BALLS.number(value).decimal(digits) == text


def test_decimals_are_sure() -> None:
    with pytest.raises(Undecided):
        Ball(1000, 0, 3).decimal(5)
    assert str(BALLS.pi()) == "3.14159265358979"
    assert BALLS.pi().decimal(100) == MP.nstr(MP.pi, 100)
    assert "between" in str(Ball(1, 0, 2))
