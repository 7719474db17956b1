"""Right certificates pass; every certificate with one planted error is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from symres.judge import recheck
from tests.judge import build
from tests.judge.build import (
    LAYERS,
    add,
    document,
    entry,
    equal,
    fun,
    mul,
    num,
    power,
    sealed,
    sub,
    tensor,
)


def checked(made: dict[str, Any]) -> str:
    report = recheck(json.dumps(made))
    return " ".join(result.verdict for result in report.claims)


@pytest.mark.parametrize("layer", LAYERS)
def test_right_certificates_pass(layer: Callable[[], dict[str, Any]]) -> None:
    report = recheck(json.dumps(layer()))
    assert report.passed, report.reason
    for result in report.claims:
        assert {1} <= {value for sizes in result.sizes for value in sizes.values()}
        assert len({tuple(sizes.values()) for sizes in result.sizes}) >= 4


@pytest.mark.parametrize(("layer", "seconds"), [(build.layer_norm, 0.1), (build.attention, 0.5)])
def test_rechecking_is_quick(layer: Callable[[], dict[str, Any]], seconds: float) -> None:
    text, taken = json.dumps(layer()), []
    for _ in range(5):
        start = time.process_time()
        recheck(text)
        taken.append(time.process_time() - start)
    assert min(taken) < seconds


def test_the_arithmetic_is_the_field_where_it_speaks_of_the_claim() -> None:
    used = {layer.__name__: recheck(json.dumps(layer())).claims[0].arithmetic for layer in LAYERS}
    assert used == {
        "layer_norm": "prime field",
        "batch_norm": "prime field",
        "residual": "prime field",
        "softmax": "balls",
        "attention": "balls",
        "residual_stack": "prime field",
        "relu_stack": "balls",
        "embedding": "prime field",
        "convolution": "prime field",
    }


# ---------------------------------------------------------------- planted errors


def spoiled(value: Any) -> Iterator[Any]:
    """The term with one thing in it changed: a digit, a sign, an exponent, an index, a dropped or a doubled part."""
    kind, *parts = value
    if kind == "num":
        yield ["num", str(Fraction(parts[0]) + 1)]
        yield ["num", str(-Fraction(parts[0]) or 2)]
    elif kind == "pow":
        yield ["pow", parts[0], str(Fraction(parts[1]) + 1)]
        yield ["pow", parts[0], str(-Fraction(parts[1]))]
    elif kind == "fun" and parts[0] == "exp":
        yield ["fun", "tanh", *parts[1:]]
    elif kind == "entry":
        for k, index in enumerate(parts[1]):
            yield ["entry", parts[0], [*parts[1][:k], sub(index, 1), *parts[1][k + 1 :]]]
    if kind == "add":
        for k in range(len(parts)):
            yield ["add", *parts[:k], ["mul", ["num", "-1"], parts[k]], *parts[k + 1 :]]
    if kind in ("add", "mul") and len(parts) > 1:
        for k in range(len(parts)):
            yield [kind, *parts[:k], *parts[k + 1 :]]
    for k, part in enumerate(parts):
        if kind in ("sum", "max") and k == 1:
            continue  # a longer range reads zeros beyond the shorter one
        if isinstance(part, list) and part and isinstance(part[0], str) and part[0] in NODES:
            for other in spoiled(part):
                yield [kind, *parts[:k], other, *parts[k + 1 :]]


NODES = {"num", "size", "var", "entry", "add", "mul", "pow", "sum", "max", "fun", "iverson", "apply"}


def claims_spoiled(made: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for position, claim in enumerate(made["claims"]):
        field = "gradient" if claim["kind"] == "gradient" else "right"
        for other in spoiled(claim[field]):
            claims = list(made["claims"])
            claims[position] = {**claim, field: other}
            yield claim["label"], sealed({**made, "claims": claims})


@pytest.mark.parametrize(
    ("layer", "least"),
    [
        (build.layer_norm, 25),
        (build.batch_norm, 20),
        (build.residual, 12),
        (build.softmax, 20),
        (build.attention, 15),
        (build.residual_stack, 15),
        (build.relu_stack, 20),
        (build.embedding, 5),
        (build.convolution, 15),
    ],
)
def test_every_planted_error_is_refused(layer: Callable[[], dict[str, Any]], least: int) -> None:
    count = 0
    for label, made in claims_spoiled(layer()):
        count += 1
        report = recheck(json.dumps(made))
        wrong = [result.label for result in report.claims if result.verdict != "passed"]
        assert wrong == [label], json.dumps(made["claims"])
    assert count >= least


@pytest.mark.parametrize("layer", LAYERS)
def test_an_error_in_a_definition_is_refused(layer: Callable[[], dict[str, Any]]) -> None:
    made = layer()
    for position, definition in enumerate(made["definitions"]):
        recurrent = "recurrence" in definition
        inner = definition["recurrence"] if recurrent else definition
        changed = {
            **inner,
            "base" if recurrent else "body": ["mul", ["num", "2"], inner["base" if recurrent else "body"]],
        }
        definitions = list(made["definitions"])
        definitions[position] = {"recurrence": changed} if recurrent else changed
        name = inner["name"]
        if (layer, name) in HARMLESS:
            continue
        report = recheck(json.dumps(sealed({**made, "definitions": definitions})))
        assert not report.passed, f"{layer.__name__}: 2 {name}"


# Twice this changes nothing that is claimed: exp(...) is divided by its sum; 2 x_0 is differentiated where it stands.
HARMLESS = {(build.softmax, "e"), (build.attention, "e")}


def test_a_wrong_index_is_refused() -> None:
    made = build.layer_norm()
    text = json.dumps(made["claims"][1])
    assert '["entry", "x_hat", [["var", "b"], ["var", "d"]]]' in text
    wrong = json.loads(
        text.replace('["entry", "x_hat", [["var", "b"], ["var", "d"]]]', '["entry", "mu", [["var", "b"]]]')
    )
    report = recheck(json.dumps(sealed({**made, "claims": [wrong]})))
    assert report.claims[0].verdict == "failed"
    assert "differ" in report.reason


# ---------------------------------------------------------------- single statements


X = {"x": tensor("N"), "y": tensor("N"), "c": tensor(kind="positive"), "pi": tensor(kind="positive")}
N = build.variables(n="N")
SIZE = build.size("N")
x, y, c = entry("x", "n"), entry("y", "n"), entry("c")


def step(u: Any) -> Any:
    return fun("step", u)


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (power(add(x, y), 2), add(power(x, 2), mul(2, x, y), power(y, 2)), "passed"),
        (power(add(x, y), 2), add(power(x, 2), power(y, 2)), "failed"),
        # signs, and roots of squares: √(x²) = |x|
        (power(power(x, 2), "1/2"), mul(x, sub(mul(2, step(x)), 1)), "passed"),
        (power(power(x, 2), "1/2"), x, "failed"),
        (power(power(c, 2), "1/2"), c, "passed"),
        (step(mul(c, x)), step(x), "passed"),
        (step(sub(y, x)), sub(1, step(sub(x, y))), "passed"),
        (step(add(power(x, 2), power(y, 2))), 1, "passed"),
        (step(add(x, y)), step(x), "failed"),
        (step(add(101, x, mul(-1, x))), 0, "failed"),
        (step(add(c, 101)), 1, "passed"),
        (fun("eq0", sub(x, x)), 1, "passed"),
        (fun("eq0", sub(x, y)), 0, "passed"),
        # roots of sizes and of positive inputs
        (power(mul(c, SIZE), "1/2"), mul(power(c, "1/2"), power(SIZE, "1/2")), "passed"),
        (power(c, "1/3"), mul(c, power(c, "-2/3")), "passed"),
        (power(add(c, power(x, 2)), "-1/2"), power(add(c, power(y, 2)), "-1/2"), "failed"),
        # functions
        (fun("tanh", x), sub(mul(2, fun("sigmoid", mul(2, x))), 1), "passed"),
        (fun("exp", add(x, y)), mul(fun("exp", x), fun("exp", y)), "passed"),
        (fun("exp", add(x, y)), add(fun("exp", x), fun("exp", y)), "failed"),
        (fun("log", mul(c, c)), mul(2, fun("log", c)), "passed"),
        (add(power(fun("sin", x), 2), power(fun("cos", x), 2)), 1, "passed"),
        (fun("softplus", x), add(x, fun("softplus", mul(-1, x))), "passed"),
        (fun("gelu", x), sub(x, mul(-1, fun("gelu", mul(-1, x)))), "passed"),
        (add(fun("erf", x), ["num", "1/1000000000"]), fun("erf", x), "failed"),
        (add(fun("exp", x), ["num", f"1/{10**150}"]), fun("exp", x), "failed"),
        (fun("logaddexp", x, y), fun("log", add(fun("exp", x), fun("exp", y))), "passed"),
        (fun("log", x), fun("log", x), "passed"),  # where both exist
        (add(fun("arcsin", x), fun("arccos", x)), mul(num("1/2"), entry("pi")), "passed"),
        (fun("arctanh", x), mul(num("1/2"), fun("log", build.over(add(1, x), sub(1, x)))), "passed"),
        (power(x, "3/2"), mul(x, power(x, "1/2")), "passed"),
        (power(x, "3/2"), mul(-1, x, power(x, "1/2")), "failed"),
        (fun("log", mul(-1, power(x, 2))), 0, "undecided"),  # nowhere
        # brackets, integer division, reads out of range
        (build.total("m", "N", mul(["iverson", "=", sub("m", "n")], entry("x", "m"))), x, "passed"),
        (entry("x", sub("n", build.size("N"))), 0, "passed"),
        (fun("floordiv", add(mul(2, "n"), 1), 2), "n", "passed"),
        (["max", "m", build.size("N"), entry("x", "m")], x, "failed"),
        (power(sub(x, x), -1), 1, "undecided"),
    ],
)
def test_statements(left: Any, right: Any, verdict: str) -> None:
    assert checked(document(X, [], [equal(left, right, N)], sizes="N")) == verdict
