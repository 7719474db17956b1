"""The Python door: a result has its parts, writes itself, and shows itself in notebooks."""

from __future__ import annotations

import pytest

from symres import catalogue
from symres.api import Proof, derive
from symres.errors import UsageError
from tests.export.sample import sample


@pytest.fixture
def proof() -> Proof:
    return Proof(sample())


def test_its_parts(proof: Proof) -> None:
    assert [step.label for step in proof.steps] == ["xhat", "mean", "closed"]
    assert proof.certificate()["format"] == "symres-certificate"
    assert proof.verdict == "theorem"
    assert str(proof) == (
        "Layer normalisation & its <gradient>, 100% of it [sample-backward]\n"
        "theorem; 3 steps; checked by kernel, second judge, NumPy"
    )


def test_it_writes_itself(proof: Proof, monkeypatch: pytest.MonkeyPatch) -> None:
    assert r"\begin{theorem}\label{thm:sample-backward}" in proof.to_latex()
    assert r"\label{thm:again:sample-backward}" in proof.to_latex(prefix="again:")
    assert proof.to_markdown().startswith("# Layer normalisation")
    assert "```math" in proof.to_markdown(github=True)
    assert "@misc{symres:sample-backward," in proof.bibtex()
    assert proof.to_numpy().startswith("def layer_norm")


def test_a_notebook_shows_the_statement(proof: Proof) -> None:
    bundle = proof._repr_mimebundle_()
    assert set(bundle) == {"text/markdown", "text/latex", "text/plain"}
    assert bundle["text/latex"].startswith(r"$$\begin{gathered} \frac{\partial\ell}{\partial x_{bi}} = ")
    assert r"\frac{\partial\ell}{\partial x_{bi}}" in bundle["text/markdown"]
    assert proof._repr_mimebundle_(include=None, exclude=None) == bundle
    assert set(proof._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert set(proof._repr_mimebundle_(exclude=["text/latex"])) == {"text/markdown", "text/plain"}


def test_an_unknown_id_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "entries", dict)
    with pytest.raises(UsageError, match="no derivation 'nothing'"):
        derive("nothing")
