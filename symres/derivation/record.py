"""The verification record: what the kernel, the second judge and the numerical cross-checks said of one derivation."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from symres.derivation.document import Check
from symres.judge import recheck
from symres.numeric.crosscheck import DEFAULT, Record, Subject, crosscheck

_METHODS = {
    "forward": ("NumPy", "the function itself against its traced form"),
    "numpy": ("NumPy", "derived code against the gradient written in NumPy"),
    "finite": ("finite differences", "of the function, extrapolated, in float64"),
    "complex": ("complex step", "of the traced form"),
    "sympy": ("SymPy", "derivatives of explicit components"),
    "jax": ("JAX", "automatic differentiation in double precision"),
}


def kernel_check(count: int) -> Check:
    """The kernel's line: it has accepted every equality, otherwise there would be no derivation."""
    return Check("kernel", "normal form of every step, for all sizes", True, detail=f"{count} equalities")


def second_judge(certificate: Mapping[str, Any]) -> Check:
    """The second judge's line about a whole certificate."""
    report = recheck(json.dumps(certificate))
    sizes = {tuple(sorted(choice.items())): choice for result in report.claims for choice in result.sizes}
    arithmetics = " and ".join(sorted({result.arithmetic for result in report.claims}))
    found = f"{len(report.claims)} claims, {sum(result.points for result in report.claims)} random points"
    return Check(
        "second judge",
        f"exact evaluation, {arithmetics}",
        report.passed,
        tuple(sizes.values()),
        detail=found if report.passed else report.reason,
    )


def numerical(subject: Subject, methods: Sequence[str] | None = None) -> tuple[Check, ...]:
    """One line for each numerical method that applies."""
    return tuple(map(_line, crosscheck(subject, DEFAULT if methods is None else methods)))


def _line(record: Record) -> Check:
    judge, method = _METHODS.get(record.method, (record.method, ""))
    finite = math.isfinite(record.error)
    detail = record.detail if finite else "not a number, or no bound on the error"
    return Check(judge, method, record.passed, record.sizes, record.error if finite else None, detail)
