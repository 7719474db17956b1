"""What a theorem rests on is listed in full, through all that it uses."""

from __future__ import annotations

from symres.derivation.document import Source
from symres.export.assumptions import assumptions
from tests.export.sample import sample


def test_conditions_lemmas_sources_and_judges() -> None:
    lemmas = {
        "norm-three-terms": sample(id="norm-three-terms", title="Three terms", uses=("deeper",), sources=()),
        "deeper": sample(id="deeper", title="Deeper", uses=("norm-three-terms",), sources=(Source("ioffe2015"),)),
    }
    text = assumptions(sample(), lemmas.__getitem__)
    assert text.splitlines()[:3] == ["sample-backward: theorem", "Conditions:", "  eps > 0 is positive"]
    assert "  norm-three-terms: Three terms (theorem)\n  deeper: Deeper (theorem)\n" in text
    assert "Layer Normalization. arXiv:1607.06450, 2016. Section 3.\n" in text
    assert "Batch Normalization: Accelerating" in text
    assert text.endswith("  NumPy: complex step\n")


def test_no_lemmas_no_heading() -> None:
    assert "used" not in assumptions(sample(uses=()), {}.__getitem__)
