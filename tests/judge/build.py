"""Certificates by hand: short names for the nodes of the format, and some layers as they stand in books."""

from __future__ import annotations

import hashlib
import json
from typing import Any

Json = Any


def num(value: object) -> Json:
    return ["num", str(value)]


def size(name: str) -> Json:
    return ["size", name]


def term(value: Json) -> Json:
    """A number as a term, an index by its name, a term as it is."""
    return num(value) if isinstance(value, int) else ["var", value] if isinstance(value, str) else value


def entry(name: str, *indices: Json) -> Json:
    return ["entry", name, [term(index) for index in indices]]


def add(*terms: Json) -> Json:
    return ["add", *map(term, terms)]


def mul(*terms: Json) -> Json:
    return ["mul", *map(term, terms)]


def neg(value: Json) -> Json:
    return mul(-1, value)


def sub(left: Json, right: Json) -> Json:
    return add(left, neg(right))


def power(base: Json, exponent: object) -> Json:
    return ["pow", term(base), str(exponent)]


def over(top: Json, bottom: Json) -> Json:
    return mul(top, power(bottom, -1))


def fun(name: str, *args: Json) -> Json:
    return ["fun", name, *map(term, args)]


def total(var: str, dim: str, body: Json) -> Json:
    return ["sum", var, size(dim), body]


def mean(var: str, dim: str, body: Json) -> Json:
    return over(total(var, dim, body), size(dim))


def variables(**dims: str) -> Json:
    return [[name, size(dim)] for name, dim in dims.items()]


def tensor(*dims: str, kind: str = "real", bound: Json = None) -> Json:
    return {"dims": [size(dim) for dim in dims], "kind": kind, "bound": bound}


def define(name: str, indices: Json, body: Json) -> Json:
    return {"name": name, "vars": indices, "body": body}


def recur(name: str, indices: Json, base: Json, step: Json) -> Json:
    return {"recurrence": {"name": name, "vars": indices, "base": base, "step": step}}


def equal(left: Json, right: Json, indices: Json = (), label: str = "equal") -> Json:
    return {"kind": "equal", "label": label, "vars": list(indices), "left": term(left), "right": term(right)}


def gradient(output: str, upstream: str, wrt: str, indices: Json, body: Json) -> Json:
    return {
        "kind": "gradient",
        "label": f"gradient by {wrt}",
        "outputs": [output],
        "upstream": [upstream],
        "wrt": wrt,
        "vars": indices,
        "gradient": body,
    }


def document(
    tensors: Json, definitions: Json, claims: Json, *, sizes: str = "", functions: Json = None, **others: Json
) -> dict[str, Any]:
    made = {
        "format": "symres-certificate",
        "version": 1,
        "symres": "0.1.0",
        "id": "by-hand",
        "kind": "gradient",
        "title": "By hand",
        "sizes": sizes.split(),
        "tensors": tensors,
        "functions": functions or {},
        "definitions": definitions,
        "claims": claims,
        **others,
    }
    return sealed(made)


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its hash: SHA-256 of the JSON with sorted keys, no blanks, ASCII only."""
    rest = {key: value for key, value in document.items() if key != "hash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return {**rest, "hash": hashlib.sha256(text.encode("ascii")).hexdigest()}


# ---------------------------------------------------------------- layers


def layer_norm() -> dict[str, Any]:
    """Ba, Kiros & Hinton 2016; the backward pass in three terms, and the variance of x̂."""
    b, bd, d = variables(b="B"), variables(b="B", d="D"), variables(d="D")
    x_hat, upstream = entry("x_hat", "b", "d"), entry("g", "b", "d")

    def scaled(index: str) -> Json:
        return mul(entry("gamma", index), entry("g", "b", index))

    centred = sub(entry("x", "b", "d"), entry("mu", "b"))
    dx = mul(
        entry("rho", "b"),
        add(
            scaled("d"),
            neg(mean("k", "D", scaled("k"))),
            neg(mul(x_hat, mean("k", "D", mul(scaled("k"), entry("x_hat", "b", "k"))))),
        ),
    )
    return document(
        {
            "x": tensor("B", "D"),
            "gamma": tensor("D"),
            "beta": tensor("D"),
            "eps": tensor(kind="positive"),
            "g": tensor("B", "D"),
        },
        [
            define("mu", b, mean("d", "D", entry("x", "b", "d"))),
            define("var", b, mean("d", "D", power(centred, 2))),
            define("rho", b, power(add(entry("var", "b"), entry("eps")), "-1/2")),
            define("x_hat", bd, mul(centred, entry("rho", "b"))),
            define("y", bd, add(mul(entry("gamma", "d"), x_hat), entry("beta", "d"))),
        ],
        [
            gradient("y", "g", "x", bd, dx),
            gradient("y", "g", "gamma", d, total("b", "B", mul(upstream, x_hat))),
            gradient("y", "g", "beta", d, total("b", "B", upstream)),
            equal(mean("d", "D", power(x_hat, 2)), over(entry("var", "b"), add(entry("var", "b"), entry("eps"))), b),
        ],
        sizes="B D",
    )


def batch_norm() -> dict[str, Any]:
    """Ioffe & Szegedy 2015, the fused backward pass."""
    d, bd = variables(d="D"), variables(b="B", d="D")
    x_hat = entry("x_hat", "b", "d")
    centred = sub(entry("x", "b", "d"), mean("b1", "B", entry("x", "b1", "d")))
    variance = mean("b", "B", power(centred, 2))
    dx = mul(
        over(mul(entry("gamma", "d"), entry("rho", "d")), size("B")),
        add(
            mul(size("B"), entry("g", "b", "d")),
            neg(total("k", "B", entry("g", "k", "d"))),
            neg(mul(x_hat, total("k", "B", mul(entry("g", "k", "d"), entry("x_hat", "k", "d"))))),
        ),
    )
    return document(
        {"x": tensor("B", "D"), "gamma": tensor("D"), "eps": tensor(kind="positive"), "g": tensor("B", "D")},
        [
            define("rho", d, power(add(variance, entry("eps")), "-1/2")),
            define("x_hat", bd, mul(centred, entry("rho", "d"))),
            define("y", bd, mul(entry("gamma", "d"), x_hat)),
        ],
        [gradient("y", "g", "x", bd, dx)],
        sizes="B D",
    )


def residual() -> dict[str, Any]:
    """y = x + F(x, W) row by row, F any differentiable function: dx = g + Jᵀ g, dW = Σ_b (∂F/∂W)ᵀ g."""
    bd = variables(b="B", d="D")
    arguments = [[[["k", size("D")]], entry("x", "b", "k")], [[["m", size("M")]], entry("W", "m")]]

    def general(out: str, *derivatives: Json) -> Json:
        return ["apply", "F", [term(out)], arguments, list(derivatives)]

    dx = add(entry("g", "b", "d"), total("i", "D", mul(general("i", [0, [term("d")]]), entry("g", "b", "i"))))
    dw = total("b", "B", total("i", "D", mul(general("i", [1, [term("n")]]), entry("g", "b", "i"))))
    return document(
        {"x": tensor("B", "D"), "W": tensor("M"), "g": tensor("B", "D")},
        [define("y", bd, add(entry("x", "b", "d"), general("d")))],
        [gradient("y", "g", "x", bd, dx), gradient("y", "g", "W", variables(n="M"), dw)],
        sizes="B D M",
        functions={"F": {"out": [size("D")], "args": [[size("D")], [size("M")]]}},
    )


def softmax() -> dict[str, Any]:
    """p = exp(s - max s)/Σ, ds = p (g - Σ g p)."""
    bn = variables(b="B", n="N")
    shifted = sub(entry("s", "b", "n"), ["max", "m", size("N"), entry("s", "b", "m")])
    p = entry("p", "b", "n")
    ds = mul(p, sub(entry("g", "b", "n"), total("k", "N", mul(entry("g", "b", "k"), entry("p", "b", "k")))))
    return document(
        {"s": tensor("B", "N"), "g": tensor("B", "N")},
        [
            define("e", bn, fun("exp", shifted)),
            define("p", bn, over(entry("e", "b", "n"), total("k", "N", entry("e", "b", "k")))),
        ],
        [gradient("p", "g", "s", bn, ds), equal(total("n", "N", p), 1, variables(b="B"))],
        sizes="B N",
    )


def attention() -> dict[str, Any]:
    """One masked head over a batch, four indices: the gradient by the queries."""
    bt, bts, btd = variables(b="B", t="T"), variables(b="B", t="T", s="T"), variables(b="B", t="T", d="D")
    mask = ["iverson", ">=", sub("t", "s")]
    scores = mul(power(size("D"), "-1/2"), total("d", "D", mul(entry("q", "b", "t", "d"), entry("k", "b", "s", "d"))))
    masked = sub(mul(mask, scores), mul(sub(1, mask), entry("infinity")))
    p = entry("p", "b", "t", "s")
    dp = entry("dp", "b", "t", "s")
    inner = total("u", "T", mul(entry("dp", "b", "t", "u"), entry("p", "b", "t", "u")))
    dq = mul(
        power(size("D"), "-1/2"), total("s", "T", mul(p, sub(dp, entry("inner", "b", "t")), entry("k", "b", "s", "d")))
    )
    return document(
        {
            "q": tensor("B", "T", "D"),
            "k": tensor("B", "T", "D"),
            "v": tensor("B", "T", "D"),
            "g": tensor("B", "T", "D"),
            "infinity": tensor(kind="positive"),
        },
        [
            define("e", bts, fun("exp", masked)),
            define("p", bts, over(entry("e", "b", "t", "s"), total("u", "T", entry("e", "b", "t", "u")))),
            define("y", btd, total("s", "T", mul(p, entry("v", "b", "s", "d")))),
            define("dp", bts, total("d", "D", mul(entry("g", "b", "t", "d"), entry("v", "b", "s", "d")))),
            define("inner", bt, inner),
        ],
        [gradient("y", "g", "q", btd, dq)],
        sizes="B D T",
    )


def stack(relu: bool) -> dict[str, Any]:
    """x_{i+1} = r(u_i), u_i = x_i + F(x_i, W_i), to depth L, r the identity or ReLU.

    The gradient by x_0 is the last of a recurrence over the depth: a_{i+1} = (I + J)ᵀ M a_i, M the mask of the layer.
    """
    ld = [["i", add(size("L"), 1)], ["d", size("D")]]
    functions = {"F": {"out": [size("D")], "args": [[size("D")], [size("M")]]}}

    def general(layer: Json, out: str, *derivatives: Json) -> Json:
        arguments = [[[["k", size("D")]], entry("h", layer, "k")], [[["m", size("M")]], entry("W", layer, "m")]]
        return ["apply", "F", [term(out)], arguments, list(derivatives)]

    def mask(layer: Json, out: str) -> list[Json]:
        return [fun("step", add(entry("h", layer, out), general(layer, out)))] if relu else []

    before, layer = sub("i", 1), sub(size("L"), "i")
    inner = add(entry("h", before, "d"), general(before, "d"))
    passed = add(["iverson", "=", sub("j", "d")], general(layer, "j", [0, [term("d")]]))
    return document(
        {"x": tensor("D"), "W": tensor("L", "M"), "g": tensor("D")},
        [
            recur("h", ld, entry("x", "d"), mul(inner, *mask(before, "d"))),
            define("y", variables(d="D"), entry("h", size("L"), "d")),
            recur("a", ld, entry("g", "d"), total("j", "D", mul(passed, *mask(layer, "j"), entry("a", before, "j")))),
        ],
        [
            gradient("y", "g", "x", variables(d="D"), entry("a", size("L"), "d")),
            equal(
                entry("a", size("L"), "d"),
                total("j", "D", mul(swap(passed), *swap(mask(layer, "j")), entry("a", sub(size("L"), 1), "j"))),
                variables(d="D"),
            ),
        ],
        sizes="D L M",
        functions=functions,
    )


def swap(value: Json) -> Json:
    """The term of the stack at i = L, so that it speaks of block 0."""
    if value == sub(size("L"), "i"):
        return num(0)
    return [swap(part) for part in value] if isinstance(value, list) else value


def residual_stack() -> dict[str, Any]:
    """The identity after the addition."""
    return stack(relu=False)


def relu_stack() -> dict[str, Any]:
    """ReLU after the addition."""
    return stack(relu=True)


def embedding() -> dict[str, Any]:
    """y_b = W[idx_b]: the gradient by W gathers what arrived at each row."""
    nd = variables(n="N", d="D")
    picked = ["iverson", "=", sub(entry("idx", "b"), "n")]
    return document(
        {"W": tensor("N", "D"), "idx": tensor("B", kind="int", bound=size("N")), "g": tensor("B", "D")},
        [define("y", variables(b="B", d="D"), entry("W", entry("idx", "b"), "d"))],
        [gradient("y", "g", "W", nd, total("b", "B", mul(picked, entry("g", "b", "d"))))],
        sizes="B D N",
    )


def convolution() -> dict[str, Any]:
    """y_o = Σ_k w_k x[S o + k - P], zero outside; its length is ⌊(N + 2P - K)/S⌋ + 1."""
    length = add(fun("floordiv", add(size("N"), mul(2, size("P")), neg(size("K"))), size("S")), 1)
    place = add(mul(size("S"), "o"), "k", neg(size("P")))
    outputs = [["o", length]]
    hit = ["iverson", "=", sub(place, "n")]

    def everywhere(body: Json) -> Json:
        return ["sum", "o", length, body]

    return document(
        {"x": tensor("N"), "w": tensor("K"), "g": {"dims": [length], "kind": "real", "bound": None}},
        [define("y", outputs, total("k", "K", mul(entry("w", "k"), entry("x", place))))],
        [
            gradient(
                "y", "g", "x", variables(n="N"), everywhere(total("k", "K", mul(hit, entry("w", "k"), entry("g", "o"))))
            ),
            gradient("y", "g", "w", variables(k="K"), everywhere(mul(entry("x", place), entry("g", "o")))),
        ],
        sizes="K N P S",
    )


LAYERS = (layer_norm, batch_norm, residual, softmax, attention, residual_stack, relu_stack, embedding, convolution)
