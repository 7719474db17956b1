"""Reads the definitions of a Coq certificate and evaluates them on numbers: a second opinion on what the text says.

It knows the little of Coq that certificates state: ``Definition``, applications, ``fun``, arithmetic and the names of the
library. It shares nothing with the writer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

TOKEN = re.compile(r"\s*(?:(=>)|(\d+)|([A-Za-z_][\w']*)|(.))")


def _sum(size: int) -> Callable[[Callable[[int], float]], float]:
    return lambda body: math.fsum(body(k) for k in range(size))


LIBRARY: dict[str, Any] = {
    "INR": float,
    "S": lambda k: k + 1,
    "sum": _sum,
    "maximum": lambda size: lambda body: max(body(k) for k in range(size)),
    "exp": math.exp,
    "ln": math.log,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "logistic": lambda a: 1 / (1 + math.exp(-a)),
    "step": lambda a: float(a > 0),
    "delta": lambda i: lambda k: float(i == k),
    "at_most": lambda k: lambda i: float(k <= i),
}


def definitions(text: str) -> dict[str, tuple[list[str], str]]:
    """The parameters and the body of every real-valued definition before the proofs."""
    stated = text[: text.index("(** * Proof *)")]
    found = {}
    for name, binders, body in re.findall(r"^Definition ([\w']+) (.*?): R :=\s+(.*?)\.$", stated, re.M | re.S):
        names = [word for group in re.findall(r"\(([^():]*) :", binders) for word in group.split()]
        found[name] = names, body
    return found


def evaluate(text: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions of a certificate as functions; ``inputs`` are sizes, numbers and curried functions."""
    scope = {**LIBRARY, **inputs}
    for name, (parameters, body) in definitions(text).items():
        scope[name] = _curried(parameters, body, scope)
    return scope


def _curried(parameters: list[str], body: str, scope: dict[str, Any]) -> Any:
    def take(rest: list[str], given: dict[str, Any]) -> Any:
        if not rest:
            return Reader(body, {**scope, **given}).expression()
        return lambda value: take(rest[1:], {**given, rest[0]: value})

    return take(parameters, {})


class Reader:
    """A recursive-descent evaluator of one expression."""

    def __init__(self, text: str, scope: Mapping[str, Any]) -> None:
        self.tokens = [next(part for part in found if part) for found in TOKEN.findall(text) if any(found)]
        self.position, self.scope = 0, scope

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def next(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1]

    def expression(self) -> Any:
        value = self.product()
        while self.peek() in ("+", "-"):
            sign = self.next()
            other = self.product()
            value = value + other if sign == "+" else value - other
        return value

    def product(self) -> Any:
        value = self.unary()
        while self.peek() in ("*", "/"):
            sign = self.next()
            other = self.unary()
            value = value * other if sign == "*" else value / other
        return value

    def unary(self) -> Any:
        if self.peek() == "-":
            self.next()
            return -self.unary()
        if self.peek() == "/":
            self.next()
            return 1 / self.unary()
        value = self.application()
        if self.peek() == "^":
            self.next()
            return value ** int(self.next())
        return value

    def application(self) -> Any:
        value = self.atom()
        while self.peek() and (self.peek() == "(" or self.peek()[0].isalnum() or self.peek()[0] == "_"):
            value = value(self.atom())
        return value

    def atom(self) -> Any:
        token = self.next()
        if token == "(":
            value = self.function() if self.peek() == "fun" else self.expression()
            assert self.next() == ")"
            return value
        return int(token) if token.isdigit() else self.scope[token]

    def function(self) -> Any:
        self.next()
        names = []
        while self.peek() != "=>":
            names.append(self.next())
        self.next()
        start, depth = self.position, 0
        while depth or self.peek() != ")":
            depth += {"(": 1, ")": -1}.get(self.next(), 0)
        body = self.tokens[start : self.position]

        def take(rest: list[str], given: dict[str, Any]) -> Any:
            if not rest:
                inner = Reader("", {**self.scope, **given})
                inner.tokens = body
                return inner.expression()
            return lambda value: take(rest[1:], {**given, rest[0]: value})

        return take(names, {})
