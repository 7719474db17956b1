"""Functions in the styles of public code: their traces are what NumPy computes."""

from __future__ import annotations

from typing import Any

import pytest

from symres.trace.run import trace_pair
from symres.trace.signals import NeedsConcreteSizes
from tests.trace.checking import EXAMPLES, NUMBERS, agrees, check, example, sizes_of

XGB = ["x", "gamma", "beta"]
# forward, backward, shapes, set, arguments with a gradient
ROWS: list[tuple[str, str | None, str | None, dict[str, Any] | None, list[str]]] = [
    ("loops:affine", "loops:affine_back", "x: N D, w: D M, b: M", None, ["x", "w", "b"]),
    ("loops:softmax_rows", "loops:softmax_rows_back", "x: N D", None, ["x"]),
    ("loops:comprehension", "loops:comprehension_back", "x: N D, w: D M", None, ["x", "w"]),
    ("loops:over_time", "loops:over_time_back", "x: T N D, w: D M", None, ["x", "w"]),
    ("loops:prefix", "loops:prefix_back", "x: T D", None, ["x"]),
    ("loops:shifted", "loops:shifted_back", "x: T D", None, ["x"]),
    ("loops:conv1d", "loops:conv1d_back", "x: N 2 W, w: F 2 K, b: F", None, ["x", "w", "b"]),
    ("loops:embedding", "loops:embedding_back", "ids: N int V, W: V D", None, ["W"]),
    ("loops:loss", "loops:loss_back", "x: N D, t: N D", None, ["x"]),
    ("loops:layers", "loops:layers_back", "x: N D, w1: D H, w2: H M", None, ["x", "w1", "w2"]),
    ("loops:inplace_rows", "loops:inplace_rows_back", "x: N D, s: N", None, ["x"]),
    ("loops:counted", "loops:counted_back", "x: N 3", None, ["x"]),
    ("loops:group_loop", "loops:group_loop_back", "x: N C, G: int", None, ["x"]),
    ("layers:normalise", "layers:normalise_back", "x: N D, gamma: D, beta: D", None, XGB),
    ("layers:batchnorm", "layers:batchnorm_back", "x: N D, gamma: D, beta: D", {"bn_param": {"mode": "train"}}, XGB),
    (
        "layers:batchnorm",
        "layers:batchnorm_back",
        "x: N D, gamma: D, beta: D, bn_param.running_mean: D, bn_param.running_var: D positive",
        {"bn_param": {"mode": "test"}},
        XGB,
    ),
    (
        "layers:layernorm_by_batchnorm",
        "layers:layernorm_by_batchnorm_back",
        "x: N D, gamma: D, beta: D",
        None,
        XGB,
    ),
    ("layers:Dense", None, "x: N D", None, ["x", "W", "b"]),
    ("layers:Affine", None, "x: N D, W: D M, b: M", None, ["x", "W", "b"]),
    ("layers:BatchNorm", None, "x: N D", None, XGB),
    ("layers:BatchNorm", None, "x: N D", {"training": False}, XGB),
    ("layers:ReLU", None, "x: N D", None, ["x"]),
    ("layers:Block", None, "x: N D", None, ["x", "fc_W", "fc_b", "norm_gamma", "norm_beta"]),
    ("layers:Square", None, "x: N D, w: D", None, ["x", "w"]),
    ("layers:prenorm", "layers:prenorm_back", "x: N D, residual: N D, w: D", None, ["x", "residual", "w"]),
    ("layers:dropout", "layers:dropout_back", "x: N D, mask: N D bool", None, ["x"]),
    ("layers:gelu", "layers:gelu_back", "x: N D", None, ["x"]),
    (
        "layers:attention",
        "layers:attention_back",
        "x: T D, p.Wq: D E, p.Wk: D E, p.Wv: D M",
        None,
        ["x", "Wq", "Wk", "Wv"],
    ),
    ("layers:attention", "layers:attention_back", "x: T D, Wq: D E, Wk: D E, Wv: D M", None, ["x", "Wq", "Wk", "Wv"]),
    ("layers:dense", "layers:dense_back", "x: N D, w: D M", None, ["x", "w"]),
    ("layers:dense", "layers:dense_back", "x: N D, w: D M", {"activation": "id"}, ["x", "w"]),
    ("layers:scaled", "layers:scaled_back", "x: N D, s:", None, ["x", "s"]),
    ("layers:onehot_loss", None, "x: N C, y: N int C", None, ["x"]),
    ("layers:heads", "layers:heads_back", "x: B T D, H: int", None, ["x"]),
    ("python:keyword_only", "python:keyword_only_back", "x: N D, gamma: D", None, ["x", "gamma"]),
    ("python:Norm", None, "x: N D, weight: D", None, ["x", "weight"]),
    ("python:stateful", "python:stateful_back", "x: N D, w: D M", None, ["x", "w"]),
    ("python:nested", "python:nested_back", "x: N D, w: D M", None, ["x", "w"]),
    ("python:tried", "python:tried_back", "x: N D", None, ["x"]),
    ("python:tried", "python:tried_back", "x: N D", {"mode": "relu"}, ["x"]),
    ("python:recursive", "python:recursive_back", "x: N D", None, ["x"]),
    ("python:attention_scores", "python:attention_scores_back", "x: N D", None, ["x"]),
    ("python:unit", "python:unit_back", "x: N D", None, ["x"]),
    ("python:stepped", "python:stepped_back", "x: N D", None, ["x"]),
    (
        "course:max_pool",
        "course:max_pool_back",
        "x: N 1 2 W",
        {"pool_param": {"pool_height": 2, "pool_width": 2, "stride": 2}},
        ["x"],
    ),
    ("course:svm_loss", None, "x: N C, y: N int C", None, ["x"]),
    ("course:softmax_loss_naive", None, "W: D C, X: N D, y: N int C, reg: positive", None, ["W"]),
    ("course:TwoLayerNet", None, "X: N D", None, ["W1", "b1", "W2", "b2"]),
    ("course:instance_norm", "course:instance_norm_back", "x: N C 2 W, gamma: C, beta: C", None, XGB),
    (
        "wild:layernorm_loops",
        "wild:layernorm_loops_back",
        "inp: B 2 C, weight: C, bias: C",
        None,
        ["inp", "weight", "bias"],
    ),
    ("wild:Linear", None, "x: N D", None, ["x", "weight", "bias_"]),
    ("wild:SoftmaxWithLoss", None, "x: N C, t: N int C", None, ["x"]),
    ("wild:BatchNormalization", None, "x: N D, gamma: D, beta: D", None, XGB),
    ("wild:Dropout", None, "x: N D", None, ["x"]),
    (
        "wild:conv_forward_naive",
        "wild:conv_backward_naive",
        "x: 1 C 3 W, w: F C 2 K, b: F",
        {"conv_param": {"stride": 1, "pad": 1}},
        ["x", "w", "b"],
    ),
    ("wild:avgpool", "wild:avgpool_back", "x: N 1 H 4", None, ["x"]),
    ("wild:spatial_batchnorm", "wild:spatial_batchnorm_back", "x: N C H 2, gamma: C, beta: C", None, XGB),
    (
        "wild:multihead",
        "wild:multihead_back",
        "x: 2 D, Wq: D E, Wk: D E, Wv: D E, Wo: E D",
        None,
        ["x", "Wq", "Wk", "Wv", "Wo"],
    ),
    (
        "wild:MLP",
        None,
        "x: N D",
        None,
        ["x", "layers0_weight", "layers0_bias", "layers2_weight", "layers2_bias"],
    ),
    ("wild:huber", "wild:huber_back", "pred: N D, target: N D", None, ["pred"]),
    ("wild:maxout", "wild:maxout_back", "x: N D", None, ["x"]),
    ("wild:weightnorm", "wild:weightnorm_back", "x: N D, v: D M, g: M", None, ["x", "v", "g"]),
    ("wild:temporal", "wild:temporal_back", "x: N T D, W: D M, b: M", None, ["x", "W", "b"]),
    ("wild:word_embedding", "wild:word_embedding_back", "x: N T int V, W: V D", None, ["W"]),
    (
        "wild:lstm_step",
        "wild:lstm_step_back",
        "x: N D, prev_h: N H, prev_c: N H, Wx: D 4*H, Wh: H 4*H, b: 4*H",
        None,
        ["x", "prev_h", "prev_c", "Wx", "Wh", "b"],
    ),
]


@pytest.mark.parametrize(("forward", "backward", "shapes", "values", "names"), ROWS)
def test_a_trace_is_what_numpy_computes(
    forward: str, backward: str | None, shapes: str, values: dict[str, Any] | None, names: list[str]
) -> None:
    traced = check(example(forward), example(backward) if backward else None, shapes=shapes, set=values)
    assert list(traced.claimed) == names


def test_group_normalisation_states_the_divisibility() -> None:
    pair = example("layers:groupnorm"), example("layers:groupnorm_back")
    traced = trace_pair(*pair, shapes="x: N C H 2, gamma: C, beta: C, G: int")
    assert traced.notes == ["C is divisible by G (C = G·K)"]
    sizes = dict(zip(sizes_of(traced), NUMBERS[0], strict=False)) | {"H": 1}
    agrees(traced, *pair, sizes, {})


def test_a_recurrence_is_unrolled_at_concrete_sizes() -> None:
    pair = example("recurrent:rnn"), example("recurrent:rnn_back")
    shapes = "x: T N D, h0: N H, wx: D H, wh: H H"
    with pytest.raises(NeedsConcreteSizes):
        trace_pair(*pair, shapes=shapes)
    traced = trace_pair(*pair, shapes=shapes, sizes={"T": 3, "N": 2, "D": 3, "H": 2})
    assert list(traced.claimed) == ["x", "h0", "wx", "wh"]
    agrees(traced, *pair, {}, {})


def test_intermediates_have_the_names_and_lines_of_the_source() -> None:
    traced = trace_pair(
        example("layers:normalise"), example("layers:normalise_back"), shapes="x: N D, gamma: D, beta: D"
    )
    named = {tensor.name: definition.line for tensor, definition in traced.program.definitions.items()}
    assert list(named) == ["mu", "var", "inv", "hat", "dgamma", "dbeta", "d", "dx"]
    source = (EXAMPLES / "layers.py").read_text(encoding="utf-8").splitlines()
    assert source[(named["hat"] or 0) - 1].strip() == "hat = (x - mu) * inv"


def test_overwriting_the_upstream_gradient_is_noted() -> None:
    traced = trace_pair(example("layers:ReLU"), shapes="x: N D")
    assert "backward overwrites dout in place" in traced.notes
