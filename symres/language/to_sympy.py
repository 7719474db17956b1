"""Terms as SymPy expressions in index notation.

Indices run over 0, …, n-1, as in NumPy. A size is a positive integer ``Symbol``, a scalar a real ``Symbol``, a tensor
an ``IndexedBase`` with its shape; a free index is an ``Idx`` with its range. A bound index is a plain integer
``Symbol``: SymPy 1.14 sums an ``Idx`` wrongly once its range is a number (``Sum(x[i], (i, 0, 2)).doit()`` gives
``3*x[i]``). Bound indices are named apart from every free index and from each other where nested, so that nothing is
captured.

=====================================  ==========================================================
term                                   SymPy
=====================================  ==========================================================
``[i = j]``                            ``KroneckerDelta(i, j)``
``[i >= j]``                           ``Heaviside(i - j, 1)``; ``Sum`` would pull a ``Piecewise`` out of inner scopes
``step(u)``                            ``Heaviside(u, 0)``
``sum_i u``                            ``Sum(u, (i, 0, n - 1))``
``max_i u``                            ``max_over(Lambda(i, u), n)``, an undefined function
unknown ``f'(u)``                      the undefined function named ``f'``, not a ``Derivative``
entry ``i`` of a general F at x        ``F(i, Lambda(k, x[k]))``; its Jacobian ``F.1(i, j, Lambda(k, x[k]))``
=====================================  ==========================================================

SymPy is imported when the first term is converted, not before.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import (
    Add,
    Apply,
    Entry,
    Fun,
    Iverson,
    Lam,
    Maximum,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
    add,
    neg,
)
from symres.language.constants import PI
from symres.language.functions import FUNCTIONS, derivative_name

MAXIMUM = "max_over"
KINDS: dict[str, dict[str, bool]] = {
    "real": {"real": True},
    "positive": {"positive": True},
    "nonnegative": {"nonnegative": True},
    "bool": {"integer": True, "nonnegative": True},
    "int": {"integer": True, "nonnegative": True},
}
"""The assumptions that SymPy is told of the entries of a tensor."""


def to_sympy(term: Term) -> Any:
    """The SymPy expression of a term.

    Raises:
        Unsupported: for a term that has no SymPy form, such as a tensor by itself.
    """
    return _Writer(term).expression(term, {})


class _Writer:
    def __init__(self, term: Term) -> None:
        import sympy

        self.sp = sympy
        self.names: dict[Var, str] = {}
        self._done: dict[tuple[Term, tuple[tuple[Var, Any], ...]], Any] = {}
        taken: set[str] = set()
        for var in sorted(term.free, key=lambda var: var.uid):
            name = _unused(var.name, taken)
            taken.add(name)
            self.names[var] = name
        self.taken = frozenset(taken)
        self.free = {var: self._idx(name, var) for var, name in self.names.items()}

    def _idx(self, name: str, var: Var) -> Any:
        return self.sp.Idx(name, (0, self.expression(var.dim, {}) - 1))

    def expression(self, term: Term, bound: dict[Var, Any]) -> Any:
        key = (term, tuple((var, bound[var]) for var in sorted(term.free & bound.keys(), key=lambda var: var.uid)))
        if key not in self._done:
            self._done[key] = _write(term, self, bound)
        return self._done[key]

    def bind(self, var: Var, bound: dict[Var, Any]) -> tuple[Any, dict[Var, Any]]:
        """A symbol for a bound index, and the scope inside."""
        name = _unused(var.name, {*self.taken, *(symbol.name for symbol in bound.values())})
        symbol = self.sp.Symbol(name, integer=True, nonnegative=True)
        return symbol, {**bound, var: symbol}

    def base(self, tensor: Tensor) -> Any:
        """The tensor as a symbol, or as an indexed base."""
        if tensor == PI:
            return self.sp.pi
        if not tensor.dims:
            return self.sp.Symbol(tensor.name, **KINDS[tensor.kind])
        shape = tuple(self.expression(dim, {}) for dim in tensor.dims)
        return self.sp.IndexedBase(tensor.name, shape=shape, **KINDS[tensor.kind])


def _unused(name: str, taken: frozenset[str] | set[str]) -> str:
    candidate, k = name, 1
    while candidate in taken:
        candidate, k = f"{name}_{k}", k + 1
    return candidate


@singledispatch
def _write(term: Term, to: _Writer, bound: dict[Var, Any]) -> Any:
    raise Unsupported(f"a {type(term).__name__} by itself has no SymPy form")


@_write.register
def _(term: Num, to: _Writer, bound: dict[Var, Any]) -> Any:
    return to.sp.Rational(term.value.numerator, term.value.denominator)


@_write.register
def _(term: Size, to: _Writer, bound: dict[Var, Any]) -> Any:
    return to.sp.Symbol(term.name, integer=True, positive=True)


@_write.register
def _(term: Var, to: _Writer, bound: dict[Var, Any]) -> Any:
    return bound[term] if term in bound else to.free[term]


@_write.register
def _(term: Entry, to: _Writer, bound: dict[Var, Any]) -> Any:
    base = to.base(term.tensor)
    return base[tuple(to.expression(arg, bound) for arg in term.args)] if term.args else base


@_write.register
def _(term: Add, to: _Writer, bound: dict[Var, Any]) -> Any:
    return to.sp.Add(*(to.expression(arg, bound) for arg in term.args))


@_write.register
def _(term: Mul, to: _Writer, bound: dict[Var, Any]) -> Any:
    return to.sp.Mul(*(to.expression(arg, bound) for arg in term.args))


@_write.register
def _(term: Pow, to: _Writer, bound: dict[Var, Any]) -> Any:
    exponent = to.sp.Rational(term.exponent.numerator, term.exponent.denominator)
    return to.sp.Pow(to.expression(term.base, bound), exponent)


@_write.register
def _(term: Sum, to: _Writer, bound: dict[Var, Any]) -> Any:
    symbol, inner = to.bind(term.var, bound)
    return to.sp.Sum(to.expression(term.body, inner), (symbol, 0, to.expression(term.var.dim, bound) - 1))


@_write.register
def _(term: Maximum, to: _Writer, bound: dict[Var, Any]) -> Any:
    symbol, inner = to.bind(term.var, bound)
    body = to.sp.Lambda(symbol, to.expression(term.body, inner))
    return to.sp.Function(MAXIMUM, real=True)(body, to.expression(term.var.dim, bound))


@_write.register
def _(term: Iverson, to: _Writer, bound: dict[Var, Any]) -> Any:
    parts = term.arg.args if isinstance(term.arg, Add) else (term.arg,)
    below = [
        part for part in parts if isinstance(part, Mul) and isinstance(part.args[0], Num) and part.args[0].value < 0
    ]
    left = to.expression(add(*(part for part in parts if part not in below)), bound)
    right = to.expression(add(*map(neg, below)), bound)
    if term.rel == "=":
        return to.sp.KroneckerDelta(left, right)
    return to.sp.Heaviside(left - right, 1)


@_write.register
def _(term: Fun, to: _Writer, bound: dict[Var, Any]) -> Any:
    row = FUNCTIONS.get(term.name)
    if row is not None and row.sympy is None and row.definition is not None:
        return to.expression(row.definition(*term.args), bound)
    args = [to.expression(arg, bound) for arg in term.args]
    if row is not None and row.sympy is not None:
        return row.sympy(to.sp, *args)
    return to.sp.Function(term.name, real=True)(*args)


@_write.register
def _(term: Apply, to: _Writer, bound: dict[Var, Any]) -> Any:
    ordered = sorted(term.derivatives, key=lambda pair: pair[0])
    name = term.name
    for position, _ in ordered:
        name = derivative_name(name, position, 2)
    indices = [*term.outs, *(index for _, many in ordered for index in many)]
    arguments = [to.expression(argument, bound) for argument in term.arguments]
    return to.sp.Function(name, real=True)(*(to.expression(index, bound) for index in indices), *arguments)


@_write.register
def _(term: Lam, to: _Writer, bound: dict[Var, Any]) -> Any:
    symbols, inner = [], bound
    for var in term.vars:
        symbol, inner = to.bind(var, inner)
        symbols.append(symbol)
    return to.sp.Lambda(tuple(symbols), to.expression(term.body, inner))
