"""Kernel and second judge on random equalities: they may both be silent, they must not contradict each other.

Half of the equalities are a term and the same term rewritten, half a term and a damaged one. Run
``python -m tests.benchmarks.judges --count 10000`` for the long run; the tests do a bounded one.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from typing import Any

from symres.errors import SymresError
from symres.judge import Refused, recheck
from symres.kernel.decide import equal
from symres.kernel.terms import Term, Var
from symres.language.certificate import EqualClaim, certificate
from tests.kernel.strategies import D, N, random_term, rewrite
from tests.kernel.test_normal_form import damage


def pair(seed: int) -> tuple[Term, Term, list[Var]]:
    """An equality, true by construction for an even seed."""
    rng, variables = random.Random(seed), [Var("n", N), Var("i", D), Var("i", D)]
    term = random_term(rng, variables, 3)
    other = rewrite(rng, term)
    return term, damage(rng, other, variables) if seed % 2 else other, variables


def kernel(left: Term, right: Term) -> str:
    """``proved``, or ``not proved``."""
    try:
        return "proved" if equal(left, right) else "not proved"
    except (SymresError, ZeroDivisionError):
        return "not proved"


def judge(left: Term, right: Term, variables: list[Var]) -> str:
    """``passed``, ``failed`` or ``undecided``."""
    claim = EqualClaim("equal", tuple(variables), left, right)
    try:
        return recheck(json.dumps(certificate("random", "identity", "", [], [claim]))).claims[0].verdict
    except Refused:
        return "undecided"


def campaign(count: int, start: int = 0) -> dict[str, Any]:
    """Counts of verdicts, and the seeds at which one judge contradicts the other or the construction."""
    counts: Counter[str] = Counter()
    contradictions: list[int] = []
    began = time.perf_counter()
    for seed in range(start, start + count):
        try:
            left, right, variables = pair(seed)
        except ZeroDivisionError:
            continue
        said = (kernel(left, right), judge(left, right, variables))
        counts[f"{'damaged' if seed % 2 else 'rewritten'}: kernel {said[0]}, judge {said[1]}"] += 1
        if said == ("proved", "failed") or (seed % 2 == 0 and said[1] == "failed"):
            contradictions.append(seed)
    return {"counts": dict(counts), "contradictions": contradictions, "seconds": time.perf_counter() - began}


def main() -> None:
    """Run a campaign and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--start", type=int, default=0)
    options = parser.parse_args()
    print(json.dumps(campaign(options.count, options.start), indent=1))


if __name__ == "__main__":
    main()
