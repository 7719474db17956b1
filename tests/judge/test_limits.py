"""Certificates written to mislead, or to take for ever."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from symres.judge import Refused, recheck
from symres.judge.field import Field
from tests.judge.build import (
    add,
    define,
    document,
    entry,
    equal,
    fun,
    gradient,
    mul,
    num,
    power,
    recur,
    size,
    sub,
    tensor,
    total,
    variables,
)

N = variables(n="N")
X = {"x": tensor("N"), "eps": tensor(kind="positive")}
x = entry("x", "n")


def verdict(left: Any, right: Any, definitions: Any = (), seed: str | None = None) -> str:
    text = json.dumps(document(X, list(definitions), [equal(left, right, N)], sizes="N"))
    return recheck(text, seed=seed).claims[0].verdict


@pytest.mark.parametrize(
    "tiny",
    [
        num(f"1/{10**300}"),
        power(2, -1000),
        power(power(num("1/2"), 40), 100),
        mul(*(num(f"1/{10**90}") for _ in range(4))),
    ],
)
def test_small_differences_are_seen(tiny: Any) -> None:
    assert verdict(add(x, tiny), x) == "failed"
    assert verdict(add(fun("exp", x), tiny), fun("exp", x)) == "failed"


def test_a_claim_about_one_prime_does_not_pass() -> None:
    """With the prime known, p x = 0 would pass; it is drawn for each check, also when the seed is not."""
    primes: list[int] = []
    original = Field.__init__

    def spy(self: Field, prime: int) -> None:
        primes.append(prime)
        original(self, prime)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Field, "__init__", spy)
        verdict(x, x)
        verdict(x, x)
        assert primes[0] != primes[1]
        assert verdict(mul(num(primes[0]), x), 0) == "failed"


def test_the_seed_repeats_a_check() -> None:
    text = json.dumps(document(X, [], [equal(x, add(x, num("1/7")), N), equal(x, x, N)], sizes="N"))
    first = recheck(text)
    assert recheck(text, seed=first.seed) == first


def test_a_long_chain_of_definitions() -> None:
    chain = [define("y0", N, x)]
    chain += [define(f"y{k}", N, add(entry(f"y{k - 1}", "n"), 1)) for k in range(1, 2000)]
    claims = [equal(entry("y1999", "n"), add(x, 1999), N), gradient("y1999", "x", "x", N, x)]
    assert recheck(json.dumps(document(X, chain, claims, sizes="N"))).passed


def test_terms_as_deep_as_allowed() -> None:
    left = x
    for _ in range(148):
        left = add(left)
    assert verdict(left, x) == "passed"


def squares(start: Any, count: int) -> list[Any]:
    return [
        define("s0", N, add(start)),
        *(define(f"s{k}", N, mul(entry(f"s{k - 1}", "n"), entry(f"s{k - 1}", "n"))) for k in range(1, count)),
    ]


@pytest.mark.parametrize(
    ("left", "definitions"),
    [
        (["sum", "m", power(power(10, 9), 9), x], []),
        (entry("s80", "n"), squares(2, 81)),
        (entry("x", entry("s80", "n")), squares(2, 81)),
        (fun("exp", entry("s80", "n")), squares(fun("exp", x), 81)),
        (entry("x", power(9, 499)), []),
        (fun("exp", power(9, 499)), []),
        (fun("exp", fun("exp", fun("exp", power(entry("eps"), 20)))), []),
        (power(sub(x, x), -1), []),
        (total("i", "N", total("j", "N", total("k", "N", total("l", "N", fun("exp", entry("x", "i")))))), []),
    ],
)
def test_what_takes_too_long_is_not_decided(left: Any, definitions: Any) -> None:
    start = time.perf_counter()
    assert verdict(left, mul(2, left), definitions) in ("undecided", "failed")
    assert time.perf_counter() - start < 20


def test_too_many_digits_are_refused() -> None:
    with pytest.raises(Refused, match="the large numbers have at most 5000 binary digits in all"):
        verdict(power(power(9, 999), 999), 0)


def test_large_axes_are_not_built() -> None:
    made = document({"x": {"dims": [power(10, 12)], "kind": "real", "bound": None}}, [], [], sizes="N")
    made = document(made["tensors"], [], [equal(entry("x", 0), 0)], sizes="N")
    (result,) = recheck(json.dumps(made)).claims
    assert result.verdict == "undecided"


def test_sizes_that_do_not_divide_are_skipped() -> None:
    half = mul(size("N"), num("1/2"))
    claim = equal(["sum", "m", half, num(1)], half)
    (result,) = recheck(json.dumps(document({}, [], [claim], sizes="N"))).claims
    assert result.verdict == "passed"
    assert {sizes["N"] % 2 for sizes in result.sizes} == {0}


def test_a_pass_needs_more_than_single_entries() -> None:
    """1/(2 - N) makes every size but 1 fail to be evaluated or differ."""
    (result,) = recheck(
        json.dumps(document(X, [], [equal(["sum", "m", size("N"), x], mul(size("N"), x, size("N")), N)], sizes="N"))
    ).claims
    assert result.verdict == "failed"


@pytest.mark.parametrize("reads", ["n", "N"])
def test_a_recurrence_does_not_read_ahead(reads: str) -> None:
    index = "n" if reads == "n" else sub(size("N"), 1)
    definition = recur("h", N, num(1), add(entry("h", index), 1))
    (result,) = recheck(json.dumps(document({}, [definition], [equal(entry("h", "n"), 1, N)], sizes="N"))).claims
    assert result.verdict == "undecided"
    assert "reads what it has not reached" in result.reason


def test_lengths_do_not_depend_on_entries() -> None:
    tensors = {"m": tensor(kind="int", bound=num(3))}
    left = ["sum", "i", entry("m"), num(1)]
    with pytest.raises(Refused, match="a length depends on sizes only"):
        recheck(json.dumps(document(tensors, [], [equal(left, entry("m"))])))


def test_a_recurrence_that_breaks_off_is_not_read() -> None:
    """At negative x there is no logarithm, so the table stays a part: what is missing must not count as 0."""
    step = add(entry("h", sub("n", 1)), mul(fun("log", entry("x")), 0))
    made = document(
        {"x": tensor()},
        [recur("h", N, num(1), step)],
        [
            equal(entry("h", "n"), 1, N),
            equal(entry("h", sub(size("N"), 1)), 0),
            equal(entry("h", sub(size("N"), 1)), 1),
        ],
        sizes="N",
    )
    assert [result.verdict for result in recheck(json.dumps(made)).claims] == ["passed", "failed", "passed"]
