r"""A reader of printed LaTeX, written from the rules of mathematical print and not from the printer.

A sum is made of products, a product of factors side by side; Σ and max take the product to their right; a fraction,
a root and brackets hold what is inside; an exponent belongs to the one sign, letter or bracket before it. ``read``
gives the value of a formula for numbers in place of its letters.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[A-Za-z]|\d+|[^\s]")
SIZED = re.compile(r"\\(?:big|Big|bigg|Bigg)[lr]")
FUNCTIONS: Mapping[str, Callable[..., complex]] = {
    r"\exp": cmath.exp,
    r"\log": cmath.log,
    r"\tanh": cmath.tanh,
    r"\operatorname{ReLU}": lambda u: u if u.real > 0 else 0,
    r"\operatorname{sigmoid}": lambda u: 1 / (1 + cmath.exp(-u)),
    r"\max": lambda a, b: a if a.real > b.real else b,
    r"\min": lambda a, b: a if a.real < b.real else b,
}
COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "=": lambda a, b: abs(a - b) < 1e-9,
    ">": lambda a, b: a > b,
    r"\ge": lambda a, b: a > b - 1e-9,
    r"\le": lambda a, b: a < b + 1e-9,
}


@dataclass
class Values:
    """Numbers for letters. A tensor is a function of its printed indices, which count from 1."""

    numbers: Mapping[str, complex]
    tensors: Mapping[str, Callable[..., complex]] = field(default_factory=dict)


def flat(latex: str) -> str:
    """A display without its line breaks, alignment points and indents."""
    text = re.sub(r"\\(begin|end)\{aligned\}|&|\\qquad|\\quad|\\\\", " ", latex)
    return text.replace("{}", " ").replace(r"\,", " ")


def read(latex: str, values: Values) -> complex:
    """The value of a printed formula.

    Raises:
        SyntaxError: if it cannot be read in full.
    """
    tokens = TOKEN.findall(SIZED.sub("", flat(latex)))
    reader = _Reader(tokens, values)
    result = reader.total()
    if reader.peek() is not None:
        raise SyntaxError(f"unread from {reader.peek()!r} at {reader.place} in {latex}")
    return result


class _Reader:
    def __init__(self, tokens: list[str], values: Values) -> None:
        self.tokens, self.values, self.place = tokens, values, 0
        self.letters = dict(values.numbers)

    def peek(self, ahead: int = 0) -> str | None:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if token is None or (wanted is not None and token != wanted):
            raise SyntaxError(f"wanted {wanted!r}, found {token!r} at {self.place} in {' '.join(self.tokens)}")
        self.place += 1
        return token

    def group(self) -> _Reader:
        """What stands in the next braces, by itself."""
        self.take("{")
        start, depth = self.place, 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.take(), 0)
        inner = _Reader(self.tokens[start : self.place - 1], self.values)
        inner.letters = self.letters
        return inner

    def whole(self) -> complex:
        value = self.total()
        if self.peek() is not None:
            raise SyntaxError(f"unread from {self.peek()!r} in {' '.join(self.tokens)}")
        return value

    def total(self) -> complex:
        value = -self.product() if self.peek() == "-" and self.take() else self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> complex:
        value = self.factor()
        while True:
            token = self.peek()
            if token == r"\cdot":
                self.take()
                value *= self.factor()
            elif token is None or token in ("+", "-", ")", "]", "}", ",", "=", "<", ">", r"\ge", r"\le", r"\rvert"):
                return value
            else:
                value *= self.factor()

    def factor(self) -> complex:
        token = self.take()
        if token in (r"\sum", r"\max") and self.peek() == "_":
            return self.binder(token)
        value = self.sign(token)
        while self.peek() == "^":
            self.take()
            value **= self.exponent()
        return value

    def exponent(self) -> complex:
        inner = self.group()
        text = "".join(inner.tokens)
        fraction = re.fullmatch(r"(-?\d+)/(\d+)", text)
        return int(fraction[1]) / int(fraction[2]) if fraction else inner.whole()

    def sign(self, token: str) -> complex:
        if token.isdecimal():
            return complex(int(token))
        if token == r"\frac":
            top, bottom = self.group().whole(), self.group().whole()
            return top / bottom
        if token == r"\sqrt":
            return self.group().whole() ** 0.5
        if token in ("(", r"\lvert"):
            value = self.total()
            self.take(")" if token == "(" else r"\rvert")
            return value if token == "(" else complex(abs(value))
        if token == "[":
            return self.comparison("]")
        if token == r"\mathbf":
            self.group()
            self.take("[")
            return self.comparison("]")
        if token == r"\delta":
            self.take("_")
            left, right = self.group().tokens
            return complex(self.letters[left] == self.letters[right])
        if token == "e" and self.peek() == "^":
            self.take()
            return cmath.exp(self.group().whole())
        name = token + ("{" + "".join(self.group().tokens) + "}" if token == r"\operatorname" else "")
        if name in FUNCTIONS:
            return self.applied(FUNCTIONS[name])
        return self.named(token)

    def comparison(self, end: str) -> complex:
        left = self.total()
        compare = COMPARE[self.take()]
        right = self.total()
        self.take(end)
        return complex(compare(left.real, right.real))

    def applied(self, function: Callable[..., complex]) -> complex:
        power = 1
        if self.peek() == "^":
            self.take()
            power = int(self.group().whole().real)
        self.take("(")
        arguments = [self.total()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.total())
        self.take(")")
        return function(*arguments) ** power

    def named(self, token: str) -> complex:
        if token not in self.values.tensors:
            primes = 0
            while self.peek() == "'":
                primes += len(self.take())
            return complex(self.letters[token + "'" * primes])
        indices: list[complex] = []
        if self.peek() == "_":
            self.take()
            inner = self.group()
            while inner.peek() is not None:
                if "," in inner.tokens:
                    indices.append(inner.total())
                    if inner.peek() == ",":
                        inner.take()
                else:
                    indices.append(inner.named(inner.take()) if not inner.peek().isdecimal() else int(inner.take()))
        return self.values.tensors[token](*(round(index.real) for index in map(complex, indices)))

    def binder(self, token: str) -> complex:
        self.take("_")
        below = self.group()
        if token == r"\sum":
            letter = below.letter()
            below.take("=")
            first = below.whole()
            self.take("^")
            last = self.group().whole()
        else:
            letter = below.letter()
            first, last = 1, self.letters["range " + letter[0]]
        start, outside, results = self.place, self.letters, []
        for number in range(round(complex(first).real), round(complex(last).real) + 1):
            self.place, self.letters = start, {**outside, letter: number}
            results.append(self.product())
        self.letters = outside
        if token == r"\sum":
            return sum(results, 0j)
        return max(results, key=lambda value: value.real)

    def letter(self) -> str:
        name = self.take()
        while self.peek() == "'":
            name += self.take()
        return name


def close(left: complex, right: complex) -> bool:
    """Whether two values agree up to rounding."""
    return math.isclose(left.real, right.real, rel_tol=1e-7, abs_tol=1e-7) and math.isclose(
        left.imag, right.imag, rel_tol=1e-7, abs_tol=1e-7
    )
