"""Writing files: whole or not at all, and never outside the folder that was asked for."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

from symres.errors import UsageError


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file so that a reader sees the old content or the new one, never a part: write beside it, then rename.

    Two runs that write the same file do not harm each other; the last one wins.

    Raises:
        UsageError: if the folder cannot be made or written to.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("xb") as stream:
                stream.write(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}", remedy="Give another place with -o."
        ) from error
    return path


def inside(folder: Path, name: str) -> Path:
    """The path ``name`` in ``folder``.

    Raises:
        UsageError: if the name leads out of the folder, such as ``../x``, an absolute path or a link to elsewhere.
    """
    path = folder / name
    if Path(name).is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{name!r} leads out of the folder {folder}")
    return path


def output_folder(path: Path) -> Path:
    """The folder, made when it is missing, so that a long computation does not fail at its very end.

    Raises:
        UsageError: if it cannot be made, is a file, or cannot be written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise UsageError(
            f"the folder {path} cannot be written to: {error.strerror or error}", remedy="Give another one with -o."
        ) from error
    return path
