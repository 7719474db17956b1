"""One derivation as Markdown, in two dialects: GitHub's, with its limits, and the plain one of notes programs.

GitHub knows no ``\\operatorname`` and reads ``_`` and ``*`` inside ``$…$`` as Markdown, so formulas stand in code-like
fences there: ``$`…`$`` in a line, a block marked ``math`` by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import symres
from symres.derivation.document import Check, Derivation
from symres.export.bibliography import reference
from symres.export.fingerprint import fingerprint
from symres.export.prose import fill, sizes_in_words
from symres.language.formula import Block, Display, Formula, Text
from symres.typeset.printer import display_latex, inline_latex

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
    return "\n\n".join(_paragraphs(derivation, dialect)) + "\n"


def statement(derivation: Derivation, dialect: Dialect = PLAIN) -> list[str]:
    """The paragraphs of the statement, in index form and in matrix form where there is one."""
    return [_block(item, dialect) for item in (*derivation.statement, *derivation.matrix)]


def escaped(words: str) -> str:
    """Words in which Markdown sees no marks."""
    return _SPECIAL.sub(r"\\\1", words)


def files(derivation: Derivation) -> dict[str, str]:
    """The derivation in both dialects."""
    return {f"{derivation.id}{dialect.suffix}": markdown(derivation, dialect) for dialect in (PLAIN, GITHUB)}


def _paragraphs(derivation: Derivation, dialect: Dialect) -> Iterator[str]:
    yield f"# {escaped(derivation.title)}"
    yield f"**{derivation.verdict}** · {derivation.kind} · `{derivation.id}`"
    yield "## " + ("Claim" if derivation.verdict == "refuted" else "Theorem")
    yield from statement(derivation, dialect)
    if derivation.assumptions:
        yield "### Assumptions"
        yield _list(_prose(text, dialect) for text in derivation.assumptions)
    if derivation.notation or derivation.definitions:
        yield "## Definitions"
        if derivation.notation:
            yield _list(f"{_formula(sign, dialect)}: {_prose(text, dialect)}" for sign, text in derivation.notation)
        yield from (dialect.display(display_latex(relation)) for relation in derivation.definitions)
    if derivation.parts:
        yield "## " + ("Counterexample" if derivation.kind == "counterexample" else "Proof")
        yield from _proof(derivation, dialect)
    if derivation.remarks:
        yield "## Remarks"
        yield from (_prose(text, dialect) for text in derivation.remarks)
    if derivation.listing:
        yield "## NumPy reference"
        yield f"```python\n{derivation.listing.rstrip()}\n```"
    yield "## Verification record"
    if derivation.record:
        yield _table(derivation.record)
    yield f"symres {symres.__version__}, content hash `{fingerprint(derivation)[:16]}`. To check it again:"
    yield f"```sh\nsymres derive {derivation.id} --format json -o out\nsymres recheck out/{derivation.id}.json\n```"
    if derivation.sources:
        yield "## Sources"
        yield _list(
            escaped(f"{reference(source.key)}{f' {source.place}.' if source.place else ''}")
            for source in derivation.sources
        )


def _proof(derivation: Derivation, dialect: Dialect) -> Iterator[str]:
    number = 0
    for part in derivation.parts:
        if part.title:
            yield f"### {escaped(part.title)}"
        if part.intro:
            yield _prose(part.intro, dialect)
        for step in part.steps:
            number += 1
            yield f"**{number}.** {_prose(step.reason, dialect)}"
            yield dialect.display(display_latex(step.relation))
    yield "∎"


def _block(item: Block, dialect: Dialect) -> str:
    return dialect.display(display_latex(item.formula)) if isinstance(item, Display) else _prose(item, dialect)


def _prose(text: Text, dialect: Dialect) -> str:
    return fill(text, escaped, lambda formula: _formula(formula, dialect))


def _formula(formula: Formula, dialect: Dialect) -> str:
    return dialect.inline(inline_latex(formula))


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"* {item}" for item in items)


def _table(record: Iterable[Check]) -> str:
    rows = ["| judge | what it did | sizes | error | result |", "|---|---|---|---|---|"]
    for check in record:
        error = "" if check.error is None else f"{check.error:.1e}"
        method = check.method + (f" ({check.detail})" if check.detail else "")
        cells = (check.judge, method, sizes_in_words(check), error, "passed" if check.passed else "**failed**")
        rows.append("| " + " | ".join(cell if "**" in cell else escaped(cell) for cell in cells) + " |")
    return "\n".join(rows)


def _without_operators(latex: str) -> str:
    return _OPERATOR.sub(r"\\mathrm{", latex)
