"""From a finished derivation to documents: one table of formats, each made by a module of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from symres.errors import UsageError

if TYPE_CHECKING:
    from symres.derivation.document import Derivation

FORMATS: Mapping[str, str] = {
    "tex": "symres.export.tex",
    "pdf": "symres.export.pdf",
    "html": "symres.export.html",
    "md": "symres.export.markdown",
    "ipynb": "symres.export.notebook",
    "bib": "symres.export.bibliography",
    "json": "symres.export.jsonfile",
    "v": "symres.export.coq",
}


@dataclass(frozen=True)
class Made:
    """The documents of one derivation: file name to content."""

    id: str
    verdict: str
    passed: bool
    files: Mapping[str, bytes]


def formats(names: str) -> tuple[str, ...]:
    """The formats in a list such as ``tex,html``; ``all`` stands for every one.

    Raises:
        UsageError: for a name that is no format.
    """
    wanted = tuple(FORMATS) if names.strip() == "all" else tuple(name.strip() for name in names.split(","))
    unknown = [name for name in wanted if name not in FORMATS]
    if unknown:
        raise UsageError(f"there is no format {unknown[0]!r}", remedy=f"The formats are {', '.join(FORMATS)}, or all.")
    return wanted


def render(derivation: Derivation, format: str) -> dict[str, bytes]:
    """The files of one derivation in one format, by name.

    Raises:
        Unsupported: if the derivation cannot be written in this format.
    """
    made = import_module(FORMATS[format]).files(derivation)
    return {name: data.encode() if isinstance(data, str) else data for name, data in made.items()}
