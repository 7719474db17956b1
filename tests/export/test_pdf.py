"""PDFs by TeX and by typst, from one derivation."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from symres.errors import SymresError
from symres.export import pdf
from symres.export.paper import Options
from tests.export.test_tex import nasty
from tests.typeset.layernorm import LAYERNORM
from tests.typeset.tex import needs_tex

pytest.importorskip("typst")


@pytest.mark.parametrize("width", ["one", "two"])
def test_typst_makes_a_pdf(width: str) -> None:
    assert pdf.by_typst(LAYERNORM, Options(width=width, listing=True)).startswith(b"%PDF")


def test_typst_takes_hostile_words() -> None:
    assert pdf.by_typst(nasty(), Options(listing=True)).startswith(b"%PDF")


def test_without_tex_typst_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert pdf.files(LAYERNORM)["layernorm-backward.pdf"].startswith(b"%PDF")
    with pytest.raises(SymresError, match="no pdflatex"):
        pdf.by_tex(LAYERNORM)


class TestTex:
    pytestmark = needs_tex

    def test_tex_makes_a_pdf(self) -> None:
        assert pdf.by_tex(LAYERNORM).startswith(b"%PDF")

    def test_what_tex_refuses_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf.tex, "files", lambda *_: {"layernorm-backward.tex": "\\undefined"})
        with pytest.raises(SymresError, match="pdflatex refused"):
            pdf.by_tex(replace(LAYERNORM))
