"""Which parameter of a backward function gets what, and which result is the gradient of which argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symres.errors import UsageError
from symres.trace.gradnames import cache_like, owner, upstream_like
from symres.trace.run import trace, trace_pair
from tests.trace.checking import check

SHAPES = "x: N D, w: D, b: D"
Function = Callable[..., Any]


def forward(x, w, b):  # type: ignore[no-untyped-def]
    return x * w + b


def with_cache(x, w, b):  # type: ignore[no-untyped-def]
    out = x * w + b
    return out, (x, w)


def with_nested_cache(x, w, b):  # type: ignore[no-untyped-def]
    return x * w + b, {"inputs": [x, {"w": w}]}


def with_array_cache(x, w, b):  # type: ignore[no-untyped-def]
    return x * w + b, w


def spread(x, w, b):  # type: ignore[no-untyped-def]
    return x * w + b, x, w


PAIRS: list[tuple[Function, Function]] = [
    (forward, lambda dout, x, w, b: (dout * w, (dout * x).sum(0), dout.sum(0))),
    (forward, lambda x, w, b, dout: (dout * w, (dout * x).sum(0), dout.sum(0))),
    (forward, lambda grad, w, x: (grad * w, (grad * x).sum(0), grad.sum(0))),
    (with_cache, lambda dout, cache: (dout * cache[1], (dout * cache[0]).sum(0), dout.sum(0))),
    (with_cache, lambda cache, dout: (dout * cache[1], (dout * cache[0]).sum(0), dout.sum(0))),
    (with_cache, lambda dout, first, second: (dout * second, (dout * first).sum(0), dout.sum(0))),
    (with_cache, lambda dout, x, w: (dout * w, (dout * x).sum(0), dout.sum(0))),
    (with_nested_cache, lambda g, saved: (g * saved["inputs"][1]["w"], (g * saved["inputs"][0]).sum(0), g.sum(0))),
    (spread, lambda dout, x, w: (dout * w, (dout * x).sum(0), dout.sum(0))),
    (spread, lambda dout, cache: (dout * cache[1], (dout * cache[0]).sum(0), dout.sum(0))),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_parameters(first: Function, second: Function) -> None:
    assert list(check(first, second, shapes=SHAPES).claimed) == ["x", "w", "b"]


def test_an_array_may_be_the_cache() -> None:
    assert list(check(with_array_cache, lambda dout, cache: dout * cache, shapes=SHAPES).claimed) == ["x"]


def other_order(dout, x, w):  # type: ignore[no-untyped-def]
    dw = (dout * x).sum(0)
    dx = dout * w
    db = dout.sum(0)
    return db, dw, dx


def in_a_variable(dout, x, w):  # type: ignore[no-untyped-def]
    grad_x, grad_w = dout * w, (dout * x).sum(0)
    grads = grad_w, grad_x
    assert len(grads) == 2
    return grads


def in_a_dict(dout, x, w):  # type: ignore[no-untyped-def]
    return {"w": (dout * x).sum(0), "db": dout.sum(0), "grad_x": dout * w}


def nested(dout, x, w):  # type: ignore[no-untyped-def]
    dx = dout * w
    return dx, {"b": dout.sum(0), "w": (dout * x).sum(0)}


def with_nothing_for_some(dout, x, w):  # type: ignore[no-untyped-def]
    dL_dx, w_grad = dout * w, (dout * x).sum(0)
    return dL_dx, None, w_grad


def through_another(dout, x, w):  # type: ignore[no-untyped-def]
    return other_order(dout, x, w)


@pytest.mark.parametrize(
    ("second", "names"),
    [
        (other_order, ["x", "w", "b"]),
        (in_a_variable, ["x", "w"]),
        (in_a_dict, ["x", "w", "b"]),
        (nested, ["x", "w", "b"]),
        (with_nothing_for_some, ["x", "w"]),
        (through_another, ["x", "w", "b"]),
    ],
)
def test_results_are_matched_by_name(second: Function, names: list[str]) -> None:
    traced = check(forward, second, shapes=SHAPES)
    assert list(traced.claimed) == names
    shapes = {"x": 2, "w": 1, "b": 1}
    assert all(len(traced.claimed[name].axes) == shapes[name] for name in names)


def test_grads_give_the_order() -> None:
    second = lambda dout, x, w: ((dout * x).sum(0), dout * w)  # noqa: E731
    traced = check(forward, second, shapes=SHAPES, grads=["w", "x"])
    assert list(traced.claimed) == ["w", "x"]
    assert len(traced.claimed["x"].axes) == 2


def test_what_is_open_is_asked_for() -> None:
    with pytest.raises(UsageError, match="which of the 2 results") as caught:
        trace_pair(forward, lambda dout, x, w: ((dout * x).sum(0), dout * w), shapes=SHAPES)
    assert "grads" in caught.value.remedy
    with pytest.raises(UsageError, match="grads names 3"):
        trace_pair(forward, lambda dout, w: dout * w, shapes=SHAPES, grads=["x", "w", "b"])
    with pytest.raises(UsageError, match="gamma is no argument"):
        trace_pair(forward, lambda dout, w: dout * w, shapes=SHAPES, grads=["gamma"])
    with pytest.raises(UsageError, match="it is not clear what the parameter 'mystery'"):
        trace_pair(forward, lambda dout, w, mystery: dout * w, shapes=SHAPES)
    with pytest.raises(UsageError, match="no backward function"):
        trace_pair(forward, shapes=SHAPES)


def loss(x, w, b):  # type: ignore[no-untyped-def]
    return ((x * w + b) ** 2).sum() / 2


def test_a_loss_may_have_no_upstream_gradient() -> None:
    traced = check(loss, lambda x, w, b: (x * w + b) * w, shapes=SHAPES)
    (upstream,) = traced.upstream
    assert upstream.dims == ()
    with pytest.raises(UsageError, match="takes no upstream gradient"):
        trace_pair(forward, lambda x, w, b: x * w, shapes=SHAPES)


def two(x, w, b):  # type: ignore[no-untyped-def]
    y = x * w
    z = y + b
    return y, z


@pytest.mark.parametrize(
    "second",
    [
        lambda dy, dz, x, w: ((dy + dz) * w, ((dy + dz) * x).sum(0), dz.sum(0)),
        lambda dz, dy, x, w: ((dy + dz) * w, ((dy + dz) * x).sum(0), dz.sum(0)),
    ],
)
def test_several_outputs(second: Function) -> None:
    traced = check(two, second, shapes=SHAPES)
    assert list(traced.outputs) == ["y", "z"]
    assert [tensor.name for tensor in traced.upstream] == ["dy", "dz"]


def test_a_float_default_is_a_symbol_of_its_sign() -> None:
    def scaled(x, up=0.1, down=-0.1, none=0.0, k=2, flag=True):  # type: ignore[no-untyped-def]
        return x * up + down + none * k if flag else x

    program = trace(scaled, shapes="x: N")
    kinds = {name: tensor.kind for name, tensor in program.inputs.items()}
    assert kinds == {"x": "real", "up": "positive", "down": "positive", "none": "nonnegative"}
    assert list(trace(scaled, shapes="x: N", set={"up": 0.1, "down": 1, "none": 0}).inputs) == ["x"]


def test_a_gradient_of_another_shape_is_kept_as_it_is() -> None:
    traced = trace_pair(forward, lambda dout, w: (dout * w, dout.sum(0, keepdims=True)), SHAPES, grads=["x", "b"])
    assert len(traced.claimed["b"].axes) == 2


def test_overwritten_arguments_are_noted() -> None:
    def second(dout, x, w):  # type: ignore[no-untyped-def]
        dout *= w
        return dout

    assert check(forward, second, shapes=SHAPES).notes == ["second overwrites dout in place"]


class Scale:
    """A layer with state."""

    def __init__(self, w):  # type: ignore[no-untyped-def]
        self.w = w

    def forward(self, x):  # type: ignore[no-untyped-def]
        self.x = x
        return x * self.w

    def backward(self, dout):  # type: ignore[no-untyped-def]
        self.dw = (dout * self.x).sum(0)
        return dout * self.w


def test_a_class_by_itself_and_by_its_methods() -> None:
    assert list(check(Scale, shapes="x: N D, w: D").claimed) == ["x", "w"]
    assert list(check(Scale.forward, Scale.backward, shapes="x: N D, w: D").claimed) == ["x", "w"]


def test_an_object_by_itself_and_by_its_methods() -> None:
    layer = Scale(np.array([1.0, 2.0, 3.0]))
    for pair in ((layer,), (layer.forward, layer.backward)):
        traced = check(*pair, shapes="x: N 3")
        assert list(traced.claimed) == ["x", "w"]
    assert not hasattr(layer, "dw")


def test_axes_and_names_of_an_array_from_numpy() -> None:
    def constant(x):  # type: ignore[no-untyped-def]
        return x @ np.array([[1.0, 2.0], [3.0, 4.0]])

    program = trace(constant, shapes="x: N 2")
    assert list(program.inputs) == ["x"]


@pytest.mark.parametrize(
    ("label", "argument"),
    [
        ("dx", "x"), ("d_x", "x"), ("grad_x", "x"), ("gx", "x"), ("x_grad", "x"), ("dL_dx", "x"), ("dW1", "w1"),
        ("grad_gamma", "gamma"), ("dgamma", "gamma"), ("gammaGrad", None), ("gamma_grad", "gamma"), ("dWq", "Wq"),
        ("out", None), ("gamma", None),
    ],
)  # fmt: skip
def test_names_of_gradients(label: str, argument: str | None) -> None:
    assert owner(label, ["x", "w1", "gamma", "Wq"]) == argument


def test_names_of_parameters() -> None:
    assert all(
        map(upstream_like, ["dout", "dy", "grad_output", "up", "g", "delta", "upstream", "d_out", "dL_dy", "dz2"])
    )
    assert not any(map(upstream_like, ["x", "cache", "gamma", "weights", "mask", "dropout", "dim"]))
    assert all(map(cache_like, ["cache", "ctx", "saved", "conv_cache", "residuals", "cache_"]))
    assert not any(map(cache_like, ["x", "dout", "catch"]))
