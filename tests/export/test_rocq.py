"""Certificates for Coq: right gradients are accepted, wrong ones and edited statements are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symres import catalogue
from symres.errors import Unsupported, UsageError
from symres.export.rocq import available, certificate_text, recheck
from symres.export.rocq.recheck import AXIOMS, sentences, without_comments
from symres.kernel.terms import Add, Fun, Maximum, Num, Tensor, Term, Var, add, transform
from symres.language.certificate import EqualClaim, certificate
from symres.language.program import Definition
from symres.numeric.evaluate import evaluate as evaluate_terms
from tests.export.rocq_layers import LAYERS, B, D, Layer, mean
from tests.export.rocq_reader import definitions, evaluate

coq = [
    pytest.mark.coq,
    pytest.mark.skipif(not available(), reason="coqc with Coquelicot is not installed"),
]


def needs_coq(test: Callable[..., None]) -> Callable[..., None]:
    for mark in coq:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("coq")


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.v"
    path.write_text(text)
    return path


# ---------------------------------------------------------------- right gradients


@needs_coq
@pytest.mark.parametrize("name", LAYERS)
def test_right_gradients_are_accepted(name: str, folder: Path) -> None:
    report = recheck(written(folder, name, certificate_text(LAYERS[name]().document())))
    assert report.accepted, report.reason
    assert set(report.axioms) <= AXIOMS
    assert len(report.theorems) == len(LAYERS[name]().gradients)


CATALOGUE = (
    "batchnorm-forward",
    "layernorm-backward",
    "norm-three-terms",
    "residual-backward",
    "residual-function",
)


@needs_coq
@pytest.mark.parametrize("entry", CATALOGUE)
def test_theorems_of_the_catalogue_are_accepted(entry: str, folder: Path) -> None:
    document = catalogue.derive(entry).certificate
    report = recheck(written(folder, entry, certificate_text(document)), expected=document)
    assert report.accepted, report.reason


def test_stacks_of_any_depth_are_recurrences_proved_by_induction() -> None:
    text = certificate_text(catalogue.derive("residual-backward").certificate)
    assert re.search(r"Fixpoint x \(x_in : nat -> R\) \(n d : nat\)", text)
    assert "induction n as [|m IH]" in text


def test_the_theorem_is_stated_as_a_person_would() -> None:
    text = certificate_text(LAYERS["layer_norm"]().document())
    stated = re.search(r"Theorem layernorm_backward_x (.*?)\.\n", text, re.S)
    assert stated is not None
    assert " ".join(stated.group(1).split()).endswith(
        "is_derive (fun t => sum B (fun b => sum D (fun i => g b i * y (fun i j => x i j + t * v i j) gamma beta b i))) 0 "
        "(sum B (fun b => sum D (fun i => grad_x x gamma g b i * v b i)))"
    )
    assert "Hypothesis B_size : (1 <= B)%nat." in text
    assert "Hypothesis eps_pos : 0 < eps." in text


def test_relu_is_stated_off_its_kink() -> None:
    text = certificate_text(LAYERS["relu_block"]().document())
    assert "Definition off_kink " in text
    assert re.search(r"Theorem relu_block_backward_x [^.]*:\s+off_kink", text)


# ---------------------------------------------------------------- wrong gradients


def with_sign(term: Term) -> Term:
    return -term


def with_factor(term: Term) -> Term:
    return 2 * term


def without_a_term(term: Term) -> Term:
    """The first sum of several terms loses its last one; where there is none, a 1 is added."""
    done: list[Term] = []

    def rule(node: Term) -> Term | None:
        if isinstance(node, Add) and not done:
            done.append(node)
            return add(*node.args[:-1])
        return None

    changed = transform(term, rule)
    return changed if done else term + 1


FAULTS = {"sign": with_sign, "factor": with_factor, "term": without_a_term}


def damaged(name: str, fault: str) -> Layer:
    layer = LAYERS[name]()
    first = next(iter(layer.gradients))
    value = layer.gradients[first]
    layer.gradients = {first: replace(value, body=FAULTS[fault](value.body))}
    return layer


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", LAYERS)
def test_no_certificate_is_written_for_a_wrong_gradient(name: str, fault: str) -> None:
    with pytest.raises(Unsupported, match="not proved"):
        certificate_text(damaged(name, fault).document())


@needs_coq
@pytest.mark.parametrize(
    ("name", "fault"),
    [(name, list(FAULTS)[k % 3]) for k, name in enumerate(LAYERS)] + [("layer_norm", f) for f in FAULTS],
)
def test_coq_refuses_a_wrong_gradient(name: str, fault: str, folder: Path) -> None:
    text = certificate_text(damaged(name, fault).document(), unchecked=True)
    report = recheck(written(folder, f"{name}_{fault}", text))
    assert not report.accepted


# ---------------------------------------------------------------- edited files


def edited(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return edit


EDITS = {
    "another layer": edited("w i * x b i / rms x b", "x b i / rms x b"),
    "another gradient": edited("(w i * g b i / rms x b - ", "(w i * g b i / rms x b - 0 * "),
    "another hypothesis": edited("Hypothesis eps_pos : 0 < eps.", "Hypothesis eps_pos : 1 < eps."),
    "one more hypothesis": edited("(** * Proof *)", "Hypothesis false : False."),
    "a weaker theorem": edited(") 0\n    (sum", ") 0\n    (0 * sum"),
    "an axiom": edited("(** * Proof *)", "Axiom false : False."),
    "a proof left out": edited("Qed.", "Admitted."),
    "a parameter": edited("(** * Proof *)", "Parameter false : False."),
    "checks switched off": edited("Open Scope R_scope.", "Open Scope R_scope.\nUnset Guard Checking."),
    "a comment that hides nothing": edited("(** * Proof *)", "(* Admitted *) Conjecture false : False."),
    "no certificate inside": lambda text: text[: text.index("(* symres-certificate")],
    "a broken certificate inside": edited("(* symres-certificate\n", "(* symres-certificate\nAAAA"),
    "a variable outside": edited("Section Rmsnorm", "Variable false : False.\nSection Rmsnorm"),
    "a notation": edited("(** * Proof *)", "Notation sqrt := exp."),
}


@needs_coq
@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_refused(edit: str, folder: Path) -> None:
    text = certificate_text(LAYERS["rms_norm"]().document())
    report = recheck(written(folder, re.sub(r"\W", "_", edit), EDITS[edit](text)))
    assert not report.accepted
    assert report.reason


@needs_coq
def test_the_certificate_of_another_theorem_is_refused(folder: Path) -> None:
    path = written(folder, "softmax", certificate_text(LAYERS["softmax"]().document()))
    assert recheck(path, expected=LAYERS["softmax"]().document()).accepted
    report = recheck(path, expected=LAYERS["linear"]().document())
    assert "another certificate" in report.reason


@needs_coq
def test_coqc_has_a_time_limit(folder: Path) -> None:
    path = written(folder, "slow", certificate_text(LAYERS["linear"]().document()))
    report = recheck(path, timeout=0.01)
    assert "did not finish within 0.01 seconds" in report.reason


def test_without_coq_the_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from symres.export.rocq.recheck import _library

    _library.cache_clear()
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UsageError, match=r"(?s)no coqc.*libcoq-coquelicot"):
        recheck(written(tmp_path, "any", ""))
    _library.cache_clear()


def test_comments_are_told_from_text() -> None:
    assert without_comments("a (* b (* c *) d *) e").split() == ["a", "e"]
    assert sentences("Lemma a : 1.5 = b.c. Qed.") == ["Lemma a : 1.5 = b.c.", "Qed."]


# ---------------------------------------------------------------- what is not covered


def test_what_is_not_covered_is_refused_by_name() -> None:
    for body, word in (
        (lambda x, b: Fun("erf", x(b)), "erf"),
        (lambda x, b: Maximum(k := Var("k", B), x(k)) * x(b), "maximum"),
    ):
        layer = Layer("refused")
        x = layer.input("x", B)
        y = layer.let("y", (B,), lambda b, body=body, x=x: body(x, b))  # type: ignore[misc]
        g = layer.output(y)
        layer.claim("x", lambda b, g=g: g(b))  # type: ignore[misc]
        with pytest.raises(Unsupported, match=word):
            certificate_text(layer.document())


# ---------------------------------------------------------------- identities


def identities(*, wrong: bool = False) -> dict[str, Any]:
    """The centred values sum to zero; the variance by one pass."""
    layer = Layer("centred")
    x = layer.input("x", B, D)
    mu = layer.let("mu", (B,), lambda b: mean(D, lambda j: x(b, j)))
    b = Var("b", B)
    zero = EqualClaim("centred", (b,), mean(D, lambda k: x(b, k) - mu(b)), Num(int(wrong)))
    one_pass = EqualClaim(
        "one-pass",
        (b,),
        mean(D, lambda k: (x(b, k) - mu(b)) ** 2),
        mean(D, lambda k: x(b, k) ** 2) - mu(b) ** 2,
    )
    return certificate("centred", "identity", "Centred values", layer.program, [zero, one_pass])


@needs_coq
def test_identities_are_accepted_and_wrong_ones_refused(folder: Path) -> None:
    assert recheck(written(folder, "centred", certificate_text(identities()))).accepted
    with pytest.raises(Unsupported, match="centred"):
        certificate_text(identities(wrong=True))
    wrong = certificate_text(identities(wrong=True), unchecked=True)
    assert not recheck(written(folder, "centred_wrong", wrong)).accepted


# ---------------------------------------------------------------- the text and the terms


def curried(array: np.ndarray[Any, Any]) -> Any:
    """An array as Coq has it: a function of one index after the other."""
    if array.ndim == 0:
        return array.item()
    return lambda k: curried(array[k])


WITHOUT_GENERAL_FUNCTIONS = [name for name in LAYERS if name not in ("residual", "elementwise", "pre_ln", "post_ln")]


@pytest.mark.parametrize("name", WITHOUT_GENERAL_FUNCTIONS)
def test_the_text_has_the_values_of_the_terms(name: str) -> None:
    layer = LAYERS[name]()
    text = certificate_text(layer.document())
    rng = np.random.default_rng(7)
    sizes = {"B": 3, "D": 4, "H": 2, "C": 3}
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for key, tensor in {**layer.program.inputs, **{t.name: t for t in layer.upstream.values()}}.items():
        shape = tuple(sizes[dim.name] for dim in tensor.dims)  # type: ignore[attr-defined]
        if tensor.kind == "int":
            arrays[key] = rng.integers(0, sizes["C"], shape)
        else:
            arrays[key] = np.abs(rng.normal(size=shape)) if tensor.kind == "positive" else rng.normal(size=shape)
    claims = [
        Definition(Tensor(f"grad_{key}", tuple(v.dim for v in value.vars)), value.axes, value.vars, value.body)
        for key, value in layer.gradients.items()
    ]
    expected = evaluate_terms(layer.program, arrays, sizes, extra=claims).arrays
    found = evaluate(text, {**sizes, **{key: curried(array) for key, array in arrays.items()}})
    stated = definitions(text)
    for tensor in (*layer.program.definitions, *(claim.tensor for claim in claims)):
        parameters, _ = stated[tensor.name]
        explicit = parameters[: len(parameters) - len(tensor.dims)]
        value = found[tensor.name]
        for argument in explicit:
            value = value(found[argument])
        array = expected[tensor.name]
        for place in np.ndindex(array.shape):
            entry = value
            for k in place:
                entry = entry(k)
            assert entry == pytest.approx(float(array[place]), rel=1e-9, abs=1e-12), (tensor.name, place)
