"""What a certificate says, read: terms as shared nodes, definitions, claims.

Equal terms are one object (the reader interns them), so an evaluation computes each of them once. An index variable is
its name and its range; that is enough, because the reader refuses a variable bound again inside its own scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple


@dataclass(frozen=True, eq=False)
class Node:
    """A term. ``free`` are its free index variables, in the order of their serial numbers."""

    children: tuple[Node, ...]
    free: tuple[Var, ...]


@dataclass(frozen=True, eq=False)
class Num(Node):
    """A rational number."""

    value: Fraction


@dataclass(frozen=True, eq=False)
class Size(Node):
    """A symbolic size."""

    name: str


@dataclass(frozen=True, eq=False)
class Var(Node):
    """An index variable, ``0 <= var < dim``; ``free`` is the variable itself."""

    name: str
    dim: Node
    serial: int


@dataclass(frozen=True, eq=False)
class Entry(Node):
    """An entry of an input or of a definition; the children are the indices."""

    name: str


@dataclass(frozen=True, eq=False)
class Add(Node):
    """A sum of the children."""


@dataclass(frozen=True, eq=False)
class Mul(Node):
    """A product of the children."""


@dataclass(frozen=True, eq=False)
class Pow(Node):
    """The child to a rational power."""

    exponent: Fraction


@dataclass(frozen=True, eq=False)
class Sum(Node):
    """The sum of the child over an index variable."""

    var: Var


@dataclass(frozen=True, eq=False)
class Max(Node):
    """The maximum of the child over an index variable."""

    var: Var


@dataclass(frozen=True, eq=False)
class Fun(Node):
    """A function of numbers: a known one, or a declared unknown one differentiated at the argument ``positions``."""

    name: str
    positions: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Iverson(Node):
    """1 if the integer child is 0 (``=``) or not negative (``>=``), else 0."""

    relation: str


@dataclass(frozen=True, eq=False)
class Lambda(Node):
    """A whole tensor, entry by entry: the child over the variables that index it."""

    vars: tuple[Var, ...]


@dataclass(frozen=True, eq=False)
class Apply(Node):
    """An entry of a general function of whole tensors, or of a derivative of it.

    ``outs`` are the indices of the entry, ``arguments`` the tensors, ``derivatives`` the positions of arguments with
    the indices of the entry by which the function is differentiated. All these nodes are the children.
    """

    name: str
    outs: tuple[Node, ...]
    arguments: tuple[Lambda, ...]
    derivatives: tuple[tuple[int, tuple[Node, ...]], ...]


@dataclass(frozen=True)
class Declared:
    """A tensor that is given: its axes, what its entries are, and a bound on them for integers."""

    name: str
    dims: tuple[Node, ...]
    kind: str
    bound: Node | None = None


@dataclass(frozen=True)
class General:
    """An unknown function: of whole tensors (``out`` and ``args`` are axes), or of ``arity`` numbers."""

    name: str
    out: tuple[Node, ...]
    args: tuple[tuple[Node, ...], ...]
    elementwise: bool = False


@dataclass(frozen=True)
class Defined:
    """``name[vars] := body``. A recurrence over the first variable has a ``base`` for 0; ``body`` holds from 1 on."""

    name: str
    vars: tuple[Var, ...]
    body: Node
    base: Node | None = None
    integral: bool = False

    @property
    def bodies(self) -> tuple[Node, ...]:
        """The terms of the definition."""
        return (self.body,) if self.base is None else (self.base, self.body)


@dataclass(frozen=True)
class Equal:
    """``left = right`` for all values of the variables."""

    label: str
    vars: tuple[Var, ...]
    left: Node
    right: Node
    kind: str = "equal"

    @property
    def terms(self) -> tuple[Node, ...]:
        """The terms that the claim is about."""
        return (self.left, self.right)


@dataclass(frozen=True)
class Gradient:
    """For every direction v: d/dt of Σ upstream · outputs at wrt + t v is Σ gradient · v, with upstream held fixed."""

    label: str
    outputs: tuple[str, ...]
    upstream: tuple[str, ...]
    wrt: str
    vars: tuple[Var, ...]
    gradient: Node
    kind: str = "gradient"

    @property
    def terms(self) -> tuple[Node, ...]:
        """The terms that the claim is about."""
        return (self.gradient,)


Claim = Equal | Gradient


class Uses(NamedTuple):
    """What something rests on: terms, and names of inputs and definitions."""

    nodes: Set[Node]
    names: Set[str]


@dataclass(frozen=True)
class Certificate:
    """A certificate that keeps the rules of its format. ``digits`` counts the binary digits of its literals."""

    id: str
    title: str
    hash: str
    sizes: tuple[str, ...]
    tensors: Mapping[str, Declared] = field(default_factory=dict)
    functions: Mapping[str, General] = field(default_factory=dict)
    definitions: Mapping[str, Defined] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    digits: int = 0
    _uses: dict[tuple[Any, ...], Uses] = field(default_factory=dict, repr=False, compare=False)
    _moved: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)
    _direct: dict[str, Set[str]] = field(default_factory=dict, repr=False, compare=False)

    def axes(self, name: str) -> tuple[Node, ...]:
        """The axes of an input or of a definition."""
        if name in self.definitions:
            return tuple(var.dim for var in self.definitions[name].vars)
        return self.tensors[name].dims

    def uses(self, terms: tuple[Node, ...], names: tuple[str, ...] = ()) -> Uses:
        """Every term and every name that the given ones rest on, definitions followed, each once."""
        key = (terms, names)
        if key not in self._uses:
            self._uses[key] = self._follow(list(terms), list(names))
        return self._uses[key]

    def _follow(self, waiting: list[Node], pending: list[str]) -> Uses:
        nodes: dict[Node, None] = {}
        seen: dict[str, None] = {}
        while waiting or pending:
            while pending:
                name = pending.pop()
                if name not in seen:
                    seen[name] = None
                    waiting.extend(self.definitions[name].bodies if name in self.definitions else ())
            if waiting:
                node = waiting.pop()
                if node not in nodes:
                    nodes[node] = None
                    waiting.extend(node.children)
                    pending.extend([node.name] if isinstance(node, Entry) else [])
        return Uses(nodes.keys(), seen.keys())

    def moved_by(self, name: str) -> frozenset[str]:
        """The name and the definitions that change with its entries."""
        if name not in self._moved:
            found = {name}
            for other, definition in self.definitions.items():
                if other != name and not found.isdisjoint(self._reads(definition)):
                    found.add(other)
            self._moved[name] = frozenset(found)
        return self._moved[name]

    def _reads(self, definition: Defined) -> Set[str]:
        """The tensors that a definition itself reads."""
        if definition.name not in self._direct:
            nodes: dict[Node, None] = {}
            waiting = list(definition.bodies)
            while waiting:
                node = waiting.pop()
                if node not in nodes:
                    nodes[node] = None
                    waiting.extend(node.children)
            self._direct[definition.name] = {node.name for node in nodes if isinstance(node, Entry)}
        return self._direct[definition.name]
