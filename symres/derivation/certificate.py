"""Certificates of derivations, and what the second judge says about them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from symres.derivation.document import Check
from symres.judge import recheck
from symres.language.certificate import EqualClaim, GradientClaim, Recurrence, certificate

__all__ = ["EqualClaim", "GradientClaim", "Recurrence", "certificate", "rechecked"]


def rechecked(document: Mapping[str, Any]) -> tuple[Check, ...]:
    """The second judge's verdict on each claim of a certificate, for the verification record.

    Raises:
        symres.judge.Refused: if the certificate breaks a rule of its format.
    """
    report = recheck(json.dumps(document))
    return tuple(
        Check(
            judge="second judge",
            method=f"exact evaluation ({result.arithmetic})",
            passed=result.verdict == "passed",
            sizes=result.sizes,
            detail=f"{result.label}: {result.points} random points" + (f"; {result.reason}" if result.reason else ""),
        )
        for result in report.claims
    )
