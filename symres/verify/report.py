"""The report of a verdict: for a terminal, as Markdown, as LaTeX. All three say the same from the same objects."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from symres.errors import SymresError
from symres.kernel.plain import plain
from symres.verify.verdict import PROVED, REFUTED, GradientVerdict, Verdict, Witness

_MARK = {"proved": "✓", "refuted": "✗", "undecided": "?"}


def plain_report(verdict: Verdict, width: int = 100) -> str:
    """The report as plain text, lines of at most ``width`` columns where they can be broken."""
    lines = [f"{verdict.verdict} {_scope(verdict)}".strip()]
    if verdict.shapes:
        lines += _wrapped(f"shapes: {verdict.shapes}", width, "  ")
    for name, gradient in verdict.gradients.items():
        lines += ["", f"{_MARK[gradient.verdict]} gradient of {name}: {gradient.verdict}"]
        lines += [line for block in _details(gradient) for line in _block(block, width)]
    if verdict.notes:
        lines += ["", "under these conditions and conventions:"]
        lines += [line for note in verdict.notes for line in _wrapped(note, width, "  · ")]
    return "\n".join(lines)


def _scope(verdict: Verdict) -> str:
    if verdict.verdict != PROVED:
        return ""
    if not verdict.sizes:
        return "for all sizes"
    return "at the sizes " + "; ".join(_sizes(sizes) for sizes in verdict.sizes)


def _sizes(sizes: Any) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sizes.items()) or "as given"


Block = tuple[str, Any]


def _details(gradient: GradientVerdict) -> Iterator[Block]:
    if gradient.diagnosis is not None:
        yield "text", _sentence(gradient.diagnosis.explanation)
    elif gradient.reason:
        yield "text", gradient.reason
    if gradient.diagnosis is not None and not gradient.diagnosis.proved:
        yield "text", "(this reading of the fault was seen at several sizes; the refutation does not rest on it)"
    if gradient.difference is not None:
        yield "formula", ("claimed − true", gradient)
    if gradient.witness is not None:
        yield "witness", gradient.witness
    if gradient.code and gradient.verdict == REFUTED:
        yield "code", gradient.code


def _sentence(text: str) -> str:
    """A capital letter first, except where the text begins with a name in code."""
    return text if text.startswith("`") else text[0].upper() + text[1:]


def _block(block: Block, width: int) -> list[str]:
    kind, content = block
    if kind == "text":
        return [line for part in content.splitlines() for line in _wrapped(part, width, "  ")]
    if kind == "formula":
        label, gradient = content
        indices = f"[{','.join(var.name for var in gradient.vars)}]" if gradient.vars else ""
        return _wrapped(f"{label}{indices} = {plain(gradient.difference)}", width, "  ")
    if kind == "witness":
        return ["  smallest counterexample:", *(f"    {line}" for line in _witness_lines(content))]
    return ["  the gradient as NumPy:", *(f"    {line}".rstrip() for line in _function_lines(content))]


def _function_lines(source: str) -> list[str]:
    lines = source.strip().splitlines()
    start = next((place for place, line in enumerate(lines) if line.startswith("def ")), 0)
    return lines[start:]


def _witness_lines(witness: Witness) -> list[str]:
    lines = [_sizes(witness.sizes)] if witness.sizes else []
    lines += [f"{name} = {_shown(value)}" for name, value in witness.inputs.items()]
    at = f" at [{', '.join(map(str, witness.index))}]" if witness.index else ""
    return [*lines, f"claimed{at}: {witness.claimed}", f"true{at}:    {witness.expected}"]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_shown(one) for one in value) + "]"
    return str(value)


def _wrapped(text: str, width: int, lead: str) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


def markdown(verdict: Verdict) -> str:
    """The report as Markdown, formulas as LaTeX between dollar signs."""
    parts = [f"**{verdict.verdict}** {_scope(verdict)}".strip()]
    if verdict.shapes:
        parts.append(f"Shapes: `{verdict.shapes}`")
    for name, gradient in verdict.gradients.items():
        parts.append(f"### {_MARK[gradient.verdict]} Gradient of `{name}`: {gradient.verdict}")
        parts += [_markdown_block(block) for block in _details(gradient)]
    if verdict.notes:
        parts.append("Under these conditions and conventions:\n\n" + "\n".join(f"* {note}" for note in verdict.notes))
    return "\n\n".join(parts) + "\n"


def _markdown_block(block: Block) -> str:
    kind, content = block
    if kind == "text":
        return str(content)
    if kind == "formula":
        label, gradient = content
        formula = _latex(gradient.difference)
        return f"{label}:\n\n$$\n{formula}\n$$" if formula else f"{label}: `{plain(gradient.difference)}`"
    if kind == "witness":
        return "Smallest counterexample:\n\n```text\n" + "\n".join(_witness_lines(content)) + "\n```"
    return "The gradient as NumPy:\n\n```python\n" + "\n".join(_function_lines(content)) + "\n```"


def _latex(term: Any) -> str:
    from symres.typeset import latex

    try:
        return latex(term)
    except SymresError:
        return ""


def latex_report(verdict: Verdict) -> str:
    """The report as a LaTeX fragment that needs amsmath only."""
    parts = [rf"\paragraph{{Verdict: {_escaped(verdict.verdict)}}} {_escaped(_scope(verdict))}"]
    for name, gradient in verdict.gradients.items():
        parts.append(rf"\subparagraph{{Gradient of \texttt{{{_escaped(name)}}}: {gradient.verdict}}}")
        parts += [_latex_block(block) for block in _details(gradient)]
    if verdict.notes:
        items = "\n".join(rf"\item {_escaped(note)}" for note in verdict.notes)
        parts.append("Under these conditions and conventions:\n\\begin{itemize}\n" + items + "\n\\end{itemize}")
    return "\n\n".join(parts) + "\n"


def _latex_block(block: Block) -> str:
    kind, content = block
    if kind == "text":
        return _escaped(content)
    if kind == "formula":
        label, gradient = content
        return f"{_escaped(label)}:\n\\[\n{_latex(gradient.difference)}\n\\]"
    lines = _witness_lines(content) if kind == "witness" else _function_lines(content)
    title = "Smallest counterexample" if kind == "witness" else "The gradient as NumPy"
    return f"{title}:\n\\begin{{verbatim}}\n" + "\n".join(lines) + "\n\\end{verbatim}"


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "·": r"$\cdot$", "ε": r"$\varepsilon$",
    "√": r"$\surd$", "π": r"$\pi$", "∞": r"$\infty$",
}  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)
