"""The heading of a derivation file: its literal constants and its docstring, read by the file itself."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from symres.derivation.document import Source
from symres.errors import UsageError
from symres.language.formula import Text

_CONSTANTS = ("ID", "SUBJECT", "KIND", "VERDICT", "SOURCES")


@dataclass(frozen=True)
class Heading:
    """What a derivation is called, which kind it is, and where its statement comes from."""

    id: str
    title: str
    subject: str
    kind: str
    verdict: str
    sources: tuple[Source, ...]
    remarks: tuple[Text, ...] = ()


def heading(module: str) -> Heading:
    """The heading of the module with this ``__name__``. Paragraphs of its docstring after the first are remarks.

    Raises:
        UsageError: if a constant is missing.
    """
    values = vars(sys.modules[module])
    missing = [name for name in _CONSTANTS if name not in values]
    if missing:
        raise UsageError(f"{module} lacks {', '.join(missing)}")
    first, *rest = (" ".join(part.split()) for part in (values["__doc__"] or "").strip().split("\n\n"))
    return Heading(
        values["ID"],
        first.rstrip("."),
        values["SUBJECT"],
        values["KIND"],
        values["VERDICT"],
        tuple(Source(key, place) for key, place in values["SOURCES"].items()),
        tuple(Text(part) for part in rest),
    )
