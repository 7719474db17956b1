"""The sources: every entry has its fields, and what is printed can be read back by others' tools."""

from __future__ import annotations

import json

import pytest
from pybtex.database import parse_string

import symres
from symres.derivation.document import Derivation, Source
from symres.errors import UsageError
from symres.export.bibliography import check_entry, cite, library, reference
from symres.language.formula import Text


def derivation(**changes: object) -> Derivation:
    """A derivation with a title that BibTeX would misread, and two sources."""
    fields: dict[str, object] = {
        "id": "layernorm-backward",
        "title": "LN & BN: 100% of the gradient",
        "subject": "normalisation",
        "kind": "gradient",
        "verdict": "theorem",
        "statement": (Text("It holds."),),
        "sources": (Source("ba2016", "Section 3"), Source("behrmann2019")),
    }
    return Derivation(**{**fields, **changes})  # type: ignore[arg-type]


def test_every_entry_has_its_fields() -> None:
    assert len(library()) > 50
    for key, entry in library().items():
        check_entry(key, entry)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("@article{k, author={A, B}, title={T}, year={2016}}", "journal"),
        ("@inproceedings{k, author={A, B}, title={T}, year={2016}}", "booktitle"),
        ("@misc{k, title={T}, howpublished={H}, year={2016}}", "author"),
        ("@misc{k, author={A, B}, title={T}, howpublished={H}, year={in press}}", "four digits"),
        ("@booklet{k, author={A, B}, title={T}, year={2016}}", "unknown type"),
    ],
)
def test_an_entry_that_lacks_something_is_refused(text: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        check_entry("k", parse_string(text, "bibtex").entries["k"])


def test_arxiv_numbers_and_dois_have_their_form() -> None:
    for entry in library().values():
        fields = entry.fields
        if "eprint" in fields:
            assert len(fields["eprint"].split(".")[0]) == 4
            assert fields["archiveprefix"] == "arXiv"
        if "doi" in fields:
            assert fields["doi"].startswith("10.")


def test_references_in_words() -> None:
    assert str(reference("ba2016")) == (
        "Jimmy Lei Ba, Jamie Ryan Kiros and Geoffrey E. Hinton. Layer Normalization. arXiv:1607.06450, 2016."
    )
    assert str(reference("haber2018")) == (
        "Eldad Haber and Lars Ruthotto. Stable Architectures for Deep Neural Networks. "
        "Inverse Problems, 34(1), p. 014004, 2018. doi:10.1088/1361-6420/aa9a90, arXiv:1705.03341."
    )
    assert str(reference("behrmann2019")).startswith("Jens Behrmann et al. Invertible Residual Networks.")
    assert reference("hoedt2022").authors[2] == ("Günter", "Klambauer")
    assert reference("ba2016").short == "Ba, Kiros and Hinton 2016"


def test_references_hold_no_tex() -> None:
    for key in library():
        assert not set(str(reference(key))) & set("{}\\$~"), key


def test_the_bibtex_is_read_back() -> None:
    entries = parse_string(cite([derivation(), derivation()], "bibtex"), "bibtex").entries
    assert list(entries) == ["symres:layernorm-backward", "ba2016", "behrmann2019"]
    own = entries["symres:layernorm-backward"]
    assert own.type == "misc"
    assert own.fields["title"] == r"{LN \& BN: 100\% of the gradient}"
    assert symres.__version__ in own.fields["howpublished"]
    assert "layernorm-backward" in own.fields["howpublished"]
    assert "sha256:" in own.fields["note"]


def test_the_csl_items() -> None:
    own, layer_norm, invertible = json.loads(cite([derivation()], "csl"))
    assert own["version"] == symres.__version__
    assert own["title"] == "LN & BN: 100% of the gradient"
    assert layer_norm["author"][0] == {"family": "Ba", "given": "Jimmy Lei"}
    assert layer_norm["issued"] == {"date-parts": [[2016]]}
    assert invertible["type"] == "paper-conference"
    assert invertible["author"][-1]["family"] == "Jacobsen"
    assert {"archive": "arXiv", "archive_location": "1811.00995"}.items() <= invertible.items()


def test_wrong_use() -> None:
    with pytest.raises(UsageError, match="no citation format"):
        cite([derivation()], "apa")
    with pytest.raises(UsageError, match="no entry 'nobody2000'"):
        cite([derivation(sources=(Source("nobody2000"),))], "bibtex")
