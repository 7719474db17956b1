"""JAX in place of NumPy, and files for PyTorch where it is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from symres.trace.run import trace_pair
from tests.trace.checking import check, example

TORCH = """
import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class Linear(Function):
    @staticmethod
    def forward(ctx, x, w, b=None, scale=2):
        ctx.save_for_backward(x, w)
        ctx.scale = scale
        return scale * x.mm(w) + b

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        grad_x = ctx.scale * grad_output.mm(w.t())
        grad_w = ctx.scale * x.t().mm(grad_output)
        return grad_x, grad_w, grad_output.sum(0), None


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * (s + x * s * (1 - s))
"""


def test_custom_vjp() -> None:
    pytest.importorskip("jax")
    traced = trace_pair(load("jaxed:rmsnorm"), shapes="x: N D, w: D")
    assert list(traced.claimed) == ["x", "w"]
    assert [tensor.name for tensor in traced.program.definitions] == ["r", "gw", "dx"]


def test_jitted_functions() -> None:
    pytest.importorskip("jax")
    traced = trace_pair(example("jaxed:dense"), example("jaxed:dense_bwd"), shapes="x: N D, w: D M")
    assert list(traced.claimed) == ["x", "w"]


def load(name: str) -> object:
    from symres.trace.source import load

    return load(example(name))


def test_files_for_pytorch_are_read_without_it(tmp_path: Path) -> None:
    if "torch" in sys.modules:
        pytest.skip("PyTorch is there")
    file = tmp_path / "layers.py"
    file.write_text(TORCH)
    traced = trace_pair(f"{file}:Linear", shapes="x: N D, w: D M, b: M")
    assert list(traced.claimed) == ["x", "w", "b"]
    assert list(trace_pair(f"{file}:Swish", shapes="x: N D").claimed) == ["x"]
    assert "torch" not in sys.modules


def test_a_layer_in_numpy_agrees() -> None:
    assert list(check(example("layers:Square"), shapes="x: N D, w: D").claimed) == ["x", "w"]
