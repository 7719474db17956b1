"""Results that need not be made again: a folder of files, keyed by content and bounded in size."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import symres
from symres.errors import UsageError
from symres.export.files import write_whole

LIMIT = 256 * 1024 * 1024


def cache_folder() -> Path:
    """``$SYMRES_CACHE``, or ``symres`` in the user's cache folder."""
    chosen = os.environ.get("SYMRES_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(chosen).expanduser() if chosen else Path(base).expanduser() / "symres"


@cache
def program_hash() -> str:
    """The hash of the program's own files: a result made by another symres is not reused."""
    root = Path(symres.__file__).parent
    suffixes = {".py", ".sty", ".css", ".js", ".html", ".j2", ".v", ".woff2"}
    files = sorted(path for path in root.rglob("*") if path.suffix in suffixes)
    return key(part for path in files for part in (str(path.relative_to(root)).encode(), path.read_bytes()))


def key(parts: Iterable[bytes]) -> str:
    """The SHA-256 of the parts, each with its length, so that two lists of parts never run together."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


@dataclass(frozen=True)
class Cache:
    """Bytes by key. A cache that cannot be read or written is an empty one: it never makes a run fail."""

    folder: Path
    limit: int = LIMIT

    def get(self, name: str) -> bytes | None:
        """What was put under this key, or ``None``."""
        try:
            data = (self.folder / name).read_bytes()
            os.utime(self.folder / name)
        except OSError:
            return None
        return data

    def put(self, name: str, data: bytes) -> None:
        """Keep ``data``; the files used longest ago go when the limit is passed."""
        with contextlib.suppress(UsageError):
            write_whole(self.folder / name, data)
            self._trim()

    def _trim(self) -> None:
        with contextlib.suppress(OSError):
            states = sorted(((path.stat(), path) for path in self.folder.iterdir()), key=lambda pair: pair[0].st_mtime)
            excess = sum(state.st_size for state, _ in states) - self.limit
            for state, path in states:
                if excess <= 0:
                    break
                path.unlink(missing_ok=True)
                excess -= state.st_size
