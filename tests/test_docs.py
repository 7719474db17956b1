"""The documentation builds without a warning, points to no outside address, and its examples run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"save (?:this|them) as `(\w+\.py)`[.:]\s*\Z", re.IGNORECASE)
# What only the author of a new derivation can run: it needs the file that is to be written.
NEEDS_A_NEW_FILE = {"writing.md"}


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_examples_run(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "recheck --with coq" in text and shutil.which("coqc") is None:
        pytest.skip("no Coq")
    # Pages speak of the layer of verify.md where they save none of their own.
    (tmp_path / "layer.py").write_text(next(FENCE.finditer((DOCS / "verify.md").read_text())).group(2))
    environment = {**os.environ, "SYMRES_CACHE": str(tmp_path / "cache")}
    ran = 0
    for fence in FENCE.finditer(text):
        language, body = fence.groups()
        saved = SAVED.search(text[: fence.start()].rstrip() + "\n")
        if language == "python" and saved:
            (tmp_path / saved.group(1)).write_text(body)
        elif language == "python":
            example = tmp_path / f"example_{ran}.py"
            example.write_text(body)
            subprocess.run([sys.executable, example], cwd=tmp_path, check=True, env=environment)
            ran += 1
        elif language == "sh" and page.name not in NEEDS_A_NEW_FILE:
            for line in body.replace("\\\n", " ").splitlines():
                if line.startswith("symres "):
                    words = [sys.executable, "-m", *shlex.split(line)]
                    subprocess.run(words, cwd=tmp_path, check=True, env=environment, capture_output=True)
                    ran += 1
    assert ran or page.name in {
        "index.md",
        "guided-reading.md",
        "reading.md",
        "trust.md",
        "commands.md",
        "api.md",
        *NEEDS_A_NEW_FILE,
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built documentation."""
    out = tmp_path_factory.mktemp("docs")
    source = tmp_path_factory.mktemp("source") / "docs"
    # The catalogue pages are written into the sources: build a copy.
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("_build", "catalogue"))
    shutil.copytree(ROOT / "symres" / "export" / "fonts", source.parent / "symres" / "export" / "fonts")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(source), str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.slow
def test_the_pages_load_nothing_from_elsewhere(site: Path) -> None:
    outside = re.compile(r"""(?:src|href)=["'](https?:)?//""")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 10
    assert [page.name for page in pages if outside.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.slow
def test_every_formula_is_mathml(site: Path) -> None:
    reading = (site / "guided-reading.html").read_text(encoding="utf-8")
    assert "<math>" in reading
    assert not re.search(r"\$[^<\n]*\$|\\\(|\\\[", reading)
