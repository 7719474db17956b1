"""From a finished derivation to documents: one table of formats, each made by a module of this folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from symres.errors import UsageError

if TYPE_CHECKING:
    from symres.derivation.document import Derivation
    from symres.derivation.picture import Picture
    from symres.export.paper import Options


@dataclass(frozen=True)
class Format:
    """Where a format is made, whether the options of a paper change it, and whether it can show pictures."""

    module: str
    paper: bool = False
    pictures: bool = False


FORMATS: Mapping[str, Format] = {
    "tex": Format("symres.export.tex", paper=True),
    "pdf": Format("symres.export.pdf", paper=True),
    "html": Format("symres.export.html", pictures=True),
    "md": Format("symres.export.markdown"),
    "ipynb": Format("symres.export.notebook"),
    "bib": Format("symres.export.bibliography"),
    "json": Format("symres.export.jsonfile"),
    "v": Format("symres.export.rocq"),
}


@dataclass(frozen=True)
class Made:
    """The documents of one derivation, and what its record says.

    ``judges`` are those who checked it, ``files`` contents by name, ``left_out`` says of a format why there is none.
    """

    id: str
    verdict: str
    passed: bool
    judges: tuple[str, ...]
    files: Mapping[str, bytes]
    left_out: Mapping[str, str]


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


def render(derivation: Derivation, format: str, options: Options, pictures: Sequence[Picture] = ()) -> dict[str, bytes]:
    """The files of one derivation in one format, by name.

    Raises:
        Unsupported: if the derivation cannot be written in this format.
    """
    row = FORMATS[format]
    make = import_module(row.module).files
    made = make(derivation, options) if row.paper else make(derivation, pictures) if row.pictures else make(derivation)
    return {name: data.encode() if isinstance(data, str) else data for name, data in made.items()}
