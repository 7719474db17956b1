"""A large prime field, in which a statement about rational functions and square roots is checked without rounding.

The prime is drawn anew for each check, so that nobody can write a certificate around it. It has about 124 bits, is 7
modulo 8, and every prime up to 97 is a square modulo it; hence the root of a size, of 2/3 and the like exists. -1 is
not a square, so of the two roots of a square exactly one is itself a square: ``a^((p+1)/4)``. It plays the part of the
positive root, and it is multiplicative, as that is: √(ab) = √a √b.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from symres.judge.faults import NotRational, Undefined

SMALL_ODD_PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
ROUNDS = 40


def draw_prime(source: random.Random) -> int:
    """A prime p = 7 (mod 8) modulo which all primes up to 97 are squares; about 2^92 primes can come out.

    For an odd prime q and p = 3 (mod 4), q is a square modulo p exactly if p is one modulo q (q = 1 mod 4), or is none
    (q = 3 mod 4): the law of quadratic reciprocity. So p is put together from a class modulo 8 and modulo each q.
    """
    modulus = 8
    for q in SMALL_ODD_PRIMES:
        modulus *= q
    while True:
        p = 7 * (modulus // 8) * pow(modulus // 8, -1, 8)
        for q in SMALL_ODD_PRIMES:
            square = pow(source.randrange(1, q), 2, q)
            residue = square if q % 4 == 1 else q - square
            p += residue * (modulus // q) * pow(modulus // q, -1, q)
        p = p % modulus + modulus * source.randrange(1, 16)
        if is_prime(p, source):
            return p


def is_prime(n: int, source: random.Random) -> bool:
    """Miller and Rabin's test with random bases; a composite odd n > 4 passes with probability below 4^-40."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(ROUNDS):
        x = pow(source.randrange(2, n - 1), odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


class Field:
    """Integers modulo a prime from :func:`draw_prime`."""

    sines = False

    def __init__(self, prime: int) -> None:
        self.prime = prime

    def number(self, value: Fraction | int) -> int:
        if value.denominator == 1:
            return value.numerator % self.prime
        return value.numerator * self._inverse(value.denominator) % self.prime

    def add(self, a: int, b: int) -> int:
        return (a + b) % self.prime

    def mul(self, a: int, b: int) -> int:
        return a * b % self.prime

    def power(self, a: int, exponent: Fraction) -> int:
        """An integer power, or one of the root.

        Raises:
            Undefined: if the root does not exist in the field, or for a negative power of 0.
        """
        if exponent.denominator == 2:
            root = pow(a, (self.prime + 1) // 4, self.prime)
            if root * root % self.prime != a:
                raise Undefined("the radicand is not a square in the field")
            a = root
        elif exponent.denominator != 1:
            raise NotRational(f"a root of degree {exponent.denominator}")
        return pow(a if exponent > 0 else self._inverse(a), abs(exponent.numerator), self.prime)

    def argmax(self, values: Sequence[int]) -> int:
        raise NotRational("a maximum")

    def primitive(self, name: str, a: int) -> int:
        raise NotRational(name)

    def pi(self) -> int:
        raise NotRational("pi")

    def draw(self, source: random.Random, kind: str) -> int:
        """A random element; in place of a positive number, a random square."""
        value = source.randrange(1, self.prime)
        return value * value % self.prime if kind == "positive" else value

    def constants(self, source: random.Random) -> dict[str, int]:
        """None: in a field π is an unknown like others, and nothing is large."""
        return {}

    def _inverse(self, a: int) -> int:
        if a % self.prime == 0:
            raise Undefined("a division by zero")
        return pow(a, -1, self.prime)
