"""Exact values and gradients at given inputs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest

from symres.judge import Ball, Refused, Undefined, Values
from tests.judge.build import (
    add,
    attention,
    define,
    document,
    entry,
    fun,
    layer_norm,
    mul,
    num,
    power,
    residual,
    residual_stack,
    tensor,
    variables,
)

F = Fraction
MP = mpmath.MPContext()
MP.dps = 100


def layer_norm_at(**others: Any) -> Values:
    inputs = {"x": [[1, 2]], "gamma": [1, 1], "beta": [0, 0], "eps": F(3, 4), "g": [[1, 0]]}
    return Values(layer_norm(), {"B": 1, "D": 2}, {**inputs, **others})


def test_rational_values_are_fractions() -> None:
    values = layer_norm_at()
    # the variance is 1/4, so the root of the sum with ε is 1
    assert values.table("rho").nested() == [1]
    assert values.table("x_hat").nested() == [[F(-1, 2), F(1, 2)]]
    assert values.gradient(["y"], ["g"], "x").nested() == [[F(3, 8), F(-3, 8)]]
    assert all(isinstance(value, Fraction) for value in values.table("x_hat").values)


def test_others_are_balls() -> None:
    values = layer_norm_at(eps=1)
    (rho,) = values.table("rho").values
    assert isinstance(rho, Ball)
    assert rho.decimal(60) == MP.nstr(2 / MP.sqrt(5), 60)
    assert values.table("mu").nested() == [F(3, 2)]
    gradient = values.gradient(["y"], ["g"], "x").values
    assert str(gradient[0]) == "0.357770876399966"  # 4/(5√5)


def test_gradients_by_every_input() -> None:
    values = layer_norm_at()
    assert values.gradient(["y"], ["g"], "gamma").nested() == [F(-1, 2), 0]
    assert values.gradient(["y"], ["g"], "beta").nested() == [1, 0]
    assert values.gradient(["y"], ["g"], "eps").nested() == F(1, 4)


def test_unknown_functions_are_consistent() -> None:
    """The gradient of x + F(x, W) by W, as the certificate states it, is the one by dual numbers."""
    made = residual()
    claim = made["claims"][1]
    made["definitions"].append(define("dW", claim["vars"], claim["gradient"]))
    inputs = {"x": [[1, 2], [3, F(1, 2)]], "W": [1, -1, 2], "g": [[1, 0], [2, -3]]}
    values = Values(made, {"B": 2, "D": 2, "M": 3}, inputs)
    assert values.table("dW").values == values.gradient(["y"], ["g"], "W").values
    other = Values(made, {"B": 2, "D": 2, "M": 3}, inputs, seed=1)
    assert values.table("y").values != other.table("y").values


def test_a_recurrence() -> None:
    inputs = {"x": [1, 2], "W": [[1], [2], [3]], "g": [1, 1]}
    values = Values(residual_stack(), {"D": 2, "L": 3, "M": 1}, inputs)
    assert values.table("h").shape == (4, 2)
    assert values.table("h").nested()[0] == [1, 2]
    assert values.table("a").nested()[3] == values.gradient(["y"], ["g"], "x").nested()


def test_masks_and_constants() -> None:
    inputs = {name: [[[1, 0], [0, 1]]] for name in "qkvg"}
    values = Values(attention(), {"B": 1, "D": 2, "T": 2}, inputs)
    first, second = values.table("p").nested()[0]
    assert first[0].decimal(20) == "1"
    assert first[1].contains_zero
    expected = 1 / (1 + MP.exp(1 / MP.sqrt(2)))
    assert [part.decimal(60) for part in second] == [MP.nstr(expected, 60), MP.nstr(1 - expected, 60)]


def test_pi() -> None:
    made = document({"pi": tensor(kind="positive")}, [define("half", [], mul(entry("pi"), num("1/2")))], [])
    (value,) = Values(made, {}, {}).table("half").values
    assert isinstance(value, Ball)
    assert value.decimal(30) == "1.57079632679489661923132169164"
    assert Values(made, {}, {"pi": 3}).table("half").nested() == F(3, 2)


def one(body: Any, **inputs: Any) -> Values:
    made = document({name: tensor() for name in inputs}, [define("y", [], body)], [])
    return Values(made, {}, inputs)


def test_what_is_rational() -> None:
    assert one(fun("exp", entry("x")), x=0).table("y").nested() == 1
    assert one(fun("step", entry("x")), x=F(-1, 3)).table("y").nested() == 0
    assert one(power(entry("x"), "3/2"), x=F(4, 9)).table("y").nested() == F(8, 27)
    assert one(power(entry("x"), "-1/3"), x=F(8, 27)).table("y").nested() == F(3, 2)
    assert isinstance(one(power(entry("x"), "1/3"), x=2).table("y").nested(), Ball)
    assert one(fun("sigmoid", entry("x")), x=0).table("y").nested() == F(1, 2)


@pytest.mark.parametrize("body", [power(entry("x"), -1), power(add(entry("x"), -1), "1/2"), fun("log", entry("x"))])
def test_what_has_no_value(body: Any) -> None:
    with pytest.raises(Undefined):
        one(body, x=0).table("y")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": [[1, 2, 3]]}, r"inputs.x\[0\]: a list of length 2 is expected"),
        ({"x": [1, 2]}, r"inputs.x: a list of length 1 is expected"),
        ({"eps": 0.5}, "inputs.eps: an integer or a fraction is expected, not 0.5"),
        ({"eps": True}, "inputs.eps: an integer or a fraction is expected, not True"),
    ],
)
def test_wrong_inputs(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        layer_norm_at(**changes)


def test_missing_inputs() -> None:
    with pytest.raises(Refused, match=r"inputs\.x: it is missing"):
        Values(layer_norm(), {"B": 1, "D": 1}, {})
    with pytest.raises(Refused, match=r"sizes\.D: a positive integer is expected"):
        Values(layer_norm(), {"B": 1}, {})


def test_integers_pick_entries() -> None:
    made = document(
        {"x": tensor("N"), "label": tensor("B", kind="int", bound=["size", "N"])},
        [define("y", variables(b="B"), entry("x", entry("label", "b")))],
        [],
        sizes="B N",
    )
    assert Values(made, {"B": 2, "N": 3}, {"x": [5, 6, 7], "label": [2, 0]}).table("y").nested() == [7, 5]
