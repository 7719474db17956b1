"""Markdown in two dialects: a parser finds the structure that was meant, and no mark that was not."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from symres.export.markdown import GITHUB, PLAIN, Dialect, files, markdown
from tests.export.sample import sample


@pytest.fixture(params=[PLAIN, GITHUB], ids=["plain", "github"])
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return request.param  # type: ignore[no-any-return]


def without_mathematics(text: str) -> str:
    """The text as a reader of Markdown sees it once formulas are taken out."""
    text = re.sub(r"^\$\$\n.*?\n\$\$$|^```math\n.*?\n```$", "FORMULA", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\$`[^`]*`\$|(?<!\\)\$[^$\n]*\$", "FORMULA", text)


def test_the_structure_is_what_was_meant(dialect: Dialect) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(without_mathematics(markdown(sample(), dialect)))
    headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings == [
        r"Layer normalisation & its \<gradient\>, 100% of it",
        "Theorem",
        "Assumptions",
        "Definitions",
        "Proof",
        "The reverse sweep",
        "Folding",
        "Remarks",
        "NumPy reference",
        "Verification record",
        "Sources",
    ]
    assert sum(token.type == "tr_open" for token in tokens) == 4
    assert [token.info for token in tokens if token.type == "fence"] == ["python"]


def test_words_are_words(dialect: Dialect) -> None:
    html = MarkdownIt("commonmark").render(without_mathematics(markdown(sample(), dialect)))
    assert "with *one* upstream_gradient FORMULA per entry" in html
    assert "<em>" not in html
    assert "a | bar and a `tick`" in html
    assert "&lt;gradient&gt;" in html


def test_every_formula_is_there(dialect: Dialect) -> None:
    text = markdown(sample(), dialect)
    # One in the statement, three definitions, three steps.
    assert without_mathematics(text).count("\nFORMULA\n") == 7
    assert r"\frac{\partial\ell}{\partial x_{bi}} = \rho_{b}" in text


def test_github_knows_no_operatorname() -> None:
    assert GITHUB.inline(r"\operatorname{relu}(x)") == r"$`\mathrm{relu}(x)`$"
    assert PLAIN.inline(r"\operatorname{relu}(x)") == r"$\operatorname{relu}(x)$"


def test_two_files_are_written() -> None:
    assert sorted(files(sample())) == ["sample-backward.github.md", "sample-backward.md"]


def test_a_refuted_claim_is_called_a_claim() -> None:
    text = markdown(sample(verdict="refuted", kind="counterexample"))
    assert "\n## Claim\n" in text
    assert "\n## Counterexample\n" in text


def test_two_runs_agree(dialect: Dialect) -> None:
    assert markdown(sample(), dialect) == markdown(sample(), dialect)
