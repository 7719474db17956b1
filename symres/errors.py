"""The errors of symres: one root class; each says what was asked, what was found and what to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A place in a source file; ``line`` counts from 1."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f": {self.text.strip()}" if self.text.strip() else "")


class SymresError(Exception):
    """The root of all errors. ``remedy`` says what to do, ``place`` where in the user's source it arose."""

    def __init__(self, message: str, *, remedy: str = "", place: Place | None = None) -> None:
        super().__init__(message)
        self.message, self.remedy, self.place = message, remedy, place

    def __str__(self) -> str:
        parts = [self.message, f"at {self.place}" if self.place else "", self.remedy]
        return "\n".join(part for part in parts if part)


class UsageError(SymresError):
    """Wrong use: an unknown id, a missing file, shapes that do not fit. The command line exits with 2."""


class Unsupported(SymresError):
    """Something symres does not know: neither true nor false. The verdict is ``undecided``, exit status 3."""


class Undefined(SymresError):
    """An expression with no value, such as a division by an expression that is identically zero."""


class BudgetExceeded(Unsupported):
    """A decision grew beyond its limit of work; the verdict is ``undecided``."""


class CertificateError(SymresError):
    """A certificate that is malformed, of another format, or false."""
