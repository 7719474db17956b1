"""Certificates written from terms are what the second judge reads and accepts."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from symres.errors import CertificateError
from symres.judge import Values, canonical, recheck
from symres.kernel.terms import Apply, Fun, Lam, Size, Tensor, Var, sum_
from symres.language.certificate import (
    EqualClaim,
    GradientClaim,
    Recurrence,
    certificate,
    content_hash,
    definitions_document,
)
from symres.language.constants import PI
from symres.language.program import Definition, Program, Value

B, D, L = Size("B"), Size("D"), Size("L")
x, g, mu, y = Tensor("x", (B, D)), Tensor("g", (B, D)), Tensor("mu", (B,)), Tensor("y", (B, D))
b, d, k = Var("b", B), Var("d", D), Var("d", D)
AXES = ((B,), (D,))


def centring() -> Program:
    """y = x - mean x, with an intermediate, one that nothing needs, and an output that is none of them."""
    program = Program("centring", {"x": x}, {"x": AXES})
    program.definitions[mu] = Definition(mu, ((B,),), (b,), sum_(d, x(b, d)) / D)
    unused = Tensor("unused", (B,))
    program.definitions[unused] = Definition(unused, ((B,),), (b,), Fun("h", mu(b)))
    program.outputs["y"] = Value(AXES, (b, d), x(b, d) - mu(b))
    program.outputs["mu"] = Value(((B,),), (b,), mu(b))
    return program


def backward(sign: int = 1) -> GradientClaim:
    return GradientClaim("dx", ("y",), ("g",), "x", (b, d), g(b, d) - sign * sum_(k, g(b, k)) / D)


def test_a_program_and_its_gradient() -> None:
    made = certificate("centring", "gradient", "Centring", centring(), [backward()])
    assert [definition["name"] for definition in made["definitions"]] == ["mu", "y"]
    assert made["sizes"] == ["B", "D"]
    assert made["tensors"] == {
        name: {"dims": [["size", "B"], ["size", "D"]], "kind": "real", "bound": None} for name in ("g", "x")
    }
    assert made["functions"] == {}
    assert recheck(json.dumps(made)).passed
    assert not recheck(json.dumps(certificate("centring", "gradient", "Centring", centring(), [backward(-1)]))).passed


def test_the_hash_is_the_judges() -> None:
    made = certificate("centring", "gradient", "Zentrierung μ", centring(), [backward()])
    assert made["hash"] == content_hash(made) == canonical(made)
    assert made["hash"] != certificate("centring", "gradient", "Other", centring(), [backward()])["hash"]


def test_unknown_functions_are_declared() -> None:
    f = EqualClaim("elementwise", (b, d), Fun("f'", x(b, d)) * 1, Fun("f'", x(b, d)))
    several = EqualClaim("of two", (b, d), Fun("h.1.2", x(b, d), g(b, d)), Fun("h.1.2", x(b, d), g(b, d)))
    general = Apply("F", (D,), (d,), (Lam((k,), x(b, k)),), ((0, (d,)),))
    made = certificate("f", "identity", "f", [], [f, several, EqualClaim("general", (b, d), general, general)])
    assert made["functions"] == {
        "F": {"out": [["size", "D"]], "args": [[["size", "D"]]]},
        "f": {"elementwise": 1},
        "h": {"elementwise": 2},
    }
    assert recheck(json.dumps(made)).passed


def test_a_recurrence() -> None:
    """h_0 = x, h_{i+1} = h_i + a h_i; so ∂h_L/∂x = (1 + a)^L, here for the step only: h_i = (1 + a) h_{i-1}."""
    i = Var("i", L + 1)
    h, a, start = Tensor("h", (L + 1,)), Tensor("a"), Tensor("start")
    recurrence = Recurrence(h, (i,), start(), h(i - 1) + a() * h(i - 1))
    n = Var("n", L)
    claim = EqualClaim("ratio", (n,), h(n + 1), (1 + a()) * h(n))
    made = certificate("powers", "induction", "Powers", [recurrence], [claim])
    assert recheck(json.dumps(made)).passed
    values = Values(made, {"L": 3}, {"a": 1, "start": Fraction(1, 2)})
    assert values.table("h").nested() == [Fraction(1, 2), 1, 2, 4]


def test_definitions_alone() -> None:
    document = definitions_document(centring(), also=[g])
    assert [definition["name"] for definition in document["definitions"]] == ["mu", "unused", "y"]
    values = Values(document, {"B": 1, "D": 2}, {"x": [[1, 3]], "g": [[1, 0]]})
    assert values.table("y").nested() == [[-1, 1]]
    assert values.gradient(["y"], ["g"], "x").nested() == [[Fraction(1, 2), Fraction(-1, 2)]]


def test_constants_are_inputs_by_name() -> None:
    made = certificate("pi", "identity", "π", [], [EqualClaim("sin", (), Fun("sin", PI()), Fun("cos", PI() / 2))])
    assert recheck(json.dumps(made)).passed  # both are 0: only for the number π


def test_two_meanings_of_a_name_are_refused() -> None:
    other = Tensor("x", (B,))
    with pytest.raises(CertificateError, match="two different tensors are named x"):
        certificate("c", "identity", "c", [], [EqualClaim("c", (b, d), x(b, d), other(b))])
    with pytest.raises(CertificateError, match="mu is defined twice"):
        certificate("c", "gradient", "c", [centring(), *centring().definitions.values()], [backward()])
    program = centring()
    program.outputs["x"] = program.outputs["y"]
    with pytest.raises(CertificateError, match="the output x has the name of something else"):
        certificate("c", "gradient", "c", program, [backward()])


def test_a_claim_about_nothing_is_refused() -> None:
    claim = GradientClaim("dz", ("y",), ("g",), "z", (b, d), g(b, d))
    with pytest.raises(CertificateError, match="z, which 'dz' speaks of, occurs in no term"):
        certificate("c", "gradient", "c", centring(), [claim])
