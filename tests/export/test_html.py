"""HTML pages in a browser without a network: every formula shown, every button pressed, nothing from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from symres.derivation.document import Source
from symres.errors import SymresError
from symres.export.html import files, view
from symres.export.mathml import mathml
from symres.export.site import files as site_files
from tests.export.browser import PROGRAM, Page, browser
from tests.export.sample import sample

needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="no Chromium")

# Every sign of a formula must come from the embedded font: a box would have the width of the missing glyph.
MISSING = """(() => {
  const canvas = document.createElement("canvas").getContext("2d");
  const signs = new Set([...document.querySelectorAll("math")].flatMap((math) => [...math.textContent]));
  const italic = (sign) => (/[a-gi-z]/.test(sign) ? String.fromCodePoint(0x1d44e + sign.charCodeAt() - 97) : sign);
  const width = (sign, family) => { canvas.font = `100px ${family}`; return canvas.measureText(sign).width; };
  return [...signs].filter((sign) => !/[\\s\\u2061-\\u2064]/.test(sign)).filter((sign) =>
    ["serif", "monospace"].every((other) => width(sign, `"Symres Math", ${other}`) === width(sign, other)) ||
    width(italic(sign), `"Symres Math", serif`) === 0);
})()"""


def test_the_page_needs_nothing_else() -> None:
    text = files(sample())["sample-backward.html"]
    assert re.findall(r"""(?:src|href)=["']?[^#"'\s>]+""", text) == []
    assert re.findall(r"url\((?!data:)", text) == []
    assert "http://" not in text
    assert "https://" not in text


def test_what_comes_from_outside_is_escaped() -> None:
    text = files(sample(listing="</code><script>alert(1)</script>", title="<img src=x>"))["sample-backward.html"]
    assert "<script>alert" not in text
    assert "<img" not in text


def test_a_formula_without_mathml_is_an_error_and_never_raw_tex() -> None:
    with pytest.raises(SymresError, match="has no MathML"):
        mathml(r"\nosuchcommand{x}")


def test_two_runs_agree() -> None:
    assert files(sample()) == files(sample())


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


@pytest.fixture
def single(tmp_path: Path) -> Path:
    path = tmp_path / "sample.html"
    path.write_text(files(sample())["sample-backward.html"], encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    derivations = [
        sample(),
        sample(id="norm-three-terms", title="Three terms, not four", uses=()),
        sample(
            id="residual-no-vanish",
            title="The gradient cannot vanish",
            subject="residual",
            verdict="refuted",
            kind="counterexample",
            sources=(Source("he2016identity", "Eq. 5"),),
        ),
    ]
    for name, data in site_files([view(each) for each in derivations]).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return folder


@needs_chromium
@pytest.mark.chromium
@pytest.mark.parametrize(("width", "dark"), [(1200, False), (375, False), (1200, True), (375, True)])
def test_every_formula_is_shown(page: Page, single: Path, width: int, dark: bool) -> None:
    page.problems.clear()
    page.requests.clear()
    page.open(single, width=width, dark=dark)
    assert page.problems == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.run("document.fonts.check('16px \"Symres Math\"')")
    assert page.run(MISSING) == []
    assert (
        page.run("[...document.querySelectorAll('math')].filter((m) => !m.getBoundingClientRect().width).length") == 0
    )
    assert page.run("document.querySelectorAll('math merror').length") == 0
    assert page.run("/\\\\[a-z]+|\\$/.test(document.querySelector('main').innerText)") is False
    assert page.run("document.documentElement.scrollWidth <= innerWidth"), "the page itself must not scroll sideways"


@needs_chromium
@pytest.mark.chromium
def test_the_schemes_differ_and_have_contrast(page: Page, single: Path) -> None:
    luminance = """((name) => {
      const [r, g, b] = getComputedStyle(document.body)[name].match(/[\\d.]+/g).map((c) => (c / 255) ** 2.2);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b; })"""
    for dark in (False, True):
        page.open(single, dark=dark)
        ink, paper = (page.run(f"{luminance}('{name}')") for name in ("color", "backgroundColor"))
        assert (ink > paper) is dark
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 7


@needs_chromium
@pytest.mark.chromium
def test_the_copy_buttons(page: Page, single: Path) -> None:
    page.open(single)
    page.run("navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; true")
    page.run("document.querySelector('[data-copy=bibtex]').click()")
    assert page.run("copied").startswith("@misc{symres:sample-backward,")
    page.run("document.querySelector('[data-copy=latex]').click()")
    assert r"\frac{\partial\ell}{\partial x_{bi}}" in page.run("copied")
    page.run("document.querySelectorAll('[data-latex]')[0].click()")
    assert page.run("copied").startswith(r"\frac{\partial\ell}{\partial x_{bi}}")
    assert page.run("document.querySelector('[role=status]').textContent") == "LaTeX copied."


@needs_chromium
@pytest.mark.chromium
def test_copying_works_where_the_browser_gives_no_clipboard(page: Page, single: Path) -> None:
    page.open(single)
    page.run(
        "navigator.clipboard.writeText = async () => { throw new Error('denied'); };"
        "document.execCommand = (name) => { globalThis.copied = document.activeElement.value; return true; }; true"
    )
    page.run("document.querySelector('[data-copy=bibtex]').click()")
    assert page.run("new Promise((done) => setTimeout(() => done(copied), 50))").startswith("@misc{")


@needs_chromium
@pytest.mark.chromium
def test_steps_open_and_close(page: Page, single: Path) -> None:
    page.open(single)
    opened = "document.querySelectorAll('details.step[open]').length"
    assert page.run(opened) == 3
    page.run("document.querySelector('[data-fold]').click()")
    assert page.run(opened) == 0
    page.run("document.querySelector('details.step summary').click()")
    assert page.run(opened) == 1
    page.run("document.querySelector('[data-fold]').click()")
    assert page.run(opened) == 3


@needs_chromium
@pytest.mark.chromium
def test_the_keyboard_reaches_everything(page: Page, single: Path) -> None:
    page.open(single)
    seen = []
    for _ in range(12):
        page.press("Tab", 9)
        seen.append(page.run("document.activeElement.className || document.activeElement.tagName"))
    assert seen[0] == "skip"
    assert {"BUTTON", "scroll", "tex"} <= set(seen)
    page.run("document.querySelector('details.step summary').focus()")
    page.press("Enter", 13, "\r")
    assert page.run("document.querySelector('details.step').open") is False


@needs_chromium
@pytest.mark.chromium
def test_what_a_screen_reader_needs(page: Page, single: Path) -> None:
    page.open(single)
    assert page.run("document.documentElement.lang") == "en"
    assert page.run("document.querySelectorAll('h1').length") == 1
    levels = page.run("[...document.querySelectorAll('h1, h2, h3')].map((h) => +h.tagName[1])")
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    unnamed = page.run(
        "[...document.querySelectorAll('button, [role=group]')]"
        ".filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label'))).length"
    )
    assert unnamed == 0
    assert page.run("document.querySelectorAll('main').length") == 1


@needs_chromium
@pytest.mark.chromium
def test_the_index_searches_and_filters(page: Page, site: Path) -> None:
    page.problems.clear()
    page.open(site / "index.html")
    shown = "[...document.querySelectorAll('#list > li:not([hidden]) h3')].map((h) => h.textContent)"
    search = (
        "((t) => { const s = document.getElementById('search'); s.value = t; s.dispatchEvent(new Event('input')); })"
    )
    choose = (
        "((n, v) => { const s = document.querySelector(`[data-filter=${n}]`); s.value = v;"
        " s.dispatchEvent(new Event('change')); })"
    )
    assert len(page.run(shown)) == 3
    page.run(f"{search}('THREE four')")
    assert page.run(shown) == ["Three terms, not four"]
    page.run(f"{search}('kiros')")
    assert len(page.run(shown)) == 2
    page.run(f"{search}('no such thing')")
    assert page.run(shown) == []
    assert page.run("document.getElementById('count').textContent") == "0 derivations"
    page.run(f"{search}('')")
    page.run(f"{choose}('verdict', 'refuted')")
    assert page.run(shown) == ["The gradient cannot vanish"]
    page.run(f"{choose}('verdict', '')")
    page.run(f"{choose}('source', 'ba2016')")
    assert len(page.run(shown)) == 2
    page.run(f"{choose}('source', '')")
    page.run(f"{choose}('subject', 'residual')")
    assert page.run(shown) == ["The gradient cannot vanish"]
    assert page.problems == []


@needs_chromium
@pytest.mark.chromium
def test_the_pages_of_a_site_are_linked(page: Page, site: Path) -> None:
    page.problems.clear()
    for path in sorted(site.glob("*.html")):
        page.open(path, width=375)
        assert page.problems == []
        assert page.run("document.fonts.check('16px \"Symres Math\"')")
        links = page.run("[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
        for link in links:
            target, _, anchor = link.partition("#")
            text = (site / target if target else path).read_text(encoding="utf-8")
            assert not anchor or f'id="{anchor}"' in text
    lemma = (site / "norm-three-terms.html").read_text(encoding="utf-8")
    assert 'Used by <a href="residual-no-vanish.html">' in lemma or 'Used by <a href="sample-backward.html">' in lemma
    assert 'Uses <a href="norm-three-terms.html">' in (site / "sample-backward.html").read_text(encoding="utf-8")


def test_the_view_holds_strings_only_so_that_it_can_leave_its_process() -> None:
    assert json.loads(json.dumps(view(sample())))["id"] == "sample-backward"


def test_an_unknown_lemma_is_named_and_not_linked() -> None:
    text = files(replace(sample(), uses=("not-there",)))["sample-backward.html"]
    assert "<code>not-there</code>" in text
