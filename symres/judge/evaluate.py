"""The evaluation of terms at concrete sizes and entries, in any arithmetic.

A term becomes a :class:`Grid`: its values for all values of its free index variables. A term that occurs twice is
computed once. Definitions become tables in the same way, in the order of the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Generic, TypeVar

from symres.judge.arithmetic import Arithmetic, Integers
from symres.judge.faults import TooLarge, Undefined
from symres.judge.syntax import Certificate, Node, Var
from symres.judge.unknown import Unknown

V = TypeVar("V")
W = TypeVar("W")
LARGEST_GRID = 200_000
LARGEST_INTEGER = 1 << 62


@dataclass(frozen=True)
class Grid(Generic[V]):
    """The values over the variables, the last one fastest."""

    vars: tuple[Var, ...]
    values: list[V]


@dataclass(frozen=True)
class Table(Generic[V]):
    """The entries of a tensor, the last index fastest."""

    shape: tuple[int, ...]
    values: list[V]

    def nested(self) -> Any:
        """The entries as nested lists; a scalar as itself."""
        values: list[Any] = list(self.values)
        for length in reversed(self.shape[1:]):
            values = [values[k : k + length] for k in range(0, len(values), length)]
        return values if self.shape else values[0]


class Evaluator(Generic[V]):
    """Terms of one certificate at one point.

    Args:
        certificate: where the definitions come from.
        arithmetic: the numbers to compute with.
        sizes: the value of each size.
        tables: the entries of the inputs.
        unknowns: the unknown functions.
        integers: where indices are evaluated; itself, if not given.
        lift: brings the coefficients of unknown functions into the arithmetic.
        elsewhere: asked first for a table that is not given; ``None`` from it means that it is evaluated here.
    """

    def __init__(
        self,
        certificate: Certificate,
        arithmetic: Arithmetic[V],
        sizes: Mapping[str, int],
        tables: Mapping[str, Table[V]],
        *,
        unknowns: Mapping[str, Unknown[Any]] | None = None,
        integers: Evaluator[Any] | None = None,
        lift: Callable[[Any], V] = lambda value: value,
        elsewhere: Callable[[str], Table[V] | None] = lambda name: None,
    ) -> None:
        self.certificate, self.arithmetic, self.sizes = certificate, arithmetic, sizes
        self.unknowns, self.lift = unknowns or {}, lift
        self.integers: Evaluator[Any] = integers or self
        self.fixed: dict[Var, int] = {}
        self.partial: set[str] = set()
        self._tables: dict[str, Table[V]] = dict(tables)
        self._elsewhere = elsewhere
        self._grids: dict[Node, Grid[V]] = {}
        self._indices: dict[Node, Grid[int]] = {}
        self._positions: dict[tuple[tuple[Var, ...], tuple[Var, ...]], list[int]] = {}
        self._lengths: dict[Var, int] = {}

    # ------------------------------------------------------------ grids

    def grid(self, node: Node) -> Grid[V]:
        """The values of a term.

        Raises:
            Undefined: if one of them does not exist.
            TooLarge: if there are too many of them.
        """
        found = self._grids.get(node)
        if found is None:
            found = RULES[type(node)](self, node)
            self._grids[node] = found
        return found

    def index(self, node: Node) -> Grid[int]:
        """The values of a term that has integer ones."""
        found = self._indices.get(node)
        if found is None:
            grid = self.rational(node)
            for value in grid.values:
                if value.denominator != 1 or abs(value.numerator) > LARGEST_INTEGER:
                    raise Undefined("an index or a size is not an integer")
            found = Grid(grid.vars, [int(value) for value in grid.values])
            self._indices[node] = found
        return found

    def rational(self, node: Node) -> Grid[Fraction | int]:
        """The values of a term that is made of numbers, sizes, indices and integers."""
        self.integers.fixed = self.fixed
        return self.integers.grid(node)

    def length(self, var: Var) -> int:
        """The number of values of an index variable."""
        found = self._lengths.get(var)
        if found is None:
            found = self._lengths[var] = max(0, self.integer(var.dim))
        return found

    def integer(self, node: Node) -> int:
        """The value of an integer term without variables."""
        return self.index(node).values[0]

    def number_of(self, variables: Iterable[Var]) -> int:
        """How many values the variables have together.

        Raises:
            TooLarge: if they are too many.
        """
        number = prod(map(self.length, variables))
        if number > LARGEST_GRID:
            raise TooLarge(f"a term has {number} values")
        return number

    def free(self, node: Node) -> tuple[Var, ...]:
        """The variables of a node's grid."""
        return tuple(var for var in node.free if var not in self.fixed) if self.fixed else node.free

    def spread(self, grid: Grid[W], variables: tuple[Var, ...]) -> list[W]:
        """The values over more variables, in another order."""
        if grid.vars == variables:
            return grid.values
        key = (grid.vars, variables)
        positions = self._positions.get(key)
        if positions is None:
            self.number_of(variables)
            strides = dict(zip(grid.vars, row_strides([self.length(var) for var in grid.vars]), strict=True))
            positions = [0]
            for var in variables:
                stride = strides.get(var, 0)
                steps = [stride * k for k in range(self.length(var))]
                positions = [position + step for position in positions for step in steps]
            self._positions[key] = positions
        values = grid.values
        return [values[position] for position in positions]

    # ------------------------------------------------------------ tables

    def table(self, name: str) -> Table[V]:
        """The entries of an input or of a definition."""
        found = self._tables.get(name)
        if found is None:
            found = self._elsewhere(name)
            if found is None:
                found = self._define(name)
            self._tables[name] = found
        return found

    def give(self, name: str, table: Table[V]) -> None:
        """Set the entries of an input, or of a definition in place of what it says."""
        self._tables[name] = table

    def prepare(self, names: Iterable[str]) -> None:
        """Evaluate the definitions among the names in the order of the certificate, so that none has to wait."""
        wanted = set(names)
        for name in self.certificate.definitions:
            if name in wanted:
                self.table(name)

    def _define(self, name: str) -> Table[V]:
        definition = self.certificate.definitions[name]
        shape = tuple(map(self.length, definition.vars))
        self.number_of(definition.vars)
        if definition.base is None:
            with self._scope({}):
                return Table(shape, self.spread(self.grid(definition.body), definition.vars))
        first, rest = definition.vars[0], definition.vars[1:]
        values: list[V] = []
        self.partial.add(name)
        try:
            for k in range(shape[0]):
                self._tables[name] = Table((k, *shape[1:]), values)
                with self._scope({first: k}):
                    grid = self.grid(definition.base if k == 0 else definition.body)
                    values = values + self.spread(grid, rest)
        finally:
            # a part of a table must not outlive an error: what it lacks would be read as 0
            self.partial.discard(name)
            self._tables.pop(name, None)
        return Table(shape, values)

    @contextmanager
    def _scope(self, fixed: dict[Var, int]) -> Iterator[None]:
        """Inside, these variables have these values; what was computed for others does not count."""
        if fixed == self.fixed:
            yield
            return
        outer = (self.fixed, self._grids, self._indices, self.integers._grids)
        self.fixed, self._grids, self._indices, self.integers._grids = fixed, {}, {}, {}
        try:
            yield
        finally:
            self.fixed, self._grids, self._indices, self.integers._grids = outer


def row_strides(lengths: Sequence[int]) -> list[int]:
    """The strides of a table with these axes, the last index fastest."""
    strides, stride = [], 1
    for length in reversed(lengths):
        strides.append(stride)
        stride *= length
    return strides[::-1]


RULES: dict[type[Node], Callable[[Any, Any], Grid[Any]]] = {}
"""How the grid of each kind of node comes about; :mod:`symres.judge.noderules` enters them."""


def integer_evaluator(certificate: Certificate, sizes: Mapping[str, int]) -> Evaluator[Any]:
    """Where indices and sizes are evaluated."""
    return Evaluator(certificate, Integers(), sizes, {})
