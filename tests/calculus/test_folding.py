"""Closed forms of gradients: the ones people publish, on layers that the rules were not made for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from symres.calculus.closed import ClosedForms
from symres.calculus.folding import Folding
from symres.calculus.reverse import reverse
from symres.calculus.statistics import name_statistics
from symres.kernel.normal import normal_form
from symres.kernel.terms import Add, Mul, Sum, Tensor, Term, Var, walk
from symres.language.equality import proved_equal
from symres.language.formula import adjoint
from symres.language.program import Program
from tests.calculus.layers import (
    B,
    D,
    K,
    S,
    group_norm,
    layer_norm,
    mean,
    normalised_perceptron,
    rms_norm,
    softmax,
    total,
)


def closed_forms(program: Program, *wrt: str) -> ClosedForms:
    (value,) = program.outputs.values()
    upstream = {"y": Tensor("dy", tuple(var.dim for var in value.vars))}
    return ClosedForms(reverse(name_statistics(program), wrt, upstream))


def gradient(program: Program, name: str) -> tuple[Term, tuple[Var, ...], ClosedForms]:
    forms = closed_forms(program, name)
    tensor = program.inputs[name]
    return forms.gradient(tensor).term, forms.backward.adjoints[tensor].vars, forms


def same(left: Term, right: Term) -> bool:
    """Whether two terms are the same monomials, with nothing unfolded."""
    return normal_form(left).key() == normal_form(right).key()


def test_layer_norm_has_three_terms() -> None:
    found, (b, i), forms = gradient(layer_norm(), "x")
    names = {tensor.name: tensor for tensor in forms.program.definitions}
    rstd, x_hat = names["rstd"], names["x_hat"]
    d = adjoint(x_hat)
    published = rstd(b) * (
        d(b, i) - mean(D, lambda j: d(b, j)) - x_hat(b, i) * mean(D, lambda j: d(b, j) * x_hat(b, j))
    )
    assert same(found, published)
    assert isinstance(found, Mul) and isinstance(found.args[-1], Add) and len(found.args[-1].args) == 3


def test_softmax() -> None:
    found, (b, i), forms = gradient(softmax(), "x")
    p = next(tensor for tensor in forms.program.definitions if tensor.name == "p")
    dy = Tensor("dy", (B, D))
    assert same(found, p(b, i) * (dy(b, i) - total(D, lambda j: dy(b, j) * p(b, j))))


def test_rms_norm_without_a_name_for_anything() -> None:
    found, (b, i), forms = gradient(rms_norm(), "x")
    rstd = next(tensor for tensor in forms.program.definitions if tensor.name == "rstd")
    x, w, dy = forms.program.inputs["x"], forms.program.inputs["w"], Tensor("dy", (B, D))
    inner = mean(D, lambda j: w(j) * dy(b, j) * x(b, j))
    assert same(found, rstd(b) * (w(i) * dy(b, i) - rstd(b) ** 2 * x(b, i) * inner))


def test_group_norm_averages_over_both_axes() -> None:
    found, (n, g, k, s), forms = gradient(group_norm(), "x")
    names = {tensor.name: tensor for tensor in forms.program.definitions}
    rstd, x_hat = names["rstd"], names["x_hat"]
    d = adjoint(x_hat)

    def average(body: Callable[[Var, Var], Term]) -> Term:
        return 1 / (K * S) * total(K, lambda k: total(S, lambda s: body(k, s)))

    inner = average(lambda k, s: d(n, g, k, s) * x_hat(n, g, k, s))
    published = rstd(n, g) * (d(n, g, k, s) - average(lambda k, s: d(n, g, k, s)) - x_hat(n, g, k, s) * inner)
    assert same(found, published)


def test_a_perceptron_keeps_the_adjoints_of_whole_arrays() -> None:
    program = normalised_perceptron()
    forms = closed_forms(program, "x", "W1", "W2")
    gradients = {name: forms.gradient(program.inputs[name]).term for name in ("x", "W1", "W2")}
    kept = {tensor.name for tensor in forms.remaining(gradients.values())}
    assert kept == {"n", "h"}
    # the three terms of the normalisation stand in the adjoint of h, once, and nowhere in the gradients
    h = next(tensor for tensor in forms.program.definitions if tensor.name == "h")
    assert sum(isinstance(node, Sum) for node in walk(forms.gradient(h).term)) == 2
    assert all(sum(isinstance(node, Sum) for node in walk(term)) == 1 for term in gradients.values())


@pytest.mark.parametrize("program", [softmax, rms_norm, layer_norm, group_norm, normalised_perceptron])
def test_every_closed_form_is_the_adjoint(program: Callable[[], Program]) -> None:
    made = program()
    forms = closed_forms(made, *(name for name, tensor in made.inputs.items() if tensor.dims))
    for tensor, definition in forms.backward.adjoints.items():
        assert proved_equal(forms.gradient(tensor).term, definition.body, forms.backward.definitions), tensor.name


def test_a_rule_that_is_wrong_is_never_used() -> None:
    """Planted: the folding is told that x_hat = (x - mu) rstd², so its short form is not equal and is not returned."""
    forms = closed_forms(layer_norm(), "x")
    folding, tensor = forms.folding, forms.program.inputs["x"]
    term = forms.substituted(tensor)
    wrong = Folding(forms.program.definitions)
    rstd = next(tensor for tensor in forms.program.definitions if tensor.name == "rstd")
    for rules in (wrong.rules, wrong.by_held):
        for place, rule in enumerate(rules):
            if rule.name is not None and rule.name.name == "x_hat":
                body = rule.body * rstd(rule.vars[0])
                from symres.calculus.folding import rule as made

                rules[place] = made(rule.name, rule.vars, body)  # type: ignore[call-overload]
    assert wrong.fold(term).term is term
    assert folding.fold(term).term is not term
