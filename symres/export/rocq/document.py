"""The text of a Coq file: what is stated, what is proved, and the certificate it was made from."""

from __future__ import annotations

import base64
import json
import re
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symres.errors import CertificateError

PREAMBLE = (
    "From Coq Require Import Reals Lra Lia List.",
    "From Coquelicot Require Import Coquelicot.",
    "From Symres Require Import Symres.",
    "Import ListNotations.",
    "Open Scope R_scope.",
)
_MARK = "symres-certificate"
_BLOCK = re.compile(rf"\(\* {_MARK}\n([A-Za-z0-9+/=\s]*)\*\)")
_WIDTH = 116
_LARGEST = 50_000_000


@dataclass(frozen=True)
class Theorem:
    """A theorem and its proof; ``binders`` are typed binders and ``arguments`` their names."""

    name: str
    binders: str
    arguments: tuple[str, ...]
    claim: str
    proof: Sequence[str]

    def text(self, proof: Sequence[str]) -> str:
        """The theorem with a proof."""
        return "\n".join((f"Theorem {self.name} {self.binders}:\n  {self.claim}.", "Proof using All.", *proof, "Qed."))


@dataclass
class Document:
    """One Coq file."""

    name: str
    title: str
    statement: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)
    theorems: list[Theorem] = field(default_factory=list)

    @property
    def section(self) -> str:
        """The name of the section that everything stands in."""
        return "".join(char if char.isalnum() else "_" for char in self.name.title())

    def text(self, source: Mapping[str, Any]) -> str:
        """The file, with the certificate it was made from at its end."""
        names = [theorem.name for theorem in self.theorems]
        lines = [
            f"(** {_plain(self.title)}",
            "",
            f"    Made by symres from the certificate {_plain(str(source['id']))}, SHA-256 {source.get('hash', '')}.",
            "    What is claimed stands in the definitions below and in the theorems at the end. *)",
            *PREAMBLE,
            "",
            f"Section {self.section}.",
            *self.statement,
            "",
            "(** * Proof *)",
            *self.proofs,
            "",
            "(** * Theorems *)",
            *(theorem.text(theorem.proof) for theorem in self.theorems),
            f"End {self.section}.",
            "",
            f"Definition {self.name}_all := ({', '.join(names)}).",
            f"Print Assumptions {self.name}_all.",
            "",
            f"(* {_MARK}",
            *textwrap.wrap(base64.b64encode(zlib.compress(json.dumps(source).encode(), 9)).decode(), 110),
            "*)",
        ]
        return "\n".join(map(_wrapped, "\n".join(lines).splitlines())) + "\n"

    def restated(self, module: str) -> str:
        """A file that states the theorems again and takes each proof from the compiled ``module``."""
        given = " ".join(_assumed(self.statement))
        theorems = []
        for theorem in self.theorems:
            words = " ".join((f"{module}.{theorem.name}", given, *theorem.arguments))
            theorems.append(theorem.text([f"  exact ({words})."]))
        names = [theorem.name for theorem in self.theorems]
        lines = [
            *PREAMBLE,
            f"Require {module}.",
            f"Section {self.section}.",
            *self.statement,
            *theorems,
            f"End {self.section}.",
            f"Definition {self.name}_all := ({', '.join(names)}).",
            f"Print Assumptions {self.name}_all.",
        ]
        return "\n".join(lines) + "\n"


def _wrapped(line: str) -> str:
    """A long line in several, the later ones indented; blanks and line ends mean the same to Coq."""
    if len(line) <= _WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.strip(),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(text: str) -> str:
    """Prose inside a comment: nothing that would end it or begin a string."""
    return re.sub(r'[*"()]', " ", text)


def _assumed(statement: Sequence[str]) -> list[str]:
    """The variables and hypotheses of the section, in order."""
    found: list[str] = []
    for line in statement:
        match = re.match(r"(?:Variables?|Hypothesis) \(?([^:]*) :", line)
        if match:
            found += match.group(1).split()
    return found


def source_of(text: str) -> dict[str, Any]:
    """The certificate that a file was made from.

    Raises:
        CertificateError: if the file holds none.
    """
    blocks = _BLOCK.findall(text)
    if len(blocks) != 1:
        raise CertificateError("the file does not hold the certificate it was made from")
    try:
        packed = base64.b64decode("".join(blocks[0].split()), validate=True)
        data = zlib.decompressobj().decompress(packed, _LARGEST)
        document = json.loads(data)
    except (ValueError, zlib.error) as error:
        raise CertificateError(f"the certificate in the file cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise CertificateError("the certificate in the file is no certificate")
    return document
