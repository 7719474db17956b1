"""Files are written whole or not at all, and stay where they were asked to be."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from symres.errors import UsageError
from symres.export.files import inside, output_folder, write_whole


def test_a_file_is_written_with_its_folder(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a" / "b.txt", "ρ = 1")
    assert path.read_bytes() == "ρ = 1".encode()
    assert [entry.name for entry in path.parent.iterdir()] == ["b.txt"]


def test_the_mode_is_that_of_any_new_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(write_whole(tmp_path / "b", b"").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_whole(tmp_path / "proof.tex", "old")

    def interrupted(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        write_whole(tmp_path / "file" / "proof.tex", "")
    with pytest.raises(UsageError, match="cannot be written to"):
        output_folder(tmp_path / "file")


def test_an_output_folder_is_made(tmp_path: Path) -> None:
    assert output_folder(tmp_path / "a" / "b").is_dir()
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "..", "a/../.."])
def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="leads out of"):
        inside(tmp_path, name)


def test_a_link_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    os.symlink(tmp_path, tmp_path / "out" / "link")
    with pytest.raises(UsageError, match="leads out of"):
        inside(tmp_path / "out", "link/x")


def test_names_within_are_kept(tmp_path: Path) -> None:
    assert inside(tmp_path, "assets/style.css") == tmp_path / "assets" / "style.css"


def _write_often(path: Path, letter: str) -> None:
    for _ in range(50):
        write_whole(path, letter * 100_000)


def test_two_writers_of_one_file_do_not_harm_each_other(tmp_path: Path) -> None:
    path = tmp_path / "proof.tex"
    writers = [multiprocessing.Process(target=_write_often, args=(path, letter)) for letter in "ab"]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        if path.exists():
            seen.add(path.read_text())
    for writer in writers:
        writer.join()
    assert seen <= {"a" * 100_000, "b" * 100_000}
    assert [entry.name for entry in tmp_path.iterdir()] == ["proof.tex"]
