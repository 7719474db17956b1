"""Every entry of the catalogue in every format: pages in a browser, notebooks run, Markdown parsed, certificates accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import nbformat
import pytest
from markdown_it import MarkdownIt
from pybtex.database import parse_string

from symres import catalogue
from symres.cli.workers import made
from symres.export import Made
from symres.export.paper import Options
from symres.judge.recheck import recheck
from tests.export.browser import PROGRAM, Page, browser
from tests.export.test_html import MISSING
from tests.export.test_markdown import without_mathematics

IDS = list(catalogue.entries())
every_entry = pytest.mark.parametrize("id", IDS)


@cache
def documents(id: str) -> Made:
    """The documents of one entry; derived once, whatever is asked of them."""
    return partial(made, formats=("html", "md", "ipynb", "bib", "json"), options=Options())(id)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


@every_entry
def test_it_is_checked_and_every_check_passed(id: str) -> None:
    assert documents(id).passed
    assert "kernel" in documents(id).judges or documents(id).judges
    assert documents(id).verdict == catalogue.load(id).verdict


@every_entry
@pytest.mark.chromium
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium")
def test_the_page_shows_every_formula(id: str, page: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(documents(id).files[f"{id}.html"])
    page.problems.clear()
    page.requests.clear()
    page.open(path, width=375, dark=True)
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.run(MISSING) == []
    assert (
        page.run("[...document.querySelectorAll('math')].filter((m) => !m.getBoundingClientRect().width).length") == 0
    )
    assert page.run("/\\\\[a-z]{2,}/.test(document.querySelector('main').innerText)") is False
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


@every_entry
def test_the_markdown_has_no_tex_outside_its_formulas(id: str) -> None:
    for name in (f"{id}.md", f"{id}.github.md"):
        text = documents(id).files[name].decode()
        rest = without_mathematics(text)
        assert not re.search(r"\\(?!\\)[a-zA-Z]{2,}", re.sub(r"```python.*?```", "", rest, flags=re.DOTALL)), name
        tokens = MarkdownIt("commonmark").enable("table").parse(rest)
        assert [token.tag for token in tokens if token.type == "heading_open"].count("h1") == 1
    assert r"\operatorname" not in documents(id).files[f"{id}.github.md"].decode()


@every_entry
def test_the_notebook_runs(id: str) -> None:
    notebook = nbformat.reads(documents(id).files[f"{id}.ipynb"].decode(), as_version=4)
    nbformat.validate(notebook)
    names: dict[str, object] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{id}.ipynb", "exec"), names)
    assert names["derivation"].id == id  # type: ignore[attr-defined]


@every_entry
def test_what_is_to_be_cited_can_be_read(id: str) -> None:
    entries = parse_string(documents(id).files[f"{id}.bib"].decode(), "bibtex").entries
    assert set(entries) == {f"symres:{id}", *(key for key, _ in catalogue.load(id).sources)}


@every_entry
def test_the_second_judge_accepts_the_certificate(id: str) -> None:
    if f"{id}.json" not in documents(id).files:
        assert documents(id).left_out["json"]
        pytest.skip("checked in other ways, as its record says")
    report = recheck(documents(id).files[f"{id}.json"].decode(), seed="tests")
    assert report.passed, report.reason
    assert report.id == id
    assert json.loads(documents(id).files[f"{id}.json"])["hash"] == report.hash
