"""Pictures: the same bytes from the same picture, and a caption for those who cannot see it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from symres.derivation.picture import Picture
from symres.errors import Unsupported
from symres.export.html import page, view
from symres.export.plot import files, svg
from tests.export.sample import sample


def draw(axes: Any) -> None:
    axes.plot([1, 2, 3], [1, 4, 9], label="bound")
    axes.set_xlabel("depth $L$")
    axes.legend()


PICTURE = Picture("norms", "The norm grows <fast> & far.", draw)


def test_files_in_both_formats_the_same_each_time() -> None:
    made = files("sample-backward", [PICTURE])
    assert sorted(made) == ["sample-backward-norms.png", "sample-backward-norms.svg"]
    assert made["sample-backward-norms.png"].startswith(b"\x89PNG")
    assert made == files("sample-backward", [PICTURE])


def test_a_page_shows_it_with_its_caption_and_nothing_from_outside() -> None:
    text = page(view(sample(), [PICTURE]))
    assert text.count("<figure") == 1
    assert "The norm grows &lt;fast&gt; &amp; far." in text
    assert svg(PICTURE).startswith("<svg")
    assert "<image" not in svg(PICTURE)


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Unsupported, match=r"symres\[plots\]"):
        files("sample-backward", [PICTURE])
