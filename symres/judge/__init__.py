"""The second judge: re-checks finished certificates by evaluation, and shares no code with the rest of symres.

:func:`recheck` tries every claim of a certificate at several sizes and random points; :class:`Values` computes exact
values and gradients at given ones. See the README beside this file for what is trusted.
"""

from __future__ import annotations

from collections.abc import Callable

from symres.judge.ball import Ball
from symres.judge.evaluate import Table
from symres.judge.faults import NotRational, Refused, TooLarge, Undecided, Undefined
from symres.judge.reader import canonical
from symres.judge.recheck import Report, Result, recheck, refusal
from symres.judge.values import Values

__all__ = [
    "JUDGES",
    "Ball",
    "NotRational",
    "Refused",
    "Report",
    "Result",
    "Table",
    "TooLarge",
    "Undecided",
    "Undefined",
    "Values",
    "canonical",
    "recheck",
    "refusal",
]

JUDGES: dict[str, Callable[[str], str | None]] = {"judge": refusal}
"""By name, what reads a certificate and says in one line why it refuses it, or ``None``."""
