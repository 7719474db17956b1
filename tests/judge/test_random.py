"""Random equalities, true and false ones, are told apart; random programs have the values of a plain reading."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symres.judge import Ball, Refused, Result, Undefined, Values, recheck
from symres.kernel.terms import Tensor, Term, Var
from symres.language.certificate import EqualClaim, certificate, definitions_document
from symres.language.program import Definition
from symres.numeric.evaluate import Evaluation
from tests import random_terms
from tests.benchmarks.judges import campaign
from tests.kernel.oracle import agree
from tests.kernel.strategies import D, N, random_term, rewrite
from tests.kernel.test_normal_form import FALSE, TRUE, damage

SEEDS = st.integers(min_value=0, max_value=10**9)


def scope() -> list[Var]:
    return [Var("n", N), Var("i", D), Var("i", D)]


def result(left: Term, right: Term, variables: list[Var]) -> Result:
    made = certificate("random", "identity", "random", [], [EqualClaim("equal", tuple(variables), left, right)])
    return recheck(json.dumps(made)).claims[0]


def verdict(left: Term, right: Term, variables: list[Var]) -> str:
    return result(left, right, variables).verdict


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_true_equalities_pass(seed: int) -> None:
    rng, variables = random.Random(seed), scope()
    term = random_term(rng, variables, 3)
    assert verdict(term, rewrite(rng, rewrite(rng, term)), variables) == "passed"


def test_false_equalities_fail() -> None:
    """Of random false equalities hardly any is missed: only where a sign is another one in a small region."""
    found = Counter(filter(None, map(false_verdict, range(200))))
    assert found["failed"] > 120
    assert found["passed"] <= 1
    assert found["undecided"] <= 1


def false_verdict(seed: int) -> str | None:
    rng, variables = random.Random(seed), scope()
    term = random_term(rng, variables, 3)
    try:
        other = damage(rng, rewrite(rng, term), variables)
        # the oracle draws small integers, so its "equal" may be luck; its "different" is not
        if agree(term, other):
            return None
        found = result(term, other, variables)
    except (ZeroDivisionError, Refused):  # the damage may put a real number into a bracket
        return None
    return "no index" if "not an integer" in found.reason else found.verdict


@pytest.mark.parametrize("name", TRUE)
def test_true_equalities_of_the_kernel_pass(name: str) -> None:
    left, right = TRUE[name]
    assert verdict(left, right, sorted(left.free | right.free, key=lambda var: var.uid)) == "passed"


@pytest.mark.parametrize("name", FALSE)
def test_false_equalities_of_the_kernel_fail(name: str) -> None:
    left, right = FALSE[name]
    assert verdict(left, right, sorted(left.free | right.free, key=lambda var: var.uid)) == "failed"


@given(random_terms.terms(unknown=False, padded=True), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_values_against_a_plain_reading(term: Term, seed: int) -> None:
    indices = (random_terms.i, random_terms.j)
    n = 1 + seed % 3
    table = Definition(
        Tensor("t", (random_terms.N, random_terms.N)), ((random_terms.N,), (random_terms.N,)), indices, term
    )
    document = definitions_document([table], also=random_terms.TENSORS)
    source = random.Random(seed)
    inputs: dict[str, Any] = {
        "x": [half(source) for _ in range(n)],
        "y": [half(source) for _ in range(n)],
        "w": [[half(source) for _ in range(n)] for _ in range(n)],
        "a": half(source),
        "eps": Fraction(3, 4),
    }
    arrays = {name: np.array(value, dtype=float) for name, value in inputs.items()}
    try:
        found = Values(document, {"n": n}, inputs).table("t").values
    except Undefined:
        return
    numbers = [float(value.midpoint if isinstance(value, Ball) else value) for value in found]
    expected = np.broadcast_to(Evaluation(arrays, {"n": n}, {}).term(term, indices), (n, n))
    plain = expected.astype(float).ravel()
    finite = np.isfinite(plain)  # exp of large numbers overflows there
    assert np.allclose(np.array(numbers)[finite], plain[finite], rtol=1e-9, atol=1e-9)


def half(source: random.Random) -> Fraction:
    return Fraction(2 * source.randint(-4, 4) + 1, 2)


def test_kernel_and_judge_do_not_contradict_each_other() -> None:
    found = campaign(30, start=50_000)
    assert found["contradictions"] == []
    assert found["counts"]["rewritten: kernel proved, judge passed"] > 10
