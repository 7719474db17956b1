"""Prose with formulas in it, for every format: what is words and what is mathematics, each escaped in its own way."""

from __future__ import annotations

import re
from collections.abc import Callable

from symres.derivation.document import Check
from symres.errors import SymresError
from symres.language.formula import Formula, Text

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


def sizes_in_words(check: Check) -> str:
    """The sizes of a check: ``all``, or each set of sizes tried."""
    if not check.sizes:
        return "all"
    return "; ".join(", ".join(f"{name} = {size}" for name, size in sizes.items()) for sizes in check.sizes)


SCREEN = 38.0
"""The room for a displayed formula on a screen, in ems."""
