"""What terms mean, written from their definitions: a slow evaluator that shares nothing with symres but the classes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symres.kernel import terms as kernel

FUNCTIONS: dict[str, Callable[..., float]] = {
    "exp": lambda u: math.exp(u),
    "log": lambda u: math.log(u) if u > 0 else math.nan,
    "step": lambda u: float(u > 0),
    "eq0": lambda u: float(u == 0),
    "floordiv": lambda a, b: a // b,
    "pow": lambda a, b: a**b,
    "logaddexp": lambda a, b: math.log(math.exp(a) + math.exp(b)),
    "sigmoid": lambda u: 1 / (1 + math.exp(-u)),
    "softplus": lambda u: math.log1p(math.exp(u)),
    "silu": lambda u: u / (1 + math.exp(-u)),
    "mish": lambda u: u * math.tanh(math.log1p(math.exp(u))),
    "gelu": lambda u: u * (1 + math.erf(u / math.sqrt(2))) / 2,
    "exp2": lambda u: 2.0**u,
    "arcsin": math.asin,
    "arccos": math.acos,
    "arctan": math.atan,
    "arcsinh": math.asinh,
    "arccosh": math.acosh,
    "arctanh": math.atanh,
    **{
        name: getattr(math, name)
        for name in ("tanh", "sinh", "cosh", "sin", "cos", "tan", "erf", "erfc", "log1p", "expm1", "log2", "log10")
    },
}
CONSTANTS = {"pi": math.pi, "infinity": 1e30, "uninitialised": math.nan}


class Evaluator:
    """Terms at given sizes and arrays."""

    def __init__(self, sizes: Mapping[str, int], arrays: Mapping[str, Any]) -> None:
        self.sizes, self.arrays = sizes, {name: np.asarray(array) for name, array in arrays.items()}

    def term(self, term: kernel.Term, at: dict[kernel.Var, int] | None = None) -> float:
        return self._value(term, at or {}, {})

    def _value(self, term: kernel.Term, at: dict[kernel.Var, int], memo: dict[kernel.Term, float]) -> float:
        if term in memo:
            return memo[term]
        result: Any
        if isinstance(term, kernel.Num):
            result = term.value.numerator if term.value.denominator == 1 else float(term.value)
        elif isinstance(term, kernel.Size):
            result = self.sizes[term.name]
        elif isinstance(term, kernel.Var):
            result = at[term]
            assert 0 <= result < self._value(term.dim, at, {}), "an index variable outside its range"
        elif isinstance(term, kernel.Add):
            result = sum(self._value(arg, at, memo) for arg in term.args)
        elif isinstance(term, kernel.Mul):
            result = self._product(term, at, memo)
        elif isinstance(term, kernel.Pow):
            base, exponent = self._value(term.base, at, memo), term.exponent
            result = base ** (exponent.numerator if exponent.denominator == 1 else float(exponent))
        elif isinstance(term, kernel.Entry):
            result = self._entry(term, at, memo)
        elif isinstance(term, (kernel.Sum, kernel.Maximum)):
            dim = int(self._value(term.var.dim, at, memo))
            parts = [self._value(term.body, {**at, term.var: k}, {}) for k in range(dim)]
            result = sum(parts) if isinstance(term, kernel.Sum) else max(parts)
        elif isinstance(term, kernel.Fun):
            result = FUNCTIONS[term.name](*(self._value(arg, at, memo) for arg in term.args))
        elif isinstance(term, kernel.Iverson):
            value = self._value(term.arg, at, memo)
            assert value == int(value), "a bracket of a number that is no integer"
            result = float(value == 0 if term.rel == "=" else value >= 0)
        else:
            raise NotImplementedError(type(term))
        memo[term] = result
        return result

    def _product(self, term: kernel.Mul, at: dict[kernel.Var, int], memo: dict[kernel.Term, float]) -> float:
        # A bracket that is 0 hides the other factors, which may be undefined there.
        guards = [arg for arg in term.args if isinstance(arg, kernel.Iverson)]
        if any(self._value(guard, at, memo) == 0 for guard in guards):
            return 0
        return math.prod(self._value(arg, at, memo) for arg in term.args)

    def _entry(self, term: kernel.Entry, at: dict[kernel.Var, int], memo: dict[kernel.Term, float]) -> float:
        if term.tensor.name in CONSTANTS:
            return CONSTANTS[term.tensor.name]
        index = tuple(int(self._value(arg, at, memo)) for arg in term.args)
        dims = tuple(int(self._value(dim, at, memo)) for dim in term.tensor.dims)
        array = self.arrays[term.tensor.name].reshape(dims)
        if not all(0 <= k < dim for k, dim in zip(index, dims, strict=True)):
            return 0
        return array[index].item()

    def value(self, value: Any) -> np.ndarray:
        """All entries of a ``Value``, in its NumPy shape."""
        dims = [int(self.term(var.dim)) for var in value.vars]
        shape = [math.prod(int(self.term(dim)) for dim in axis) for axis in value.axes]
        entries = [
            self.term(value.body, dict(zip(value.vars, index, strict=True)))
            for index in itertools.product(*map(range, dims))
        ]
        return np.array(entries, dtype=float).reshape(shape)
