"""Notebooks: valid, the same from run to run, and they run."""

from __future__ import annotations

import json

import nbformat
import pytest

from symres import catalogue
from symres.export.notebook import files
from tests.export.sample import sample


def test_the_notebook_is_valid_and_stays_the_same() -> None:
    text = files(sample())["sample-backward.ipynb"]
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert text == files(sample())["sample-backward.ipynb"]


def test_it_derives_shows_and_checks() -> None:
    cells = json.loads(files(sample())["sample-backward.ipynb"])["cells"]
    code = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "code")
    assert 'symres.derive("sample-backward")' in code
    assert "recheck(json.dumps(derivation.certificate()))" in code
    assert r"\frac{\partial\ell}{\partial x_{bi}}" in cells[0]["source"]


def test_what_has_no_certificate_is_not_rechecked() -> None:
    assert "recheck" not in files(sample(certificate={}))["sample-backward.ipynb"]


@pytest.mark.slow
@pytest.mark.parametrize("id", ["layernorm-backward"])
def test_a_notebook_runs(id: str) -> None:
    from nbclient import NotebookClient

    notebook = nbformat.reads(files(catalogue.derive(id))[f"{id}.ipynb"], as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
