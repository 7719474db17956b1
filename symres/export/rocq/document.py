"""The text of a certificate: what is stated, what is proved, and a fingerprint of the statement in its head."""

from __future__ import annotations

from dataclasses import dataclass, field

PREAMBLE = """From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Symres Require Import Symres.
Import ListNotations.
Open Scope R_scope."""


@dataclass
class Document:
    """One certificate. ``theorems`` are whole texts, statement and proof."""

    name: str
    title: str
    statement: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)
    theorems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The file."""
        section = "".join(char if char.isalnum() else "_" for char in self.name.title())
        names = [theorem.split()[1] for theorem in self.theorems]
        lines = [
            f"(** {self.title} *)",
            PREAMBLE,
            "",
            f"Section {section}.",
            *self.statement,
            "",
            "(** * Proof *)",
            *self.proofs,
            "",
            "(** * Theorems *)",
            *self.theorems,
            f"End {section}.",
            f"Definition {self.name} := ({', '.join(names)}).",
            f"Print Assumptions {self.name}.",
        ]
        return "\n".join(lines) + "\n"
