"""What to cite: the derivation itself, with its version and content hash, and the sources of its statement.

The sources are one file, ``sources.bib`` in the folder of the derivations; every entry is checked for its fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from typing import Any

import symres
from symres.derivation.document import Derivation
from symres.errors import UsageError
from symres.export.fingerprint import fingerprint

YEAR = "2026"
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "article": ("author", "title", "journal", "year"),
    "inproceedings": ("author", "title", "booktitle", "year"),
    "misc": ("author", "title", "howpublished", "year"),
}
_CSL_TYPES = {"article": "article-journal", "inproceedings": "paper-conference", "misc": "article"}
_CSL_FIELDS = {"volume": "volume", "number": "issue", "pages": "page", "doi": "DOI", "series": "collection-title"}


@dataclass(frozen=True)
class Reference:
    """A source as plain text: ``authors`` as given name and family name, ``where`` the venue with volume and pages."""

    key: str
    kind: str
    authors: tuple[tuple[str, str], ...]
    fields: Mapping[str, str]

    @property
    def where(self) -> str:
        """The venue, with series, volume, number and pages where there are any."""
        fields = self.fields
        parts = [fields.get("booktitle") or fields.get("journal") or fields.get("howpublished", "")]
        if "volume" in fields:
            number = f"({fields['number']})" if "number" in fields else ""
            parts.append(f"{fields['series']} {fields['volume']}" if "series" in fields else fields["volume"] + number)
        if "pages" in fields:
            parts.append(("pp. " if "–" in fields["pages"] else "p. ") + fields["pages"])
        return ", ".join(parts)

    @property
    def names(self) -> str:
        """The authors: all of them up to three, otherwise the first and *et al.*"""
        names = [" ".join(part for part in author if part) for author in self.authors]
        if len(names) > 3 or names[-1] == "others":
            return f"{names[0]} et al."
        return " and ".join(", ".join(names).rsplit(", ", 1))

    @property
    def short(self) -> str:
        """Family names and year: ``Ba, Kiros and Hinton 2016``, ``He et al. 2016``."""
        families = [family for _, family in self.authors]
        if len(families) > 3 or families[-1] == "others":
            return f"{families[0]} et al. {self.fields['year']}"
        return " and ".join(", ".join(families).rsplit(", ", 1)) + f" {self.fields['year']}"

    def __str__(self) -> str:
        numbers = [f"doi:{self.fields['doi']}"] if "doi" in self.fields else []
        if "eprint" in self.fields and "arXiv:" not in self.where:
            numbers.append(f"arXiv:{self.fields['eprint']}")
        sentences = (self.names, self.fields["title"], f"{self.where}, {self.fields['year']}", ", ".join(numbers))
        return " ".join(part if part.endswith(("?", "!")) else part.rstrip(".") + "." for part in sentences if part)


@cache
def library() -> Mapping[str, Any]:
    """The entries of ``sources.bib`` by key, as pybtex reads them.

    Raises:
        UsageError: if an entry lacks a field that its type needs.
    """
    from pybtex.database import parse_string

    text = resources("symres.derivations").joinpath("sources.bib").read_text(encoding="utf-8")
    found: Mapping[str, Any] = parse_string(text, "bibtex").entries
    for key, entry in found.items():
        check_entry(key, entry)
    return found


def check_entry(key: str, entry: Any) -> None:
    """Whether an entry of pybtex has a known type and the fields that the type needs.

    Raises:
        UsageError: naming the entry and what it lacks.
    """
    if entry.type not in REQUIRED:
        raise UsageError(f"the source {key!r} has the unknown type @{entry.type}")
    present = {*entry.fields, *(["author"] if entry.persons.get("author") else [])}
    missing = [name for name in REQUIRED[entry.type] if name not in {name.lower() for name in present}]
    year = entry.fields.get("year", "")
    if missing or not (year.isdigit() and len(year) == 4):
        raise UsageError(f"the source {key!r} lacks {', '.join(missing) or 'a year of four digits'}")


def source(key: str) -> Any:
    """The entry of pybtex with this key.

    Raises:
        UsageError: if ``sources.bib`` has none.
    """
    if key not in library():
        raise UsageError(f"sources.bib has no entry {key!r}")
    return library()[key]


def reference(key: str) -> Reference:
    """A source as plain text, TeX's accents and braces resolved."""
    entry = source(key)
    authors = tuple(
        (
            _plain(" ".join(person.first_names + person.middle_names)),
            _plain(" ".join(person.prelast_names + person.last_names)),
        )
        for person in entry.persons["author"]
    )
    return Reference(key, entry.type, authors, {name.lower(): _plain(value) for name, value in entry.fields.items()})


def own_key(derivation: Derivation) -> str:
    """The BibTeX key of the derivation itself."""
    return f"symres:{derivation.id}"


def bibtex(derivations: Iterable[Derivation]) -> str:
    """The BibTeX entries of the derivations and, each once, of their sources."""
    from pybtex.database import BibliographyData, Entry, Person

    entries: dict[str, Any] = {}
    for derivation in derivations:
        fields = {
            "title": "{" + derivation.title + "}",
            "year": YEAR,
            "howpublished": f"symres {symres.__version__}, derivation {derivation.id}",
            "note": f"Content hash {_short(derivation)}",
        }
        entries[own_key(derivation)] = Entry("misc", fields, {"author": [Person("{symres developers}")]})
        entries.update((used.key, source(used.key)) for used in derivation.sources)
    text: str = BibliographyData(entries).to_string("bibtex")
    return text


def csl(derivations: Iterable[Derivation]) -> list[dict[str, Any]]:
    """The same as CSL-JSON items."""
    items: dict[str, dict[str, Any]] = {}
    for derivation in derivations:
        items[own_key(derivation)] = {
            "id": own_key(derivation),
            "type": "software",
            "title": derivation.title,
            "author": [{"literal": "symres developers"}],
            "issued": {"date-parts": [[int(YEAR)]]},
            "version": symres.__version__,
            "note": f"derivation {derivation.id}, content hash {_short(derivation)}",
        }
        items.update((used.key, _csl_item(reference(used.key))) for used in derivation.sources)
    return list(items.values())


FORMATS: Mapping[str, Callable[[Iterable[Derivation]], str]] = {
    "bibtex": bibtex,
    "csl": lambda derivations: json.dumps(csl(derivations), indent=1, ensure_ascii=False),
}


def cite(derivations: Iterable[Derivation], format: str) -> str:
    """The citation in one of the ``FORMATS``.

    Raises:
        UsageError: for another format.
    """
    if format not in FORMATS:
        raise UsageError(f"there is no citation format {format!r}", remedy=f"The formats are {', '.join(FORMATS)}.")
    return FORMATS[format](derivations).strip()


def files(derivation: Derivation) -> dict[str, str]:
    """The BibTeX file of one derivation."""
    return {f"{derivation.id}.bib": bibtex([derivation])}


def _csl_item(source: Reference) -> dict[str, Any]:
    item: dict[str, Any] = {"id": source.key, "type": _CSL_TYPES[source.kind], "title": source.fields["title"]}
    item["author"] = [
        {"family": family, "given": given} if given else {"family": family} for given, family in source.authors
    ]
    item["issued"] = {"date-parts": [[int(source.fields["year"])]]}
    venue = source.fields.get("booktitle") or source.fields.get("journal")
    if venue:
        item["container-title"] = venue
    if "eprint" in source.fields:
        item["archive"], item["archive_location"] = "arXiv", source.fields["eprint"]
    item.update((name, source.fields[field]) for field, name in _CSL_FIELDS.items() if field in source.fields)
    return item


def _short(derivation: Derivation) -> str:
    return f"sha256:{fingerprint(derivation)[:16]}"


def _plain(text: str) -> str:
    from pybtex.richtext import Text

    return str(Text.from_latex(text)).replace("--", "–")
