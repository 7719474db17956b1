"""People's NumPy code on symbolic arrays: what a function computes, as index expressions for every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symres.trace.run import Traced as Traced
    from symres.trace.run import run_numpy as run_numpy
    from symres.trace.run import trace as trace
    from symres.trace.run import trace_pair as trace_pair

__all__ = ["Traced", "run_numpy", "trace", "trace_pair"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'symres.trace' has no attribute {name!r}")
    from symres.trace import run

    return getattr(run, name)
