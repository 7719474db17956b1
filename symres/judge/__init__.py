"""The second judge: re-checks finished certificates by evaluation, and shares no code with the rest of symres.

:func:`recheck` tries every claim of a certificate at several sizes and random points; :class:`Values` computes exact
values and gradients at given ones. See the README beside this file for what is trusted.
"""

from __future__ import annotations

from symres.judge.ball import Ball
from symres.judge.evaluate import Table
from symres.judge.faults import NotRational, Refused, TooLarge, Undecided, Undefined
from symres.judge.reader import canonical
from symres.judge.recheck import Report, Result, recheck
from symres.judge.values import Values

__all__ = [
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
]
