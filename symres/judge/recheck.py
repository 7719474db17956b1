"""The second judge: every claim of a certificate, tried at concrete sizes and random points in an exact arithmetic."""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from symres.judge.ball import Balls
from symres.judge.claims import first_difference, rests_on
from symres.judge.evaluate import Evaluator
from symres.judge.faults import Refused, TooLarge, Undefined
from symres.judge.field import Field, draw_prime
from symres.judge.functions import INTEGER_FUNCTIONS, KNOWN
from symres.judge.points import LARGEST_SIZE, draw_point, is_constant, size_choices, work
from symres.judge.reader import read
from symres.judge.syntax import Add, Certificate, Claim, Fun, Gradient, Iverson, Max, Mul, Node, Num, Pow, Uses, Var

FIELD, BALLS = "prime field", "balls"
SIZES, LARGEST_WITHOUT = 5, 3
"""How many choices of sizes are tried, and the largest size where conditions compute with indices in no way."""
BITS, TOLERANCE = 400, 200
HARDER = 4
"""After so many tries at the same sizes the precision is doubled."""


@dataclass(frozen=True)
class Method:
    """How much is tried in an arithmetic: points at each choice of sizes, tries for each, values in one evaluation.

    Where a claim has cases (signs, masks, integers), there are more points, at least ``cases`` and up to ``most`` as long
    as they have fewer than ``extra`` values together. ``total`` bounds the values computed for one claim, and after ``barren``
    choices of sizes without an answer no more are tried.
    """

    name: str
    points: int
    cases: int
    most: int
    tries: int
    budget: int
    extra: int
    total: int
    barren: int


METHODS = {
    FIELD: Method(FIELD, points=1, cases=3, most=8, tries=60, budget=400_000, extra=20_000, total=8_000_000, barren=3),
    BALLS: Method(BALLS, points=2, cases=5, most=10, tries=20, budget=25_000, extra=6_000, total=1_000_000, barren=40),
}


@dataclass(frozen=True)
class Result:
    """What was found about one claim: ``passed``, ``failed`` or ``undecided``, how, where, and why if not passed."""

    label: str
    kind: str
    verdict: str
    arithmetic: str
    sizes: tuple[Mapping[str, int], ...]
    points: int
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.label}: {self.verdict}" + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True)
class Report:
    """What was found about a certificate. The same ``seed`` repeats the same points."""

    id: str
    title: str
    hash: str
    seed: str
    claims: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """Whether every claim passed."""
        return all(result.verdict == "passed" for result in self.claims)

    @property
    def reason(self) -> str:
        """The first claim that did not pass, in one line; empty if all did."""
        return next((str(result) for result in self.claims if result.verdict != "passed"), "")


def recheck(text: str, *, seed: str | None = None) -> Report:
    """Try every claim of a certificate.

    Args:
        text: the certificate as JSON.
        seed: repeats an earlier check; by default the points cannot be foreseen.

    Raises:
        Refused: if the text breaks a rule of the format, with the place and the rule.
    """
    certificate = read(text)
    if not certificate.claims:
        raise Refused("claims", "there is none")
    judge = Judge(certificate, secrets.token_hex(16) if seed is None else seed)
    results = tuple(judge.decide(claim) for claim in certificate.claims)
    return Report(certificate.id, certificate.title, certificate.hash, judge.seed, results)


class Judge:
    """The points at which the claims of one certificate are tried; claims share them, and what is computed there."""

    def __init__(self, certificate: Certificate, seed: str) -> None:
        self.certificate, self.seed = certificate, seed
        self._points: dict[tuple[Any, ...], Evaluator[Any] | Exception] = {}

    def decide(self, claim: Claim) -> Result:
        """Try a claim, in the prime field where that speaks of it, else with balls.

        Where roots occur, the field has more of them than the reals (√(x²) is ±x there), so a difference in the field
        is only a reason to ask the reals.
        """
        uses = rests_on(self.certificate, claim)
        if is_algebraic(self.certificate, uses):
            result = self._try(claim, METHODS[FIELD], uses)
            if result.verdict == "passed" or (result.verdict == "failed" and not has_roots(uses)):
                return result
        return self._try(claim, METHODS[BALLS], uses)

    def _try(self, claim: Claim, method: Method, uses: Uses) -> Result:
        sizes: list[Mapping[str, int]] = []
        points, spent, barren, reason = 0, 0, 0, "no choice of sizes fits"
        cases = has_cases(self.certificate, uses) or not self.certificate.sizes
        largest = LARGEST_SIZE if has_arithmetic(uses) else LARGEST_WITHOUT
        for choice in self._choices:
            if max(choice.values(), default=0) > largest:
                continue
            cost = work(self.certificate, choice, uses)
            if cost is None or cost > method.budget:
                continue
            wanted = max(method.cases, min(method.most, method.extra // cost)) if cases else method.points
            passed = 0
            for attempt in range(method.tries):
                spent += cost << (attempt // HARDER if method.name == BALLS else 0)
                if passed == wanted or spent > method.total:
                    break
                try:
                    difference = self._at(claim, method, choice, attempt)
                except (Undefined, TooLarge, RecursionError) as error:
                    reason = str(error)
                    continue
                if difference:
                    where = ", ".join(f"{name} = {value}" for name, value in choice.items())
                    reason = difference + (f" for {where}" if where else "")
                    return Result(claim.label, claim.kind, "failed", method.name, (choice,), 1, reason)
                passed += 1
            points += passed
            sizes += [choice] if passed else []
            barren += not passed
            if len(sizes) == SIZES or spent > method.total or barren > method.barren:
                break
        # one entry of a kind shows too little: some choice has at least two of each
        enough = any(min(choice.values(), default=2) > 1 for choice in sizes)
        verdict = "passed" if enough else "undecided"
        return Result(claim.label, claim.kind, verdict, method.name, tuple(sizes), points, "" if enough else reason)

    def _at(self, claim: Claim, method: Method, sizes: Mapping[str, int], attempt: int) -> str | None:
        evaluator = self._evaluator(method, sizes, attempt)
        arithmetic: Any = evaluator.arithmetic
        direction: list[Any] = []
        if isinstance(claim, Gradient):
            source = self._source("direction", claim.wrt, method.name, sizes, attempt)
            direction = [arithmetic.draw(source, "real") for _ in evaluator.table(claim.wrt).values]
        return first_difference(evaluator, claim, direction, TOLERANCE + self.certificate.digits)

    def _evaluator(self, method: Method, sizes: Mapping[str, int], attempt: int) -> Evaluator[Any]:
        key = (method.name, *sizes.values(), attempt)
        if key not in self._points:
            source = self._source("point", method.name, sizes, attempt)
            try:
                self._points[key] = draw_point(self.certificate, self._arithmetic(method, attempt), sizes, source)
            except Undefined as error:
                self._points[key] = error
        found = self._points[key]
        if isinstance(found, Exception):
            raise found
        return found

    def _arithmetic(self, method: Method, attempt: int) -> Any:
        """The field; or balls, of a higher precision at later attempts, with smaller or only positive inputs."""
        if method.name == FIELD:
            return self._field
        harder, place = divmod(attempt, HARDER)
        bits = (BITS + 2 * self.certificate.digits) << harder
        return Balls(bits, shrink=harder, positive=place == HARDER - 1)

    @cached_property
    def _field(self) -> Field:
        return Field(draw_prime(self._source("prime")))

    @cached_property
    def _choices(self) -> list[dict[str, int]]:
        return list(size_choices(self.certificate, self._source("sizes")))

    def _source(self, *purpose: Any) -> random.Random:
        text = f"{self.certificate.hash} {self.seed} {purpose}"
        return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def is_algebraic(certificate: Certificate, uses: Uses) -> bool:
    """Whether the field speaks of the terms: rational functions, square roots and unknown functions.

    Signs are left to the reals: in a field there is no order.
    """
    if "infinity" in uses.names and is_constant(certificate, "infinity"):
        return False
    return not any(
        isinstance(node, Max)
        or (isinstance(node, Fun) and node.name in KNOWN and node.name not in INTEGER_FUNCTIONS)
        or (isinstance(node, Pow) and node.exponent.denominator > 2)
        for node in uses.nodes
    )


def has_cases(certificate: Certificate, uses: Uses) -> bool:
    """Whether the values of the terms depend on integer inputs or on signs: then a point shows one case of many."""
    tensors = certificate.tensors
    return any(name in tensors and tensors[name].kind in ("bool", "int") for name in uses.names) or any(
        isinstance(node, Fun) and node.name in ("step", "eq0") for node in uses.nodes
    )


def has_arithmetic(uses: Uses) -> bool:
    """Whether indices are computed with in a condition, so that it may first differ from another at larger indices.

    A comparison of two indices is none.
    """
    return any(
        (isinstance(node, Iverson) and not _compares_two(node.children[0]))
        or (isinstance(node, Fun) and node.name in INTEGER_FUNCTIONS)
        for node in uses.nodes
    )


def _compares_two(node: Node) -> bool:
    """Whether the term is i - j."""
    kinds = sorted(type(child).__name__ for child in node.children)
    return isinstance(node, Add) and kinds == ["Mul", "Var"] and all(map(_is_index, node.children))


def _is_index(node: Node) -> bool:
    """Whether the term is i or -i."""
    first, *rest = node.children or (node,)
    if isinstance(node, Mul) and isinstance(first, Num) and first.value == -1 and len(rest) == 1:
        return isinstance(rest[0], Var)
    return isinstance(node, Var)


def has_roots(uses: Uses) -> bool:
    """Whether a fractional power occurs."""
    return any(isinstance(node, Pow) and node.exponent.denominator > 1 for node in uses.nodes)
