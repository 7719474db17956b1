"""Coq identifiers for the names of a derivation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

_WORDS = """
    R nat fun forall exists let in match with end if then else fix cofix as at return Type Prop Set where by using
    Section End Definition Fixpoint Lemma Theorem Proof Qed Variable Variables Hypothesis Print From Require Import Open
    exp ln sqrt tanh sinh cosh sin cos atan INR IZR S O pow is_derive c t u v E I True False eq list pair fst snd exp_pos
    state pushed pulled plus minus mult Rmax
"""
LIBRARY = Path(__file__).with_name("Symres.v")
_NAMED = re.compile(r"^(?:Lemma|Definition|Fixpoint|Ltac) (\w+)", re.MULTILINE)
RESERVED = frozenset(_WORDS.split()) | frozenset(_NAMED.findall(LIBRARY.read_text(encoding="utf-8")))
"""What a certificate or its library uses itself."""

_LETTERS = {"∂": "d_", "ε": "eps", "̂": "_hat", "̃": "_tilde", "̄": "_bar", "′": "'", "ℓ": "loss", "∞": "infinity"}


def identifier(name: str) -> str:
    """A Coq identifier that reads like ``name``: Greek letters by their names, accents spelled out."""
    parts = []
    for char in unicodedata.normalize("NFD", name):
        if char in _LETTERS:
            parts.append(_LETTERS[char])
        elif char.isascii() and (char.isalnum() or char in "_'"):
            parts.append(char)
        elif unicodedata.name(char, "").startswith("GREEK"):
            parts.append(unicodedata.name(char).split()[-1].lower())
        else:
            parts.append("_")
    text = "".join(parts).strip("'") or "a"
    return text if text[0].isalpha() else "a" + text


class Names:
    """Hands out identifiers, each once; a taken or reserved name gets a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken) | RESERVED

    def new(self, hint: str) -> str:
        """An identifier like ``hint`` that was not given out before."""
        base = identifier(hint)
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name
