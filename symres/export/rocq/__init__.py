"""The third judge: certificates that the kernel of Coq (Rocq) accepts.

:func:`certificate_text` turns a certificate of symres (JSON) into a Coq file that states and proves the same claims over
the real numbers; :func:`recheck` has Coq check such a file. The statement is made from the certificate alone, so that
it is the one which the other two judges have seen.
"""

from __future__ import annotations

from symres.derivation.document import Derivation
from symres.errors import Unsupported
from symres.export.rocq.certificate import certificate_text
from symres.export.rocq.recheck import Report, available, recheck

__all__ = ["Report", "available", "certificate_text", "files", "recheck"]


def files(derivation: Derivation) -> dict[str, str]:
    """The Coq file of a derivation.

    Raises:
        Unsupported: for a derivation without a certificate, or with a statement that Coq files do not cover.
    """
    if not derivation.certificate:
        raise Unsupported(f"{derivation.id} has no certificate: a {derivation.kind} is checked in other ways")
    return {f"{derivation.id}.v": certificate_text(derivation.certificate)}
