"""The content hash of a derivation: it changes when the statement or a step changes, and not otherwise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from symres.derivation.document import Derivation
from symres.errors import Unsupported
from symres.kernel.terms import Term, Var


def fingerprint(derivation: Derivation) -> str:
    """SHA-256 of the id, the statement, the assumptions, the definitions and the steps with their reasons.

    Index variables count by their order of appearance and their printed names, so that two runs agree. The verification
    record, the sources and the version of symres do not enter.

    Raises:
        Unsupported: for a formula of a class that is neither a term nor a dataclass.
    """
    content = (
        (derivation.id, derivation.kind, derivation.verdict),
        derivation.statement,
        derivation.assumptions,
        derivation.definitions,
        derivation.parts,
    )
    text = json.dumps(_canonical(content, {}), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any, seen: dict[Var, int]) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Var):
        number = seen.setdefault(value, len(seen))
        return ["var", value.name, number, _canonical(value.dim, seen)]
    if isinstance(value, Term):
        names: tuple[str, ...] = getattr(value, "fields", ())
        return [type(value).__name__, *(_canonical(getattr(value, name), seen) for name in names)]
    if isinstance(value, Mapping):
        return [[str(key), _canonical(value[key], seen)] for key in sorted(value, key=str)]
    if isinstance(value, (tuple, list)):
        return [_canonical(item, seen) for item in value]
    if is_dataclass(value):
        return [type(value).__name__, *(_canonical(getattr(value, field.name), seen) for field in fields(value))]
    raise Unsupported(f"a {type(value).__name__} in a derivation has no canonical form")
