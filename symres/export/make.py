"""Make the documents of one derivation, or take them from the cache when nothing they are made from has changed."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from symres.errors import Unsupported
from symres.export import FORMATS, Made, render
from symres.export.cache import Cache, cache_folder, key, program_hash
from symres.export.paper import Options

if TYPE_CHECKING:
    from symres.derivation.document import Derivation
    from symres.derivation.picture import Picture


def make(
    derive: Callable[[], Derivation],
    content: Sequence[bytes],
    formats: Sequence[str],
    options: Options,
    fresh: bool,
    pictures: Callable[[], Sequence[Picture]] | None = None,
) -> Made:
    """The documents in these formats. ``content`` is all the derivation is made from; ``fresh`` skips the cache.

    With ``pictures``, formats that can show them do.

    A format that the derivation does not have is left out, with the reason.

    Raises:
        SymresError: if the derivation fails.
    """
    cache = Cache(cache_folder())
    names = {format: _name(format, content, options, pictures is not None) for format in formats}
    found = {} if fresh else {format: data for format in formats if (data := cache.get(names[format])) is not None}
    parts = {format: json.loads(data) for format, data in found.items()}
    missing = [format for format in formats if format not in parts]
    if missing:
        derivation, shown = derive(), pictures() if pictures else ()
        for format in missing:
            parts[format] = _pack(derivation, format, options, shown)
            cache.put(names[format], json.dumps(parts[format]).encode())
    first = parts[formats[0]]
    files = {name: b64decode(text) for format in formats for name, text in parts[format]["files"].items()}
    left_out = {format: parts[format]["left_out"] for format in formats if parts[format]["left_out"]}
    return Made(first["id"], first["verdict"], first["passed"], tuple(first["judges"]), files, left_out)


def _name(format: str, content: Sequence[bytes], options: Options, pictures: bool) -> str:
    row = FORMATS[format]
    wishes = (
        json.dumps(asdict(options), sort_keys=True, default=sorted) if row.paper else str(pictures and row.pictures)
    )
    return key([format.encode(), wishes.encode(), program_hash().encode(), *content])


def _pack(derivation: Derivation, format: str, options: Options, pictures: Sequence[Picture]) -> dict[str, Any]:
    files, left_out = {}, ""
    try:
        files = {name: b64encode(data).decode() for name, data in render(derivation, format, options, pictures).items()}
    except Unsupported as reason:
        left_out = reason.message
    return {
        "id": derivation.id,
        "verdict": derivation.verdict,
        "passed": all(check.passed for check in derivation.record),
        "judges": list(dict.fromkeys(check.judge for check in derivation.record)),
        "files": files,
        "left_out": left_out,
    }
