"""Reading terms: each node of the format is one row of a table, with the rules that it must keep."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, cast

from symres.judge.faults import Refused
from symres.judge.functions import INTEGER_FUNCTIONS
from symres.judge.syntax import (
    Apply,
    Declared,
    Defined,
    Entry,
    Fun,
    General,
    Node,
    Pow,
    Var,
)

DEEPEST, MOST_NODES, MOST_DIGITS, LARGEST_EXPONENT = 150, 400_000, 400, 1000
MOST_LARGE_DIGITS, SMALL = 5_000, 8
NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?", re.ASCII)
Scope = Mapping[str, Var]
N = TypeVar("N", bound=Node)
T = TypeVar("T")
Reading = Callable[["TermReader", str, list[Any], Scope, int], Node]


@dataclass(frozen=True)
class Row:
    """How a node is read, and how many parts it has after its name."""

    read: Reading
    least: int
    most: int


READERS: dict[str, Row] = {}
"""The nodes of the format; :mod:`symres.judge.noderows` enters them."""


def reads(name: str, least: int, most: int) -> Callable[[Reading], Reading]:
    """Enter a function into the table."""

    def enter(read: Reading) -> Reading:
        READERS[name] = Row(read, least, most)
        return read

    return enter


class TermReader:
    """Reads terms over what has been declared so far, and shares equal ones."""

    def __init__(self) -> None:
        self.sizes: dict[str, None] = {}
        self.tensors: dict[str, Declared] = {}
        self.functions: dict[str, General] = {}
        self.definitions: dict[str, Defined] = {}
        self.length, self.digits = 0, 0
        self._own: tuple[str, tuple[Var, ...]] | None = None
        self._shared: dict[tuple[Any, ...], Node] = {}
        self._integral: dict[Node, bool] = {}
        self._nodes = 0
        self._serial = 0

    # ------------------------------------------------------------ names

    def declare(self, place: str, name: str, table: dict[str, T], value: T) -> None:
        """Enter a name that is new."""
        if name in table:
            raise Refused(place, f"{name!r} is declared twice")
        table[name] = value

    @contextmanager
    def recursive(self, name: str, variables: tuple[Var, ...]) -> Iterator[None]:
        """Inside, the name may be read though it is being defined."""
        self._own = (name, variables)
        yield
        self._own = None

    def known(self, place: str, name: Any) -> str:
        """The name of an input or of a definition, or refused."""
        if not isinstance(name, str):
            raise Refused(place, "a name is expected")
        if name not in self.tensors and name not in self.definitions and (self._own is None or self._own[0] != name):
            raise Refused(place, f"{name!r} is not declared")
        return name

    def axes(self, name: str) -> tuple[Node, ...]:
        """The axes of an input or of a definition."""
        if name in self.tensors:
            return self.tensors[name].dims
        variables = self.definitions[name].vars if self._own is None or self._own[0] != name else self._own[1]
        return tuple(var.dim for var in variables)

    def is_discrete(self, name: str) -> bool:
        """Whether the entries are integers by declaration or by definition."""
        if name in self.tensors:
            return self.tensors[name].kind in ("bool", "int")
        return name in self.definitions and self.definitions[name].integral

    def is_integral(self, node: Node) -> bool:
        """Whether a term is made of numbers, sizes, indices and integer entries only, so that it can be an index."""
        found = self._integral.get(node)
        if found is None:
            if isinstance(node, Entry):
                own = self.is_discrete(node.name)
            elif isinstance(node, Fun):
                own = node.name in INTEGER_FUNCTIONS
            elif isinstance(node, Pow):
                own = node.exponent.denominator == 1
            else:
                own = not isinstance(node, Apply)
            found = own and all(map(self.is_integral, node.children))
            self._integral[node] = found
        return found

    def literal(self, place: str, digits: int) -> None:
        """Count the binary digits of a number in the text; small ones need no higher precision.

        Raises:
            Refused: if there are too many.
        """
        self.length += digits
        self.digits += digits if digits > SMALL else 0
        if self.digits > MOST_LARGE_DIGITS:
            raise Refused(place, f"the large numbers have at most {MOST_LARGE_DIGITS} binary digits in all")

    # ------------------------------------------------------------ terms

    def term(self, place: str, value: Any, scope: Scope, depth: int = 0) -> Node:
        """The term in a JSON value.

        Raises:
            Refused: with the place and the rule that is broken.
        """
        if not isinstance(value, list) or not value or not isinstance(value[0], str):
            raise Refused(place, "a term is a list that begins with the name of its node")
        row = READERS.get(value[0])
        if row is None:
            raise Refused(place, f"there is no node {value[0][:20]!r}")
        if not row.least <= len(value) - 1 <= row.most:
            raise Refused(place, f"the node {value[0]!r} has another number of parts")
        self._nodes += 1
        if depth > DEEPEST or self._nodes > MOST_NODES:
            raise Refused(place, f"terms are nested at most {DEEPEST} deep and have at most {MOST_NODES} nodes in all")
        return row.read(self, place, value, scope, depth + 1)

    def terms(self, place: str, values: Any, scope: Scope, depth: int, first: int = 0) -> tuple[Node, ...]:
        """The terms in a JSON list, from position ``first`` on."""
        if not isinstance(values, list):
            raise Refused(place, "a list of terms is expected")
        return tuple(self.term(f"{place}[{k}]", values[k], scope, depth) for k in range(first, len(values)))

    def index(self, place: str, value: Any, scope: Scope | None = None, depth: int = 0) -> Node:
        """A term with integer values."""
        return self.integers(place, (self.term(place, value, scope or {}, depth),))[0]

    def extent(self, place: str, value: Any) -> Node:
        """The length of an axis or the range of a variable: an integer made of sizes and numbers."""
        node = self.index(place, value)
        if self.reads_entries(node):
            raise Refused(place, "a length depends on sizes only, not on entries")
        return node

    def reads_entries(self, node: Node) -> bool:
        """Whether a term reads an entry of a tensor."""
        return isinstance(node, Entry) or any(map(self.reads_entries, node.children))

    def integers(self, place: str, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """The terms, or refused where one has no integer values."""
        for node in nodes:
            if not self.is_integral(node):
                raise Refused(place, "an index, a size or a bracket needs integers, this is a real number")
        return nodes

    def variable(self, place: str, pair: Any, scope: Scope) -> dict[str, Var]:
        """The scope of one more variable, given as ``[name, range]``; the range depends on no index."""
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str) or not pair[0]:
            raise Refused(place, "a variable is a pair of its name and its range")
        if pair[0] in scope:
            raise Refused(place, f"the variable {pair[0]!r} is bound already")
        dim = self.extent(f"{place}[1]", pair[1])
        key = (Var, pair[0], dim)
        if key not in self._shared:
            self._serial += 1
            var = Var((), (), pair[0], dim, self._serial)
            object.__setattr__(var, "free", (var,))
            self._shared[key] = var
        return {pair[0]: cast(Var, self._shared[key])}

    def number(self, place: str, value: Any) -> Fraction:
        """An exact number such as ``-3/2``."""
        if not isinstance(value, str) or len(value) > MOST_DIGITS or NUMBER.fullmatch(value) is None:
            raise Refused(place, f"a number is a text such as '-3/2' of at most {MOST_DIGITS} characters")
        numerator, _, denominator = value.partition("/")
        if denominator and int(denominator) == 0:
            raise Refused(place, "a denominator is zero")
        return Fraction(int(numerator), int(denominator or 1))

    def make(self, cls: type[N], children: Iterable[Node], *rest: Any, bound: tuple[Var, ...] = ()) -> N:
        """The node over the children, shared with an equal one."""
        children = tuple(children)
        key = (cls, children, *rest)
        found = self._shared.get(key)
        if found is None:
            free = {var for child in children for var in child.free}.difference(bound)
            found = cls(children, tuple(sorted(free, key=lambda var: var.serial)), *rest)
            self._shared[key] = found
        return cast(N, found)
