"""A derivation as a paper: what stands in it, in which order and how much of it, for LaTeX and for Typst alike.

A writer says how words, formulas and references look in its language; :func:`content` asks it for each part and hands
the strings to the template of that language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, zip_longest
from typing import Any, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined

import symres
from symres.derivation.document import Check, Derivation, Part, Source, Step
from symres.errors import UsageError
from symres.export.bibliography import own_key, reference
from symres.export.fingerprint import fingerprint
from symres.export.prose import fill, sizes_in_words
from symres.kernel.terms import Entry
from symres.language.formula import Block, Display, Formula, Text
from symres.typeset.notation import Notation
from symres.typeset.printer import WIDTHS, Printer, width

DETAILS: Mapping[str, str] = {
    "statement": "the statement and what it means",
    "key": "and the steps that carry the proof",
    "all": "and every step",
}
FORMS = ("index", "matrix", "both")
_CONVENTION = "Indices count from {}, and a gradient has the shape of its variable."
_CLASS = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_PREFIX = re.compile(r"[A-Za-z0-9:-]*")


@dataclass(frozen=True)
class Options:
    """How a paper is to look.

    Args:
        width: ``one`` or ``two`` columns, or the room for a formula in ems.
        detail: a key of ``DETAILS``.
        document_class: the class of a LaTeX article.
        prefix: put before every label, so that one derivation can be included twice.
        numbering: whether formulas have numbers and labels.
        notation: symbols and conventions.
        listing: whether the NumPy reference is printed.
        record: whether the verification record is printed.
        form: ``index``, ``matrix`` or ``both``: how the statement is written, where there is a matrix form.

    Raises:
        UsageError: for a value that is none of these.
    """

    width: str = "one"
    detail: str = "all"
    document_class: str = "article"
    prefix: str = ""
    numbering: bool = True
    notation: Notation = field(default_factory=Notation)
    listing: bool = False
    record: bool = True
    form: str = "both"

    def __post_init__(self) -> None:
        if self.detail not in DETAILS:
            raise UsageError(f"there is no detail {self.detail!r}", remedy=f"Choose from {', '.join(DETAILS)}.")
        if self.form not in FORMS:
            raise UsageError(f"there is no form {self.form!r}", remedy=f"Choose from {', '.join(FORMS)}.")
        if not _CLASS.fullmatch(self.document_class):
            raise UsageError(f"{self.document_class!r} is no document class")
        if not _PREFIX.fullmatch(self.prefix):
            raise UsageError(f"{self.prefix!r} is no label prefix", remedy="Use letters, digits, hyphens and colons.")
        width(self.width)

    @property
    def columns(self) -> int:
        """The number of columns of a whole article."""
        return 2 if width(self.width) <= WIDTHS["two"] else 1


class Writer(Protocol):
    """A language for papers."""

    def words(self, text: str) -> str:
        """Plain words, escaped."""

    def inline(self, formula: Formula) -> str:
        """A formula in a line of words."""

    def display(self, formula: Formula, label: str, end: str) -> str:
        """A formula on lines of its own, with a label unless it is empty, and a mark of punctuation at its end."""

    def align(self, formulas: Sequence[Formula], labels: Sequence[str], end: str) -> str:
        """Formulas under one another, with labels if there are any, commas between and a mark at the end."""

    def citation(self, source: Source) -> str:
        """A reference to a source."""


def content(derivation: Derivation, options: Options, writer: Writer) -> dict[str, Any]:
    """All that a template prints, as strings in the writer's language."""
    return _Content(derivation, options, writer).parts()


@dataclass(frozen=True)
class Cited:
    """A source as a paper cites it; ``year`` has a letter where names and year alone would not tell two sources apart."""

    key: str
    names: str
    year: str
    text: str


def cited(sources: Iterable[Source]) -> list[Cited]:
    """The sources in their order."""
    references = [reference(source.key) for source in sources]
    short = [found.short for found in references]
    result = []
    for place, found in enumerate(references):
        year = found.fields["year"]
        letter = "abcdefgh"[short[:place].count(short[place])] if short.count(short[place]) > 1 else ""
        text = str(found).replace(f", {year}.", f", {year}{letter}.")
        result.append(Cited(found.key, found.short.removesuffix(f" {year}"), year + letter, text))
    return result


def printer(derivation: Derivation, options: Options) -> Printer:
    """The printer for the formulas of a derivation."""
    return Printer.of(derivation, notation=options.notation, width=width(options.width))


def label(derivation: Derivation, options: Options, kind: str, name: str = "") -> str:
    """The label of a theorem or formula: the same from run to run, as every part of it is."""
    parts = [options.prefix + derivation.id, *([re.sub(r"[^A-Za-z0-9-]+", "-", name)] if name else [])]
    return f"{kind}:{':'.join(parts)}"


@cache
def templates() -> Environment:
    """The templates; their signs are those that neither LaTeX nor Typst uses."""
    return Environment(
        loader=PackageLoader("symres.export", "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


class _Content:
    def __init__(self, derivation: Derivation, options: Options, writer: Writer) -> None:
        self.derivation, self.options, self.writer = derivation, options, writer

    def parts(self) -> dict[str, Any]:
        derivation, words = self.derivation, self.writer.words
        return {
            "id": words(derivation.id),
            "title": words(derivation.title),
            "verdict": derivation.verdict,
            "label": label(derivation, self.options, "thm"),
            "statement": list(self.blocks(self.statement(), "statement")),
            "assumptions": [self.text(text).rstrip(" .") for text in derivation.assumptions],
            "notation": [(self.writer.inline(sign), self.text(meaning)) for sign, meaning in derivation.notation],
            "definitions": self.definitions(),
            "proof": [self.part(part) for part in self.shown()],
            "matrix": list(self.blocks(derivation.matrix, "matrix")) if self.options.form == "both" else [],
            "remarks": [self.text(text) for text in derivation.remarks],
            "uses": [words(name) for name in derivation.uses],
            "sources": [self.writer.citation(source) for source in derivation.sources],
            "record": [self.check(check) for check in derivation.record] if self.options.record else [],
            "listing": derivation.listing if self.options.listing else "",
            "convention": _CONVENTION.format(self.options.notation.first),
            "version": words(symres.__version__),
            "hash": fingerprint(derivation)[:16],
            "key": own_key(derivation),
            "columns": self.options.columns,
            "numbered": self.options.numbering,
        }

    def statement(self) -> tuple[Block, ...]:
        """The statement in the form that is asked for."""
        return (
            self.derivation.matrix
            if self.options.form == "matrix" and self.derivation.matrix
            else self.derivation.statement
        )

    def definitions(self) -> str:
        relations = self.derivation.definitions
        if not relations:
            return ""
        marks: list[str] = []
        for number, relation in enumerate(relations, start=1):
            left = relation.parts[0]
            mark = self.label("def", left.tensor.name if isinstance(left, Entry) else str(number))
            # A state has two lines, its start and its step.
            marks.append(f"{mark}-{number}" if mark and mark in marks else mark)
        return self.writer.align(relations, marks, ".")

    def shown(self) -> Iterator[Part]:
        """The parts of the proof with the steps that the detail asks for."""
        if self.options.detail == "statement":
            return
        for part in self.derivation.parts:
            steps = tuple(step for step in part.steps if step.key or self.options.detail == "all")
            if steps:
                yield Part(part.title, steps, part.intro)

    def part(self, part: Part) -> dict[str, Any]:
        return {
            "title": self.writer.words(part.title),
            "intro": self.text(part.intro) if part.intro else "",
            "steps": [self.step(step) for step in part.steps],
        }

    def step(self, step: Step) -> dict[str, str]:
        reason = self.text(step.reason).strip().rstrip(".:")
        formula = self.writer.display(step.relation, self.label("eq", step.label), ".")
        return {"reason": reason[:1].upper() + reason[1:], "formula": formula}

    def blocks(self, blocks: Iterable[Block], name: str) -> Iterator[str]:
        """Texts as they are, formulas that follow one another under one another.

        A full stop ends the last formula, unless the sentence goes on.
        """
        groups = [list(group) for _, group in groupby(blocks, key=lambda block: isinstance(block, Display))]
        count = 0
        for group, following in zip_longest(groups, groups[1:]):
            formulas = [block.formula for block in group if isinstance(block, Display)]
            if not formulas:
                yield " ".join(self.text(block) for block in group if isinstance(block, Text))
                continue
            marks = [self.label("eq", f"{name}-{count + number}") for number in range(1, len(formulas) + 1)]
            count += len(formulas)
            goes_on = following is not None and isinstance(following[0], Text) and following[0].words[:1].islower()
            end = "" if goes_on else "."
            single = len(formulas) == 1
            yield self.writer.display(formulas[0], marks[0], end) if single else self.writer.align(formulas, marks, end)

    def label(self, kind: str, name: str) -> str:
        return label(self.derivation, self.options, kind, name) if self.options.numbering else ""

    def text(self, text: Text) -> str:
        return fill(text, self.writer.words, self.writer.inline)

    def check(self, check: Check) -> dict[str, Any]:
        words = self.writer.words
        return {
            "judge": words(check.judge),
            "method": words(check.method + (f" ({check.detail})" if check.detail else "")),
            "sizes": words(sizes_in_words(check)),
            "passed": check.passed,
            "error": check.error,
        }
