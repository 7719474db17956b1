"""The prime field, its primes, and its roots."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy

from symres.judge.faults import NotRational, Undefined
from symres.judge.field import Field, draw_prime, is_prime

PRIMES = [draw_prime(random.Random(seed)) for seed in range(8)]


@pytest.mark.parametrize("p", PRIMES)
def test_the_primes_are_what_they_are_said_to_be(p: int) -> None:
    assert sympy.isprime(p)
    assert p % 8 == 7
    assert 1 << 123 < p < 1 << 128
    for q in sympy.primerange(2, 98):
        assert sympy.jacobi_symbol(q, p) == 1
    assert sympy.jacobi_symbol(p - 1, p) == -1


def test_the_primes_are_drawn_anew() -> None:
    assert len(set(PRIMES)) == len(PRIMES)


def test_the_primality_test_against_sympy() -> None:
    source = random.Random(1)
    numbers = [n | 1 for n in random.Random(2).sample(range(5, 10**6), 3000)]
    carmichael = [561, 1105, 1729, 2465, 2821, 6601, 8911, 3215031751, 3825123056546413051]
    for n in (*numbers, *carmichael):
        assert is_prime(n, source) == sympy.isprime(n)


def test_roots_are_the_multiplicative_ones() -> None:
    p, source = PRIMES[0], random.Random(3)
    field = Field(p)
    half = Fraction(1, 2)
    for _ in range(50):
        a, b = (field.draw(source, "positive") for _ in range(2))
        root = field.power(a, half)
        assert root * root % p == a
        assert field.power(root, half) ** 2 % p == root, "the root of a square is a square"
        assert field.power(a * b % p, half) == root * field.power(b, half) % p
        assert field.mul(field.power(a, -half), root) == 1
        with pytest.raises(Undefined):
            field.power(p - a, half)


def test_rational_numbers() -> None:
    field = Field(PRIMES[0])
    third = field.number(Fraction(-1, 3))
    assert field.mul(third, field.number(-3)) == 1
    assert field.power(third, Fraction(-2)) == 9
    with pytest.raises(Undefined):
        field.power(0, Fraction(-1))
    with pytest.raises(NotRational):
        field.power(2, Fraction(1, 3))
