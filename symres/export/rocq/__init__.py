"""The third judge: certificates that the kernel of Coq (Rocq) accepts.

:func:`certificate_text` turns a certificate of symres (JSON) into a Coq file that states and proves the same claims over
the real numbers; :func:`recheck` has Coq check such a file. The statement is made from the certificate alone, so that
it is the one which the first two judges have seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symres.export.rocq.gradient import Gradients
from symres.export.rocq.statement import read


def certificate_text(document: Mapping[str, Any], *, unchecked: bool = False) -> str:
    """The Coq file for a certificate.

    Args:
        document: the certificate, as JSON.
        unchecked: write the file although a claim is not proved here, for tests that Coq refuses it.

    Raises:
        CertificateError: if the document is no certificate.
        Unsupported: if a part of the statement is not covered, by name, or a claim is not proved here.
    """
    statement = read(document)
    return Gradients(statement, unchecked).document().text()
