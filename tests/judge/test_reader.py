"""What breaks a rule of the format is refused with the place and the rule, in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from symres.judge import Refused, canonical, recheck
from tests.judge.build import define, document, entry, equal, layer_norm, mul, num, sealed, tensor, variables

Edit = Callable[[dict[str, Any]], object]


def refused(made: dict[str, Any]) -> str:
    with pytest.raises(Refused) as caught:
        recheck(json.dumps(made))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def claim(left: Any, **others: Any) -> dict[str, Any]:
    """A certificate with the claim that a term is 0."""
    tensors = {"x": tensor("N"), "idx": tensor("N", kind="int", bound=["size", "N"])}
    functions = {"F": {"out": [["size", "N"]], "args": [[["size", "N"]]]}, "f": {"elementwise": 1}}
    options = {"sizes": "N", "functions": functions, **others}
    return document(tensors, [], [equal(left, 0, variables(n="N"))], **options)


def nested(depth: int) -> Any:
    left = entry("x", "n")
    for _ in range(depth):
        left = ["add", left]
    return left


LAM = [[["k", ["size", "N"]]], entry("x", "k")]


@pytest.mark.parametrize(
    ("left", "place", "reason"),
    [
        ({}, "claims[0].left", "a term is a list"),
        ([], "claims[0].left", "a term is a list"),
        (["eval", "1"], "claims[0].left", "there is no node 'eval'"),
        (["num"], "claims[0].left", "another number of parts"),
        (["num", 1], "claims[0].left[1]", "a number is a text"),
        (["num", "1.5"], "claims[0].left[1]", "a number is a text"),
        (["num", "1e9"], "claims[0].left[1]", "a number is a text"),
        (["num", "٣"], "claims[0].left[1]", "a number is a text"),
        (["num", "1/0"], "claims[0].left[1]", "a denominator is zero"),
        (["num", "9" * 401], "claims[0].left[1]", "at most 400 characters"),
        (["size", "M"], "claims[0].left[1]", "the size 'M' is not declared"),
        (["var", "m"], "claims[0].left[1]", "the variable 'm' is not bound here"),
        (["add", ["sum", "m", ["size", "N"], num(1)], ["var", "m"]], "claims[0].left[2][1]", "not bound here"),
        (["sum", "n", ["size", "N"], num(1)], "claims[0].left[1]", "the variable 'n' is bound already"),
        (["sum", "m", ["var", "n"], num(1)], "claims[0].left[1][1][1]", "not bound here"),
        (["sum", "m", entry("x", 0), num(1)], "claims[0].left[1][1]", "needs integers"),
        (entry("z", "n"), "claims[0].left[1]", "'z' is not declared"),
        (entry("x"), "claims[0].left[2]", "'x' has 1 axes, 0 indices"),
        (entry("x", entry("x", "n")), "claims[0].left[2]", "needs integers"),
        (["iverson", "<", ["var", "n"]], "claims[0].left[1]", "compares with"),
        (["iverson", "=", entry("x", "n")], "claims[0].left[2]", "needs integers"),
        (["pow", entry("x", "n"), "1001"], "claims[0].left[2]", "over 1000"),
        (["fun", "softmax", entry("x", "n")], "claims[0].left[1]", "neither known nor declared"),
        (["fun", "exp'", entry("x", "n")], "claims[0].left[1]", "neither known nor declared"),
        (["fun", "f.x", entry("x", "n")], "claims[0].left[1]", "no derivative of a function"),
        (["fun", "exp", entry("x", "n"), entry("x", "n")], "claims[0].left", "takes 1 argument"),
        (["fun", "floordiv", entry("x", "n"), num(2)], "claims[0].left", "needs integers"),
        (["apply", "G", [], [], []], "claims[0].left[1]", "not declared"),
        (["apply", "F", [["var", "n"]], [], []], "claims[0].left", "1 axes and 1 arguments"),
        (["apply", "F", [["var", "n"]], [[[], num(1)]], []], "claims[0].left[3][0]", "the argument has 1 axes"),
        (["apply", "F", [["var", "n"]], [LAM], [[1, [["var", "n"]]]]], "claims[0].left[4][0]", "no such argument"),
        (["apply", "F", [["var", "n"]], [LAM], [[0, []]]], "claims[0].left[4][0]", "has 1 axes"),
        (nested(200), "claims[0].left", "nested at most"),
    ],
)
def test_terms(left: Any, place: str, reason: str) -> None:
    message = refused(claim(left))
    assert message.startswith(place)
    assert reason in message


def put(*path: Any, value: Any) -> Edit:
    def edit(made: dict[str, Any]) -> None:
        inner: Any = made
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return edit


def drop(*path: Any) -> Edit:
    def edit(made: dict[str, Any]) -> None:
        inner: Any = made
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("format", value="other"), "format: it is not 'symres-certificate'"),
        (put("version", value=2), "version: this judge reads version 1 only"),
        (put("version", value=True), "version: this judge reads version 1 only"),
        (put("title", value=3), "title: a text is expected"),
        (put("remark", value=""), "certificate: the field 'remark' is not known"),
        (drop("functions"), "certificate: the field 'functions' is missing"),
        (put("sizes", value=["B", "B", "D"]), "sizes[1]: 'B' is declared twice"),
        (put("sizes", value="BD"), "sizes: a list is expected"),
        (put("sizes", value=["B", ""]), "sizes[1]: a name has 1 to 200 printable characters"),
        (put("tensors", "x", "kind", value="complex"), "tensors.x.kind: 'complex' is none of"),
        (put("tensors", "x", "kind", value="int"), "tensors.x.bound: a bound belongs to integers"),
        (
            put("tensors", "x", "dims", value=[["size", "Q"], ["size", "D"]]),
            "tensors.x.dims[0][1]: the size 'Q' is not",
        ),
        (drop("tensors", "eps"), "definitions[2].body[1][2][1]: 'eps' is not declared"),
        (put("functions", "exp", value={"elementwise": 1}), "functions.exp: the name belongs to a known function"),
        (put("functions", "f", value={"elementwise": 0}), "functions.f.elementwise: the number of arguments"),
        (put("definitions", 0, "name", value="x"), "definitions[0].name: 'x' is a tensor already"),
        (put("definitions", 1, "name", value="mu"), "definitions[1].name: 'mu' is declared twice"),
        (put("definitions", 0, "body", value=entry("mu", "b")), "definitions[0].body[1]: 'mu' is not declared"),
        (put("definitions", 0, "line", value=1), "definitions[0]: the field 'line' is not known"),
        (put("claims", value=[]), "claims: there is none"),
        (put("claims", 0, "kind", value="bound"), "claims[0].kind: a claim is 'equal' or 'gradient'"),
        (put("claims", 0, "wrt", value="z"), "claims[0].wrt: 'z' is not declared"),
        (put("claims", 0, "outputs", value=["x"]), "claims[0].outputs[0]: 'x' is not a definition"),
        (put("claims", 0, "upstream", value=["gamma"]), "claims[0].upstream[0]: 'gamma' has not as many axes as 'y'"),
        (put("claims", 0, "upstream", value=["g", "g"]), "claims[0].upstream: there is one upstream gradient for each"),
        (put("claims", 0, "vars", value=[["b", ["size", "B"]]]), "claims[0].vars: they are not the indices of 'x'"),
        (put("claims", 1, "vars", value=[]), "claims[1].vars: they are not the indices of 'gamma'"),
        (put("hash", value=7), "hash: a text is expected"),
    ],
)
def test_documents(edit: Edit, message: str) -> None:
    made = layer_norm()
    edit(made)
    assert refused(made if "hash: a" in message else sealed(made)).startswith(message)


def test_the_hash_binds_the_text() -> None:
    made = layer_norm()
    made["title"] += "!"
    assert refused(made) == "hash: it is not the hash of this certificate"
    assert canonical(layer_norm()) == layer_norm()["hash"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is not JSON"),
        (json.dumps(layer_norm())[:-40], "it is not JSON"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"format": "a", "format": "b"}', "the key 'format' occurs twice"),
        ('{"version": 1.0}', "1.0 is not an integer"),
        ('{"version": NaN}', "NaN is not an integer"),
        ('{"version": 99999999999999999999}', "the number 999999… is too large"),
        ("3", "an object is expected"),
        ('{"a": "\\ud800"}', "the field"),
        (" " * 16_000_001, "it is longer than"),
    ],
)
def test_texts(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=r"^certificate: ") as caught:
        recheck(text)
    assert reason in str(caught.value)


def test_text_is_never_evaluated() -> None:
    name = "__import__('os').abort()"
    made = document(
        {name: tensor("N")}, [define("y", variables(n="N"), mul(2, entry(name, "n")))], [], sizes="N", title=name
    )
    made["claims"] = [equal(entry("y", "n"), mul(2, entry(name, "n")), variables(n="N"), label=name)]
    assert recheck(json.dumps(sealed(made))).passed
