"""SymPy expressions in index notation as terms.

Names mean what SymPy's scopes say: in ``Sum(x[i], (i, 0, n - 1)) * y[i]`` the summed ``i`` and the free ``i`` are two
variables. A range ``lo, …, hi`` becomes ``0, …, hi - lo``, and the index ``lo`` plus the new one. Tensors are indexed
from 0; ``base=1`` reads expressions whose tensors are indexed from 1, as in ``Sum(x[i], (i, 1, n))``. An index that may
leave its axis is refused unless ``padded`` says that entries out of range are 0.

A symbol that is a positive integer is a size, any other a scalar tensor; a ``Float`` is read as the decimal it shows.
Undefined functions are unknown elementwise functions, and ``Derivative`` of one (inside ``Subs`` too) is its primed
name. ``Derivative`` of anything else is refused: what SymPy makes of it under a sum is often wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import Entry, Tensor, Term, Var, add
from symres.language.ranges import inside
from symres.language.sympy_rules import RULES, Scope
from symres.language.to_sympy import KINDS, to_sympy


def from_sympy(
    expression: Any,
    *,
    variables: Mapping[str, Var] | None = None,
    tensors: Mapping[str, Tensor] | None = None,
    base: int = 0,
    padded: bool = False,
) -> Term:
    """The term of a SymPy expression.

    Args:
        expression: the expression; also a number.
        variables: the index variables that free indices stand for, by name; an ``Idx`` with a range, or an index of a
            tensor with a shape, is made one as needed.
        tensors: tensors by name, where the kind (``int`` with its bound, ``bool``) matters.
        base: the index of the first entry of a tensor, 0 or 1.
        padded: whether an entry out of range is 0; otherwise every index must stay in range for all sizes.

    Raises:
        UsageError: for an index without a range, or one that may leave its axis.
        Unsupported: for what has no meaning as a term.
    """
    return SympyReader(variables, tensors, base=base, padded=padded).read(expression)


class SympyReader:
    """Reads several expressions with the same names; ``variables`` and ``tensors`` then hold what was met."""

    def __init__(
        self,
        variables: Mapping[str, Var] | None = None,
        tensors: Mapping[str, Tensor] | None = None,
        *,
        base: int = 0,
        padded: bool = False,
    ) -> None:
        self.variables, self.tensors = dict(variables or {}), dict(tensors or {})
        self.base, self.padded = base, padded

    def read(self, expression: Any) -> Term:
        """The term of one expression."""
        import sympy

        self.sp = sympy
        expression = sympy.sympify(expression)
        self.ranges: dict[Any, Term] = {}
        self._collect_ranges(expression)
        return self.term(expression, {})

    def term(self, node: Any, scope: Scope) -> Term:
        """The term of a subexpression."""
        for cls in type(node).__mro__:
            rule = RULES.get(cls.__name__)
            if rule is not None:
                return rule(self, node, scope)
        raise Unsupported(f"{type(node).__name__} has no meaning as a term: {node}")

    def bind(self, limit: Any, scope: Scope) -> tuple[Var, Scope]:
        """The variable of a limit ``(i, lo, hi)`` and the scope inside, where i is lo plus the variable."""
        symbol, low, high = limit
        start = self.term(low, scope)
        length = self._length(low, high, scope)
        var = Var(str(symbol), length)
        label = symbol.label if hasattr(symbol, "label") else symbol
        return var, {**scope, symbol: add(start, var), label: add(start, var)}

    def _length(self, low: Any, high: Any, scope: Scope) -> Term:
        length = self.term(self.sp.expand(high - low + 1), scope)
        if length.free:
            raise Unsupported(f"the range from {low} to {high} depends on another index")
        return length

    def length_in(self, symbol: Any, body: Any) -> Any:
        """The SymPy length of the range of an argument of a ``Lambda``: that of an axis it indexes in the body."""
        for node in body.atoms(self.sp.Indexed):
            for index, dim in zip(node.indices, node.base.shape or (), strict=False):
                if index == symbol:
                    return dim
        raise UsageError(f"the index {symbol} has no range", remedy="let it index a tensor with a shape")

    def index(self, symbol: Any) -> Term:
        """What a free index stands for: its variable, counted from the base."""
        name = str(symbol)
        if name not in self.variables:
            if getattr(symbol, "lower", None) is not None and symbol.upper is not None:
                if symbol.lower != self.base:
                    raise UsageError(f"the free index {name} starts at {symbol.lower}, tensors at {self.base}")
                dim = self._length(symbol.lower, symbol.upper, {})
            elif symbol in self.ranges:
                dim = self.ranges[symbol]
            else:
                raise UsageError(f"the index {name} has no range", remedy=f"give it one: Idx({name!r}, n)")
            self.variables[name] = Var(name, dim)
        return add(self.base, self.variables[name])

    def tensor(self, symbol: Any, shape: tuple[Any, ...]) -> Tensor:
        """The tensor of a symbol; ``shape`` holds its dimensions in SymPy."""
        name = str(symbol)
        if name not in self.tensors:
            holds = {key for assumptions in KINDS.values() for key in assumptions}
            kind = next(
                (
                    kind
                    for kind in ("positive", "nonnegative")
                    if all(getattr(symbol, f"is_{key}") for key in KINDS[kind] if key in holds)
                ),
                "real",
            )
            self.tensors[name] = Tensor(name, tuple(self.term(dim, {}) for dim in shape), kind)
        tensor = self.tensors[name]
        if len(tensor.dims) != len(shape):
            raise UsageError(f"{name} has {len(tensor.dims)} axes, {len(shape)} indices were given")
        return tensor

    def entry(self, symbol: Any, shape: tuple[Any, ...] | None, indices: tuple[Any, ...], scope: Scope) -> Term:
        """An entry of a tensor."""
        if shape is None and str(symbol) not in self.tensors:
            shape = tuple(self._range_of(index, scope, symbol) for index in indices)
        tensor = self.tensor(symbol, shape if shape is not None else indices)
        args = tuple(self.term(index, scope) - self.base for index in indices)
        for arg, dim, given in zip(args, tensor.dims, indices, strict=True):
            if not self.padded and not inside(arg, dim):
                first = "base=1 reads tensors that are indexed from 1; " if self.base == 0 else ""
                raise UsageError(
                    f"the index {given} of {symbol} may leave its axis of length {dim!r}",
                    remedy=f"indices run from {self.base}; {first}padded=True makes entries out of range 0",
                )
        return Entry(tensor, args)

    def _range_of(self, index: Any, scope: Scope, symbol: Any) -> Any:
        """The SymPy length of an axis that has no shape: that of the index in it."""
        term = scope.get(index)
        if term is None and index.is_Atom:
            term = self.index(index)
        counted = term - self.base if term is not None else None
        if not isinstance(counted, Var):
            raise UsageError(f"{symbol} has no shape", remedy=f"give it one: IndexedBase({str(symbol)!r}, shape=(n,))")
        return to_sympy(counted.dim)

    def _collect_ranges(self, expression: Any) -> None:
        """Ranges of free indices that are plain symbols, from the shapes of the tensors they index."""
        for node in self.sp.preorder_traversal(expression):
            if isinstance(node, self.sp.Indexed):
                for index, dim in zip(node.indices, node.base.shape or (), strict=False):
                    if index.is_Symbol and not hasattr(index, "lower"):
                        self.ranges.setdefault(index, self.term(dim, {}))
