"""What can go wrong here: a certificate that is refused, and a point at which nothing can be said."""

from __future__ import annotations


class Refused(Exception):
    """A certificate that breaks a rule of its format. ``place`` is where in it, as in ``claims[0].left[2]``."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place, self.reason = place, reason


class Undefined(Exception):
    """The point gives no answer: a division by zero, a root of a negative number. Another point may."""


class Undecided(Undefined):
    """The point gives no answer at this precision: a ball that contains a place where a function jumps."""


class NotRational(Exception):
    """A value that is no rational number, asked of the arithmetic that has only those."""


class TooLarge(Exception):
    """The sizes make more entries than the budget of work allows."""
