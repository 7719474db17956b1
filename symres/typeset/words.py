"""Words in LaTeX: every character is escaped, common signs become mathematics, the rest is named by its code."""

from __future__ import annotations

import re
import unicodedata

from symres.typeset.greek import LETTERS

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": "'",
    "`": r"\textasciigrave{}",
    "-": "-",
}
_LETTERS = {
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    "\u00a0": "~",
    "ℓ": r"\(\ell\)",
    "×": r"\(\times\)",
    "·": r"\(\cdot\)",
    "±": r"\(\pm\)",
    "−": r"\(-\)",
    "⊙": r"\(\odot\)",
    "∘": r"\(\circ\)",
    "≤": r"\(\le\)",
    "≥": r"\(\ge\)",
    "≠": r"\(\ne\)",
    "≈": r"\(\approx\)",
    "→": r"\(\to\)",
    "∈": r"\(\in\)",
    "∞": r"\(\infty\)",
    "∂": r"\(\partial\)",
    "∇": r"\(\nabla\)",
    "√": r"\(\surd\)",
    "∑": r"\(\sum\)",
    "∏": r"\(\prod\)",
    "‖": r"\(\Vert\)",
    "ᵀ": r"\(^{\top}\)",
    "½": r"\(\tfrac{1}{2}\)",
    "¹": r"\(^{1}\)",
    "²": r"\(^{2}\)",
    "³": r"\(^{3}\)",
    "⁻": r"\(^{-}\)",
    **{sign: rf"\(_{{{number}}}\)" for number, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")},
} | {letter: rf"\(\{name}\)" for letter, name in LETTERS.items()}
_ACCENTS = {"\u0302": r"\hat", "\u0304": r"\bar", "\u0303": r"\tilde", "\u0307": r"\dot"}
_CHARACTER = re.compile("([A-Za-z])([\u0302\u0304\u0303\u0307])|(.)", re.DOTALL)


def escape(text: str) -> str:
    """Any text as LaTeX text: no character of it is read as a command, and what pdfLaTeX cannot set is named."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(
        rf"\({_ACCENTS[found[2]]}{{{found[1]}}}\)" if found[2] else _escaped(found[3])
        for found in _CHARACTER.finditer(composed)
    )


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character in _LETTERS:
        return _LETTERS[character]
    if character.isascii():
        return character if character.isprintable() or character in "\n\t" else " "
    # Latin letters with accents are in the T1 encoding; other scripts need a font that pdfLaTeX does not have.
    return character if "À" <= character <= "ž" and character.isalpha() else f"[U+{ord(character):04X}]"
