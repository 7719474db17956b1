"""The certificate of a derivation as a file: what the second judge reads."""

from __future__ import annotations

import json

from symres.derivation.document import Derivation
from symres.errors import Unsupported


def files(derivation: Derivation) -> dict[str, str]:
    """The certificate.

    Raises:
        Unsupported: for a derivation of a kind that has none; its record says what was checked instead.
    """
    if not derivation.certificate:
        raise Unsupported(f"{derivation.id} has no certificate: a {derivation.kind} is checked in other ways")
    return {f"{derivation.id}.json": json.dumps(derivation.certificate, indent=1, ensure_ascii=False) + "\n"}
