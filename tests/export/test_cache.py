"""The cache: keyed by content, bounded, and never a reason to fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from symres.export.cache import Cache, cache_folder, key, program_hash


def test_what_was_put_comes_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    assert cache.get("a") is None
    cache.put("a", b"proof")
    assert cache.get("a") == b"proof"


def test_the_files_used_longest_ago_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=250)
    for age, name in enumerate(["a", "b"]):
        cache.put(name, b"x" * 100)
        os.utime(tmp_path / name, (age, age))
    assert cache.get("a") is not None  # used now, so b is the older one
    cache.put("c", b"x" * 100)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


def test_a_cache_that_cannot_be_written_is_empty(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file")
    cache.put("a", b"proof")
    assert cache.get("a") is None


def test_parts_never_run_together() -> None:
    assert key([b"ab", b"c"]) != key([b"a", b"bc"])
    assert key([b"abc"]) != key([b"abc", b""])
    assert key([b"ab", b"c"]) == key([b"ab", b"c"])


def test_the_folder_is_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SYMRES_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/symres")
    monkeypatch.setenv("SYMRES_CACHE", "/elsewhere")
    assert cache_folder() == Path("/elsewhere")


def test_the_program_has_one_hash() -> None:
    assert program_hash() == program_hash()
    assert len(program_hash()) == 64
