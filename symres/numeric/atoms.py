"""The values of the functions that are not evaluated by their definitions, on real and complex arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def _erf(u: Array) -> Array:
    if np.iscomplexobj(u):
        # One step of the power series about the real part is exact for the imaginary steps of 1e-200 or so.
        slope = 2 / math.sqrt(math.pi) * np.exp(-(u.real**2))
        return np.asarray(_erf(u.real) + 1j * u.imag * slope)
    return np.asarray(np.vectorize(math.erf, otypes=[float])(u))


ATOMS: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "log": np.log,
    "step": lambda u: (np.real(u) > 0).astype(int),
    "eq0": lambda u: (u == 0).astype(int),
    "floordiv": lambda a, b: a // b,
    "sin": np.sin,
    "cos": np.cos,
    "arctan": np.arctan,
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "erf": _erf,
    "tanh": np.tanh,
    "sigmoid": lambda u: (1 + np.tanh(u / 2)) / 2,
}
"""By name: those without a definition, and those whose definition overflows."""
