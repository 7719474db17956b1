r"""LaTeX: a standalone article, a fragment to ``\input``, and the small package ``symres.sty`` that both need.

Plain amsmath, natbib with a ``.bbl`` beside the ``.bib``: what arXiv takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files as resources
from typing import Any

from symres.derivation.document import Derivation, Source
from symres.export.bibliography import bibtex
from symres.export.paper import Options, cited, content, printer, templates
from symres.language.formula import Formula
from symres.typeset.printer import Printer
from symres.typeset.words import escape

_ENVIRONMENTS = {"refuted": "refutation"}


class TexWriter:
    """Words and formulas in LaTeX."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer

    def words(self, text: str) -> str:
        """Plain words, escaped."""
        return escape(text)

    def inline(self, formula: Formula) -> str:
        """A formula in a line of words."""
        return rf"\({self.printer.inline(formula)}\)"

    def display(self, formula: Formula, label: str, end: str) -> str:
        """A formula on lines of its own."""
        mark, star = (rf"\label{{{label}}}", "") if label else ("", "*")
        return f"\\begin{{equation{star}}}{mark}\n{self.printer.display(formula, end)}\n\\end{{equation{star}}}"

    def align(self, formulas: Sequence[Formula], labels: Sequence[str], end: str) -> str:
        """Formulas under one another."""
        star = "" if any(labels) else "*"
        return f"\\begin{{align{star}}}\n{self.printer.align(formulas, labels, end)}\n\\end{{align{star}}}"

    def citation(self, source: Source) -> str:
        """A reference in natbib's way."""
        place = f"[{{{escape(source.place).replace(' ', '~')}}}]" if source.place else ""
        return rf"\citet{place}{{{source.key}}}"


def fragment(derivation: Derivation, options: Options | None = None) -> str:
    r"""The derivation without a preamble, for ``\input`` in a paper that loads ``symres.sty``."""
    return templates().get_template("fragment.tex.j2").render(d=_parts(derivation, options or Options()))


def article(derivation: Derivation, options: Options | None = None) -> str:
    """The derivation as a document of its own."""
    parts = _parts(derivation, options or Options())
    return templates().get_template("article.tex.j2").render(d=parts)


def _parts(derivation: Derivation, options: Options) -> dict[str, Any]:
    parts = content(derivation, options, TexWriter(printer(derivation, options)))
    return {
        **parts,
        "environment": _ENVIRONMENTS.get(derivation.verdict, "theorem"),
        "document_class": options.document_class,
        "keys": [source.key for source in derivation.sources],
        "file": derivation.id,
        "uses": [name.replace("-", r"-\allowbreak ") for name in parts["uses"]],
        "listing": listing(parts["listing"]),
        "table": table(parts["record"]),
    }


def table(record: Iterable[dict[str, Any]]) -> str:
    """The verification record as a table."""
    lines = [("Judge", "What it did", "Sizes", r"Outcome\rule[-0.8ex]{0pt}{0pt}")]
    for check in record:
        outcome = "passed" if check["passed"] else r"\textbf{failed}"
        lines.append((check["judge"], check["method"], check["sizes"], f"{outcome} {scientific(check['error'])}"))
    rows = [" & ".join(rf"\raggedright {cell}" for cell in cells) + r" \tabularnewline" for cells in lines]
    columns = "".join(rf"p{{{share}\linewidth}}" for share in (0.15, 0.32, 0.24, 0.2))
    body = rows[0] + "\\hline\\rule{0pt}{2.6ex}%\n" + "\n".join(rows[1:])
    return (
        "\\leavevmode\\par\\nobreak\\smallskip\\noindent{\\small\\setlength{\\tabcolsep}{3pt}%\n"
        f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n{body}\n\\end{{tabular}}\\par}}"
    )


def scientific(error: float | None) -> str:
    """A relative error such as 3.2·10⁻¹⁰, or nothing; one that is no number is said to be so."""
    if error is None:
        return ""
    if not math.isfinite(error):
        return "not finite"
    digits, _, exponent = f"{error:.1e}".partition("e")
    return rf"\mbox{{\({digits}\times10^{{{int(exponent)}}}\)}}" if error else r"\(0\)"


def listing(source: str) -> str:
    """Program text, line by line; long lines continue with an indent."""
    lines = [rf"\hangindent=4em\hspace*{{{0.5 * indent}em}}{text}\par" for indent, text in _code(source)]
    if not lines:
        return ""
    start = r"\leavevmode\par\nobreak{\footnotesize\ttfamily\raggedright\setlength{\parindent}{0pt}%"
    return "\n".join((start, *lines, "}"))


def _code(source: str) -> Iterator[tuple[int, str]]:
    """Indent and escaped text of each line; no ligature joins what are two signs in a program."""
    for line in source.rstrip().splitlines():
        text = line.lstrip(" ")
        code = escape(text).replace("--", "-{}-").replace("  ", r"\ ~").replace("'", r"\textquotesingle{}")
        yield len(line) - len(text), code or r"\mbox{}"


def bbl(sources: Iterable[Source]) -> str:
    r"""The bibliography as natbib's styles write it, so that no run of BibTeX is needed."""
    items = [
        f"\\bibitem[{escape(found.names)}({found.year})]{{{found.key}}}\n{escape(found.text)}\n"
        for found in cited(sources)
    ]
    return "\\begin{thebibliography}{99}\n\n" + "\n".join(items) + "\n\\end{thebibliography}\n"


def package() -> str:
    """The text of ``symres.sty``."""
    return resources("symres.export").joinpath("templates", "symres.sty").read_text(encoding="utf-8")


def files(derivation: Derivation, options: Options | None = None) -> dict[str, str]:
    """The article, the fragment, the package, and the bibliography in both forms."""
    found = {
        f"{derivation.id}.tex": article(derivation, options),
        f"{derivation.id}-fragment.tex": fragment(derivation, options),
        "symres.sty": package(),
    }
    if derivation.sources:
        found[f"{derivation.id}.bib"] = bibtex([derivation])
        found[f"{derivation.id}.bbl"] = bbl(derivation.sources)
    return found
