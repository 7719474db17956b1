"""The value of a term for concrete sizes and entries, straight from the definitions of the nodes; indices from 0."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable, Mapping
from functools import singledispatch

from symres.kernel.terms import Add, Entry, Fun, Iverson, Maximum, Mul, Num, Pow, Size, Sum, Term, Var

FUNCTIONS: Mapping[str, Callable[..., complex]] = {
    "exp": cmath.exp,
    "log": cmath.log,
    "tanh": cmath.tanh,
    "sigmoid": lambda u: 1 / (1 + cmath.exp(-u)),
    "step": lambda u: complex(u.real > 0),
    "eq0": lambda u: complex(u == 0),
    "floordiv": lambda a, b: complex(math.floor(a.real / b.real)),
}
Environment = dict[object, object]


@singledispatch
def value(term: Term, at: Mapping[object, object]) -> complex:
    raise TypeError(type(term))


@value.register
def _(term: Num, at: Mapping[object, object]) -> complex:
    return complex(float(term.value))


@value.register(Size)
@value.register(Var)
def _(term: Size | Var, at: Mapping[object, object]) -> complex:
    return complex(at[term])  # type: ignore[arg-type]


@value.register
def _(term: Entry, at: Mapping[object, object]) -> complex:
    indices = tuple(round(value(arg, at).real) for arg in term.args)
    dims = tuple(round(value(dim, at).real) for dim in term.tensor.dims)
    inside = all(0 <= index < dim for index, dim in zip(indices, dims, strict=True))
    return complex(at[term.tensor.name](*indices)) if inside else 0j  # type: ignore[operator]


@value.register
def _(term: Add, at: Mapping[object, object]) -> complex:
    return sum((value(part, at) for part in term.args), 0j)


@value.register
def _(term: Mul, at: Mapping[object, object]) -> complex:
    return math.prod((value(part, at) for part in term.args), start=1 + 0j)


@value.register
def _(term: Pow, at: Mapping[object, object]) -> complex:
    return value(term.base, at) ** float(term.exponent)


@value.register(Sum)
@value.register(Maximum)
def _(term: Sum | Maximum, at: Mapping[object, object]) -> complex:
    length = round(value(term.var.dim, at).real)
    values = [value(term.body, {**at, term.var: number}) for number in range(length)]
    return sum(values, 0j) if isinstance(term, Sum) else max(values, key=lambda each: each.real)


@value.register
def _(term: Fun, at: Mapping[object, object]) -> complex:
    return FUNCTIONS[term.name](*(value(arg, at) for arg in term.args))


@value.register
def _(term: Iverson, at: Mapping[object, object]) -> complex:
    number = round(value(term.arg, at).real)
    return complex(number == 0 if term.rel == "=" else number >= 0)


def indices(*lengths: int) -> itertools.product[tuple[int, ...]]:
    """All index tuples."""
    return itertools.product(*map(range, lengths))
