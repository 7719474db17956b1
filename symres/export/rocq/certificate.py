"""From a certificate of symres (JSON) to the Coq file that states and proves the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symres.errors import Unsupported
from symres.export.rocq.document import Document
from symres.export.rocq.gradient import Gradients
from symres.export.rocq.identity import Identities
from symres.export.rocq.statement import read


def document_of(source: Mapping[str, Any], *, unchecked: bool = False) -> Document:
    """The parts of the Coq file for a certificate.

    Raises:
        CertificateError: if the document is no certificate.
        Unsupported: if a part of the statement is not covered, by name, or a claim is not proved here.
    """
    statement = read(source)
    if statement.recurrences and not statement.gradients:
        raise Unsupported(f"Coq certificates do not cover recurrences over the depth, as in {statement.id}")
    kind = Gradients if statement.gradients else Identities
    return kind(statement, unchecked).document()


def certificate_text(source: Mapping[str, Any], *, unchecked: bool = False) -> str:
    """The Coq file for a certificate.

    Args:
        source: the certificate, as JSON.
        unchecked: write the file although a claim is not proved here, for tests that Coq refuses it.

    Raises:
        CertificateError: if the document is no certificate.
        Unsupported: if a part of the statement is not covered, by name, or a claim is not proved here.
    """
    return document_of(source, unchecked=unchecked).text(source)
