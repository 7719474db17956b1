"""Prose with formulas in it, for every format: what is words and what is mathematics, each escaped in its own way."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from symres.derivation.document import Check
from symres.errors import SymresError
from symres.language.formula import Formula, Text

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SLOT = re.compile(r"\{(\w+)\}")


def fill(text: Text, words: Callable[[str], str], formula: Callable[[Formula], str]) -> str:
    """The text with its slots filled: ``words`` escapes the prose, ``formula`` sets a formula in it.

    Raises:
        SymresError: if a slot has no formula.
    """
    parts = _SLOT.split(text.words)
    missing = [name for name in parts[1::2] if name not in text.slots]
    if missing:
        raise SymresError(f"the text {text.words!r} has no formula for {{{missing[0]}}}")
    return "".join(formula(text.slots[part]) if odd % 2 else words(part) for odd, part in enumerate(parts))


def sentence(filled: str) -> str:
    """A reason as a sentence of its own: a capital letter in front where it begins with a word, a full stop behind."""
    return filled[:1].upper() + filled[1:].rstrip(".: ") + "."


def error_in_words(check: Check) -> str:
    """The error of a numerical check as ``1.4 × 10⁻¹⁶``, in one piece; empty where there is none."""
    if not check.error:
        return "" if check.error is None else "0"
    if not math.isfinite(check.error):
        return "not finite"
    digits, _, exponent = f"{check.error:.1e}".partition("e")
    return f"{digits}\u00a0×\u00a010{str(int(exponent)).translate(_RAISED)}"


def sizes_in_words(check: Check) -> str:
    """The sizes of a check: ``all``, or the sets tried: ``(B, D) = (1, 1), (2, 3)``; no line breaks in a set."""
    tried: dict[tuple[str, ...], list[str]] = {}
    for sizes in check.sizes:
        tried.setdefault(tuple(sizes), []).append(_set(sizes.values()))
    return "; ".join(f"{_set(names)} = {', '.join(found)}" for names, found in tried.items()) or "all"


def _set(items: Iterable[object]) -> str:
    words = [str(item) for item in items]
    return words[0] if len(words) == 1 else "(" + ",\N{NO-BREAK SPACE}".join(words) + ")"


SCREEN = 38.0
"""The room for a displayed formula on a screen, in ems."""
