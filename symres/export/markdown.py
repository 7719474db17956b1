"""One derivation as Markdown, in two dialects: GitHub's, with its limits, and the plain one of notes programs.

GitHub knows no ``\\operatorname`` and reads ``_`` and ``*`` inside ``$…$`` as Markdown, so formulas stand in code-like
fences there: ``$`…`$`` in a line, a block marked ``math`` by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

import symres
from symres.derivation.document import Check, Derivation
from symres.export.bibliography import reference
from symres.export.fingerprint import fingerprint
from symres.export.prose import SCREEN, error_in_words, fill, sentence, sizes_in_words
from symres.language.formula import Block, Display, Formula, Text
from symres.typeset.printer import Printer

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_OPERATOR = re.compile(r"\\operatorname\*?\{")


@dataclass(frozen=True)
class Dialect:
    """How a flavour of Markdown writes a formula in a line and by itself, given its LaTeX."""

    suffix: str
    inline: Callable[[str], str]
    display: Callable[[str], str]


PLAIN = Dialect(".md", lambda latex: f"${latex}$", lambda latex: f"$$\n{latex}\n$$")
GITHUB = Dialect(
    ".github.md",
    lambda latex: f"$`{_without_operators(latex)}`$",
    lambda latex: f"```math\n{_without_operators(latex)}\n```",
)


def markdown(derivation: Derivation, dialect: Dialect = PLAIN) -> str:
    """The whole derivation: statement, definitions, proof, record and sources."""
    return "\n\n".join(_Writer(derivation, dialect).paragraphs()) + "\n"


def statement(derivation: Derivation, dialect: Dialect = PLAIN) -> list[str]:
    """The paragraphs of the statement, in index form and in matrix form where there is one."""
    return list(_Writer(derivation, dialect).statement())


def displays(derivation: Derivation) -> list[str]:
    """The displayed formulas of the statement, in LaTeX."""
    printer = Printer.of(derivation, width=SCREEN)
    return [printer.display(item.formula) for item in derivation.statement if isinstance(item, Display)]


def escaped(words: str) -> str:
    """Words in which Markdown sees no marks."""
    return _SPECIAL.sub(r"\\\1", words)


def files(derivation: Derivation) -> dict[str, str]:
    """The derivation in both dialects."""
    return {f"{derivation.id}{dialect.suffix}": markdown(derivation, dialect) for dialect in (PLAIN, GITHUB)}


class _Writer:
    """The paragraphs of one derivation in one dialect."""

    def __init__(self, derivation: Derivation, dialect: Dialect) -> None:
        self.derivation, self.dialect = derivation, dialect
        self.printer = Printer.of(derivation, width=SCREEN)

    def paragraphs(self) -> Iterator[str]:
        derivation = self.derivation
        yield f"# {escaped(derivation.title)}"
        yield f"**{derivation.verdict}** · {derivation.kind} · `{derivation.id}`"
        yield "## " + ("Claim" if derivation.verdict == "refuted" else "Theorem")
        yield from self.statement()
        if derivation.assumptions:
            yield "### Assumptions"
            yield _list(self.prose(text) for text in derivation.assumptions)
        if derivation.notation or derivation.definitions:
            yield "## Definitions"
            if derivation.notation:
                yield _list(f"{self.inline(sign)}: {self.prose(text)}" for sign, text in derivation.notation)
            yield from (self.display(relation) for relation in derivation.definitions)
        if derivation.parts:
            yield "## " + ("Counterexample" if derivation.kind == "counterexample" else "Proof")
            yield from self.proof()
        if derivation.remarks:
            yield "## Remarks"
            yield from (self.prose(text) for text in derivation.remarks)
        if derivation.listing:
            yield "## NumPy reference"
            yield f"```python\n{derivation.listing.rstrip()}\n```"
        yield from self.record()
        if derivation.sources:
            yield "## Sources"
            yield _list(
                escaped(f"{reference(source.key)}{f' {source.place}.' if source.place else ''}")
                for source in derivation.sources
            )

    def statement(self) -> Iterator[str]:
        yield from map(self.block, self.derivation.statement)
        if self.derivation.matrix:
            yield "**In matrix form.**"
            yield from map(self.block, self.derivation.matrix)

    def block(self, item: Block) -> str:
        return self.display(item.formula) if isinstance(item, Display) else self.prose(item)

    def proof(self) -> Iterator[str]:
        numbers = count(1)
        for part in self.derivation.parts:
            if part.title:
                yield f"### {escaped(part.title)}"
            if part.intro:
                yield self.prose(part.intro)
            for step in part.steps:
                yield f"**{next(numbers)}.** {sentence(self.prose(step.reason))}"
                yield self.display(step.relation)
        yield "∎"

    def record(self) -> Iterator[str]:
        yield "## Verification record"
        if self.derivation.record:
            yield _table(self.derivation.record)
        yield f"symres {symres.__version__}, content hash `{fingerprint(self.derivation)[:16]}`."
        if self.derivation.certificate:
            yield "To check it again, write its certificate with `--format json`, and give that to `symres recheck`."

    def prose(self, text: Text) -> str:
        return fill(text, escaped, self.inline)

    def inline(self, formula: Formula) -> str:
        return self.dialect.inline(self.printer.inline(formula))

    def display(self, formula: Formula) -> str:
        return self.dialect.display(self.printer.display(formula))


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"* {item}" for item in items)


def _table(record: Iterable[Check]) -> str:
    rows = ["| judge | what it did | sizes | error | result |", "|---|---|---|---|---|"]
    for check in record:
        method = check.method + (f" ({check.detail})" if check.detail else "")
        cells = (
            check.judge,
            method,
            sizes_in_words(check),
            error_in_words(check),
            "passed" if check.passed else "**failed**",
        )
        rows.append("| " + " | ".join(cell if "**" in cell else escaped(cell) for cell in cells) + " |")
    return "\n".join(rows)


def _without_operators(latex: str) -> str:
    return _OPERATOR.sub(r"\\mathrm{", latex)
