"""The catalogue reads what a derivation file says of itself, and refuses what it cannot use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from symres import catalogue
from symres.errors import SymresError, UsageError

FILE = '''"""{title}.

More.
"""

ID = "{id}"
SUBJECT = "normalisation"
KIND = "gradient"
VERDICT = "theorem"
SOURCES = {{"ba2016": "Section 3", "xu2019": ""}}

raise RuntimeError("this file must not run to be listed")
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty catalogue in a folder of its own."""
    monkeypatch.setattr(catalogue, "folder", lambda: tmp_path)
    catalogue.entries.cache_clear()
    yield tmp_path
    catalogue.entries.cache_clear()


def add(folder: Path, id: str, text: str = FILE, **fields: str) -> Path:
    path = folder / f"{id.replace('-', '_')}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.format(id=id, **{"title": "The title", **fields}))
    return path


def test_a_file_is_listed_without_being_run(folder: Path) -> None:
    add(folder, "layernorm-backward")
    entry = catalogue.load("layernorm-backward")
    assert entry.title == "The title"
    assert entry.sources == (("ba2016", "Section 3"), ("xu2019", ""))
    assert entry.module == "symres.derivations.layernorm_backward"
    assert entry.summary() == {
        "id": "layernorm-backward",
        "subject": "normalisation",
        "kind": "gradient",
        "verdict": "theorem",
        "statement": "The title",
        "sources": [{"key": "ba2016", "place": "Section 3"}, {"key": "xu2019", "place": ""}],
    }


def test_folders_are_subjects_and_helpers_are_no_entries(folder: Path) -> None:
    add(folder / "norms", "norm-axes")
    add(folder, "_helper", "X = 1\n")
    assert list(catalogue.entries()) == ["norm-axes"]
    assert catalogue.load("norm-axes").module == "symres.derivations.norms.norm_axes"


def test_an_unknown_id_names_the_nearest(folder: Path) -> None:
    add(folder, "layernorm-backward")
    add(folder, "residual-depth")
    with pytest.raises(UsageError, match="Did you mean layernorm-backward") as caught:
        catalogue.load("layernrom-backward")
    assert "residual-depth" not in str(caught.value)
    with pytest.raises(UsageError, match="symres list"):
        catalogue.load("%$#")


@pytest.mark.parametrize("lost", ["ID", "SUBJECT", "KIND", "VERDICT", "SOURCES"])
def test_a_file_that_lacks_a_constant_is_refused(folder: Path, lost: str) -> None:
    add(folder, "norm-axes", "\n".join(line for line in FILE.splitlines() if not line.startswith(lost)))
    with pytest.raises(UsageError, match=f"lacks {lost}"):
        catalogue.entries()


def test_a_constant_that_would_have_to_be_run_is_refused(folder: Path) -> None:
    add(folder, "norm-axes", FILE.replace('"{id}"', 'print("{id}")'))
    with pytest.raises(UsageError, match="ID must be a literal"):
        catalogue.entries()


def test_two_files_with_one_id_are_refused(folder: Path) -> None:
    add(folder, "norm-axes")
    add(folder / "norms", "norm-axes")
    with pytest.raises(UsageError, match="the same id"):
        catalogue.entries()


def test_the_content_is_that_of_all_files_named_in_turn(folder: Path) -> None:
    add(folder, "norm-axes")
    add(folder, "layernorm-backward", FILE + 'USES = "norm-axes"\n')
    add(folder, "sublayer", FILE + 'USES = "layernorm-backward"\nfrom symres.derivations._helper import X\n')
    helper = add(folder, "_helper", "X = 1\n")
    before = {id: catalogue.content(entry) for id, entry in catalogue.entries().items()}
    assert [len(before[id]) for id in ("norm-axes", "layernorm-backward", "sublayer")] == [1, 2, 4]
    helper.write_text("X = 2\n")
    after = {id: catalogue.content(entry) for id, entry in catalogue.entries().items()}
    assert {id for id in before if before[id] != after[id]} == {"sublayer"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_of_one_entry_does_not_stop_the_rest(jobs: int) -> None:
    results = dict(catalogue.run(_length, ["a", "bad", "fault", "ccc"], jobs))
    assert results["a"] == (1, os.getpid()) if jobs == 1 else results["a"][0] == 1  # type: ignore[index]
    assert results["ccc"][0] == 3  # type: ignore[index]
    assert type(results["bad"]) is UsageError
    assert str(results["bad"]) == "no\ndo this"
    assert type(results["fault"]) is SymresError
    assert "internal error: KeyError" in str(results["fault"])
    assert "at test_catalogue.py:" in str(results["fault"])


class _Stubborn(UsageError):
    """An error that cannot be made again from what it prints, as pickling would have it."""

    def __init__(self, step: object, reason: str) -> None:
        super().__init__(reason, remedy="do this")
        self.step = step


def _length(id: str) -> tuple[int, int]:
    if id == "bad":
        raise _Stubborn(lambda: None, "no")
    if id == "fault":
        raise KeyError(lambda: None)
    return len(id), os.getpid()


def test_a_new_file_is_a_valid_entry(folder: Path) -> None:
    name, text = catalogue.template("small-batch-mean")
    (folder / name).write_text(text)
    catalogue.entries.cache_clear()
    assert name == "small_batch_mean.py"
    assert catalogue.load("small-batch-mean").kind == "gradient"
    with pytest.raises(UsageError, match="already"):
        catalogue.template("small-batch-mean")


def test_a_new_file_already_proves_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, text = catalogue.template("an-example")
    (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    derivation = import_module(name.removesuffix(".py")).build()
    assert derivation.id == "an-example"
    assert all(check.passed for check in derivation.record)


@pytest.mark.parametrize("id", ["", "Upper", "a_b", "../x", "a--b", "a b", "x;y"])
def test_an_id_is_words_joined_by_hyphens(folder: Path, id: str) -> None:
    with pytest.raises(UsageError, match="is no id"):
        catalogue.template(id)


def test_a_file_that_raises_is_an_error_with_its_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = add(folder, "norm-axes")

    def run(name: str) -> None:
        exec(compile(path.read_text(), str(path), "exec"), {})

    monkeypatch.setattr(catalogue, "import_module", run)
    with pytest.raises(
        SymresError, match=r"norm_axes.py raised RuntimeError: this file must not run.*\nat norm_axes.py:12"
    ):
        catalogue.derive("norm-axes")


def test_what_a_file_announces_must_be_what_it_derives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    add(folder, "norm-axes")
    found = SimpleNamespace(id="norm-axes", kind="gradient", verdict="refuted")
    monkeypatch.setattr(catalogue, "import_module", lambda name: SimpleNamespace(build=lambda: found))
    with pytest.raises(SymresError, match="announces the verdict 'theorem'"):
        catalogue.derive("norm-axes")
