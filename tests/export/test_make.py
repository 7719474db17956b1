"""Documents are made once: the cache is keyed by all they are made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from symres.derivation.document import Check, Derivation
from symres.errors import SymresError, UsageError
from symres.export import FORMATS, Made, formats
from symres.export.make import make
from symres.export.paper import Options
from tests.export.sample import sample


class Counter:
    """Derives the sample and counts how often."""

    def __init__(self, **changes: object) -> None:
        self.count, self.changes = 0, changes

    def __call__(self) -> Derivation:
        self.count += 1
        return sample(**self.changes)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMRES_CACHE", str(tmp_path / "cache"))


def run(derive: Counter, content: bytes = b"file", *, wanted: tuple[str, ...] = ("md",), **settings: object) -> Made:
    fresh = bool(settings.pop("fresh", False))
    return make(derive, [content], wanted, Options(**settings), fresh)  # type: ignore[arg-type]


def test_an_unchanged_entry_is_not_derived_again() -> None:
    derive = Counter()
    first, second = run(derive), run(derive)
    assert derive.count == 1
    assert first == second
    assert list(first.files) == ["sample-backward.md", "sample-backward.github.md"]


def test_a_changed_file_a_new_format_and_a_wish_for_fresh_results_are_derived() -> None:
    derive = Counter()
    run(derive)
    run(derive, b"changed")
    assert derive.count == 2
    run(derive, wanted=("md", "bib"))
    assert derive.count == 3
    run(derive, fresh=True)
    assert derive.count == 4
    run(derive, wanted=("bib", "md"))
    assert derive.count == 4


def test_options_of_a_paper_change_papers_only() -> None:
    derive = Counter()
    one = run(derive, wanted=("tex", "md"))
    two = run(derive, wanted=("tex", "md"), width="two")
    assert derive.count == 2
    assert one.files["sample-backward.tex"] != two.files["sample-backward.tex"]
    run(derive, wanted=("md",), width="two")
    assert derive.count == 2


def test_the_record_decides_whether_it_passed() -> None:
    made = run(Counter())
    assert (made.passed, made.judges) == (True, ("kernel", "second judge", "NumPy"))
    failed = run(Counter(record=(Check("kernel", "normal form", True), Check("NumPy", "complex step", False))), b"2")
    assert not failed.passed


def test_a_format_that_cannot_be_is_left_out_with_the_reason() -> None:
    made = run(Counter(certificate={}), wanted=("json", "bib"))
    assert list(made.files) == ["sample-backward.bib"]
    assert "has no certificate" in made.left_out["json"]


def test_a_derivation_that_fails_is_not_kept() -> None:
    def fail() -> Derivation:
        raise SymresError("refused at step 3")

    with pytest.raises(SymresError, match="step 3"):
        make(fail, [b"file"], ("md",), Options(), False)
    assert run(Counter()).passed


def test_the_list_of_formats() -> None:
    assert formats("tex, html") == ("tex", "html")
    assert formats("all") == tuple(FORMATS)
    for wrong in ("docx", "tex,,html", ""):
        with pytest.raises(UsageError, match="there is no format"):
            formats(wrong)
