"""Make the documents of one derivation, or take them from the cache when nothing they are made from has changed."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symres.export import Made, render
from symres.export.cache import Cache, cache_folder, key, program_hash

if TYPE_CHECKING:
    from symres.derivation.document import Derivation


def make(derive: Callable[[], Derivation], content: Sequence[bytes], formats: Sequence[str], fresh: bool) -> Made:
    """The documents in these formats. ``content`` is all the derivation is made from; ``fresh`` skips the cache.

    Raises:
        SymresError: if the derivation fails or cannot be written in one of the formats.
    """
    cache = Cache(cache_folder())
    base = [program_hash().encode(), *content]
    names = {format: key([format.encode(), *base]) for format in formats}
    found = {} if fresh else {format: data for format in formats if (data := cache.get(names[format])) is not None}
    parts = {format: json.loads(data) for format, data in found.items()}
    if len(parts) < len(formats):
        derivation = derive()
        for format in formats:
            if format not in parts:
                parts[format] = _pack(derivation, format)
                cache.put(names[format], json.dumps(parts[format]).encode())
    first = parts[formats[0]]
    files = {name: b64decode(text) for format in formats for name, text in parts[format]["files"].items()}
    return Made(first["id"], first["verdict"], first["passed"], files)


def _pack(derivation: Derivation, format: str) -> dict[str, Any]:
    files = {name: b64encode(data).decode() for name, data in render(derivation, format).items()}
    passed = all(check.passed for check in derivation.record)
    return {"id": derivation.id, "verdict": derivation.verdict, "passed": passed, "files": files}
