"""The verification record: what the kernel, the second judge and the numerical cross-checks said of one derivation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symres.derivation.document import Check, Derivation
from symres.errors import UsageError
from symres.judge import recheck
from symres.numeric.crosscheck import DEFAULT, METHODS, Record, Subject, crosscheck
from symres.numeric.frameworks import is_installed

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


def numerical(subject: Subject, methods: Sequence[str] = DEFAULT) -> tuple[Check, ...]:
    """One line for each numerical method that applies."""
    return tuple(map(_line, crosscheck(subject, methods)))


_AGAINST = {"numpy": DEFAULT, "jax": ("jax",), "torch": ("torch",)}


def compared(derivation: Derivation, against: Sequence[str]) -> tuple[Check, ...]:
    """The numerical cross-checks of a derivation once more, against libraries named ``numpy``, ``jax`` or ``torch``.

    Raises:
        UsageError: for another library, or one that is not installed.
    """
    for name in against:
        if name not in _AGAINST:
            raise UsageError(f"there is nothing to check against named {name!r}", remedy=f"Known are {', '.join(_AGAINST)}.")
        if not is_installed(name):
            raise UsageError(f"{name} is not installed", remedy=f"python3 -m pip install {name}")
    if derivation.numerical is None:
        return tuple(check for check in derivation.record if check.error is not None)
    methods = [method for name in against for method in _AGAINST[name] if method in METHODS]
    return derivation.numerical(methods)


def _line(record: Record) -> Check:
    judge, method = _METHODS.get(record.method, (record.method, ""))
    return Check(judge, method, record.passed, record.sizes, record.error, record.detail)


def passed(record: Iterable[Check]) -> bool:
    """Whether every check passed."""
    return all(check.passed for check in record)
