"""The LaTeX article and fragment: they compile, fit their columns, and let no word of a user act as a command."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from symres.derivation.document import Derivation, Source
from symres.errors import UsageError
from symres.export.paper import Options
from symres.export.tex import article, bbl, files, fragment
from symres.kernel.terms import Var, delta
from symres.language.formula import Display, Text
from symres.typeset.notation import Notation
from symres.typeset.recognise import matrix_form
from tests.typeset.layernorm import LAYERNORM, D, b, i, rstd, x_hat
from tests.typeset.tex import compiled, needs_tex, overfull

NASTY = r"\input{/etc/passwd} 100% & #1 $x_1$ ^^41 ~ {unbalanced \end{document} “π ≤ é” 变 <a> `ls` \\"
WITH_CLEVEREF = r"""\documentclass{article}
\usepackage{amsmath,natbib,hyperref,cleveref,symres}
\begin{document}
See \cref{thm:layernorm-backward}, \cref{eq:layernorm-backward:dx} and \cref{eq:again-layernorm-backward:dx}.
\input{one}
\input{two}
\end{document}
"""


def write(folder: Path, derivation: Derivation, options: Options) -> str:
    """Write all files; the name of the article."""
    for name, text in files(derivation, options).items():
        (folder / name).write_text(text, encoding="utf-8")
    return f"{derivation.id}.tex"


def nasty() -> Derivation:
    """The derivation with hostile words wherever a user can put words."""
    step = replace(LAYERNORM.parts[0].steps[0], reason=Text(NASTY.replace("{", "[").replace("}", "]")))
    words = NASTY.replace("{", "(").replace("}", ")")
    part = replace(LAYERNORM.parts[0], title=NASTY, steps=(step,))
    check = replace(LAYERNORM.record[0], judge=NASTY, method=NASTY)
    return replace(
        LAYERNORM, title=NASTY, parts=(part,), remarks=(Text(words),), record=(check,), listing=f"x = 1  # {NASTY}\n"
    )


def test_files() -> None:
    assert set(files(LAYERNORM)) == {
        "layernorm-backward.tex",
        "layernorm-backward-fragment.tex",
        "layernorm-backward.bib",
        "layernorm-backward.bbl",
        "symres.sty",
    }


def test_text_is_the_same_from_run_to_run() -> None:
    assert article(LAYERNORM) == article(LAYERNORM)


def test_labels_have_the_prefix() -> None:
    labels = re.findall(r"\\label\{([^}]*)\}", fragment(LAYERNORM, Options(prefix="app-")))
    assert "thm:app-layernorm-backward" in labels
    assert "eq:app-layernorm-backward:dx" in labels
    assert len(set(labels)) == len(labels)


def test_detail() -> None:
    full, key, statement = (fragment(LAYERNORM, Options(detail=detail)) for detail in ("all", "key", "statement"))
    assert full.count("\\symresreason") == 6
    assert key.count("\\symresreason") == 3
    assert "\\symresreason" not in statement
    assert "\\begin{theorem}" in statement


def test_without_numbers() -> None:
    text = fragment(LAYERNORM, Options(numbering=False))
    assert "\\begin{equation*}" in text
    assert "\\begin{align*}" in text
    assert "\\label{eq" not in text


def test_notation_is_renamed() -> None:
    text = fragment(LAYERNORM, Options(notation=Notation({"x_hat": "z", "rstd": "s"})))
    assert "\\hat{x}" not in text
    assert "z_{bi}" in text


def test_form() -> None:
    j = Var("j", D)
    jacobian = rstd(b) * (delta(i, j) - 1 / D - x_hat(b, i) * x_hat(b, j) / D)
    found = matrix_form(jacobian, i, j)
    assert found is not None
    both = replace(LAYERNORM, matrix=(Text("The Jacobian of a row is"), Display(found)))
    shown = "\\mathbf{1}\\mathbf{1}^{\\top}"
    assert shown in fragment(both, Options())
    assert shown not in fragment(both, Options(form="index"))
    matrix = fragment(both, Options(form="matrix"))
    assert matrix.count(shown) == 1
    assert "In matrix form" not in matrix


def test_refuted_claims_are_no_theorems() -> None:
    text = fragment(replace(LAYERNORM, verdict="refuted"))
    assert "\\begin{refutation}" in text
    assert "\\begin{theorem}" not in text


def test_sources_of_one_year_are_told_apart() -> None:
    two = bbl((Source("he2015resnet"), Source("he2016identity"), Source("ba2016")))
    assert "[He et al.(2016a)]{he2015resnet}" in two
    assert "[He et al.(2016b)]{he2016identity}" in two
    assert "2016b." in two
    assert "(2016)]{ba2016}" in two


@pytest.mark.parametrize(
    "options",
    [
        {"width": "three"},
        {"width": "3"},
        {"detail": "some"},
        {"document_class": "article}\\input{x"},
        {"prefix": "a}b"},
        {"form": "tensor"},
    ],
)
def test_options_are_checked(options: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        Options(**options)  # type: ignore[arg-type]


def test_nothing_hostile_is_left() -> None:
    text = article(nasty(), Options(listing=True))
    assert "\\input{/etc" not in text
    assert text.count("\\end{document}") == 1
    assert text.rstrip().endswith("\\end{document}")


class TestCompiled:
    pytestmark = needs_tex

    @pytest.mark.parametrize("width", ["one", "two", "24"])
    @pytest.mark.parametrize("detail", ["all", "statement"])
    def test_the_article_fits_its_columns(self, width: str, detail: str, tmp_path: Path) -> None:
        name = write(tmp_path, LAYERNORM, Options(width=width, detail=detail, listing=True))
        log = compiled(tmp_path, name, runs=2)
        assert overfull(log) == []
        assert "undefined" not in log
        assert "multiply defined" not in log

    def test_hostile_words_compile(self, tmp_path: Path) -> None:
        assert compiled(tmp_path, write(tmp_path, nasty(), Options(listing=True)))

    def test_twice_in_one_paper_with_cleveref(self, tmp_path: Path) -> None:
        write(tmp_path, LAYERNORM, Options())
        (tmp_path / "one.tex").write_text(fragment(LAYERNORM))
        (tmp_path / "two.tex").write_text(fragment(LAYERNORM, Options(prefix="again-")))
        (tmp_path / "main.tex").write_text(WITH_CLEVEREF)
        log = compiled(tmp_path, "main.tex", runs=2)
        assert "multiply defined" not in log
        assert not re.search("Reference .* undefined", log)

    @pytest.mark.parametrize("engine", ["xelatex", "lualatex"])
    def test_other_engines(self, engine: str, tmp_path: Path) -> None:
        if shutil.which(engine) is None:
            pytest.skip(f"there is no {engine} on this machine")
        assert overfull(compiled(tmp_path, write(tmp_path, LAYERNORM, Options(listing=True)), engine)) == []
