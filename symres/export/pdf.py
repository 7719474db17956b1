"""PDF: by the system's TeX where there is one, otherwise by the typst engine that comes with symres.

The Typst document is made from the derivation itself, with the same parts in the same order as the LaTeX article.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symres.derivation.document import Derivation, Source
from symres.errors import SymresError
from symres.export import tex
from symres.export.paper import Options, cited, content, printer, templates
from symres.language.formula import Formula
from symres.typeset.metrics import TEXT
from symres.typeset.printer import Printer
from symres.typeset.typst import escape, rows, single, string, typst

SECONDS = 120


class TypstWriter:
    """Words and formulas in Typst."""

    def __init__(self, printer: Printer, sources: Sequence[Source]) -> None:
        self.printer = printer
        self.cited = {found.key: f"{found.names} {found.year}" for found in cited(sources)}

    def words(self, text: str) -> str:
        """Plain words, escaped."""
        return escape(text)

    def inline(self, formula: Formula) -> str:
        """A formula in a line of words."""
        return f"${typst(self.printer.node(formula), TEXT)}$"

    def display(self, formula: Formula, label: str, end: str) -> str:
        """A formula on lines of its own."""
        (lines,) = self.printer.lines(formula)
        mark = string(end) if end else ""
        body = single(lines[0]) + mark if len(lines) == 1 else rows([lines], [end])
        return f"$ {body} $" + (f" <{label}>" if label else "")

    def align(self, formulas: Sequence[Formula], labels: Sequence[str], end: str) -> str:
        """Formulas under one another, each with a number of its own."""
        ends = [","] * (len(formulas) - 1) + [end]
        return f"$ {rows(self.printer.lines(*formulas), ends)} $" + (f" <{labels[0]}>" if any(labels) else "")

    def citation(self, source: Source) -> str:
        """Names and year."""
        return escape(self.cited[source.key] + (f", {source.place}" if source.place else ""))


def document(derivation: Derivation, options: Options | None = None) -> str:
    """The derivation as a Typst document."""
    options = options or Options()
    parts: dict[str, Any] = content(derivation, options, TypstWriter(printer(derivation, options), derivation.sources))
    for check in parts["record"]:
        digits, _, exponent = ("" if check["error"] is None else f"{check['error']:.1e}").partition("e")
        check["outcome"] = f"#box[${digits} times 10^({int(exponent)})$]" if exponent else ""
    parts |= {
        "title_string": string(derivation.title),
        "id_string": string(derivation.id),
        "listing": _raw(parts["listing"]) if parts["listing"] else "",
        "references": [escape(found.text) for found in cited(derivation.sources)],
    }
    return templates().get_template("paper.typ.j2").render(d=parts)


def by_typst(derivation: Derivation, options: Options | None = None) -> bytes:
    """The PDF from the embedded engine.

    Raises:
        SymresError: if the engine refuses the document.
    """
    import typst as engine

    try:
        made: bytes = engine.compile(document(derivation, options).encode())
    except engine.TypstError as error:
        raise SymresError(f"typst refused {derivation.id}: {error}") from error
    return made


def by_tex(derivation: Derivation, options: Options | None = None) -> bytes:
    """The PDF from pdfLaTeX, run twice for the references.

    Raises:
        SymresError: if there is no pdflatex, it takes too long, or it refuses the article.
    """
    program = shutil.which("pdflatex")
    if program is None:
        raise SymresError("there is no pdflatex", remedy="Without TeX the PDF is made by typst.")
    name = f"{derivation.id}.tex"
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name]
    with tempfile.TemporaryDirectory() as folder:
        for file, text in tex.files(derivation, options).items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        for _ in range(2):
            try:
                run = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, check=False)
            except subprocess.TimeoutExpired:
                raise SymresError(f"pdflatex did not end within {SECONDS} s on {name}") from None
            if run.returncode:
                raise SymresError(f"pdflatex refused {name}:\n{run.stdout.decode(errors='replace')[-2000:]}")
        return (Path(folder) / name).with_suffix(".pdf").read_bytes()


def files(derivation: Derivation, options: Options | None = None) -> dict[str, bytes]:
    """The PDF of one derivation."""
    make = by_tex if shutil.which("pdflatex") else by_typst
    return {f"{derivation.id}.pdf": make(derivation, options)}


def _raw(text: str) -> str:
    """A string literal that keeps its lines."""
    return '"' + text.rstrip().replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
