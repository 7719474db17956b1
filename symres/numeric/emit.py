"""From array expressions to statements: what gets a name, in which order, and which memory is used again.

An expression of several full-size operations is computed in one array, operation by operation, instead of making a
temporary for each; and an array that is not needed any more gives its memory to the next one.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from symres.language.functions import FUNCTIONS
from symres.numeric.layout import Layout, demands, order
from symres.numeric.names import Namer
from symres.numeric.nodes import ELEMENTWISE, LEAVES, REDUCTIONS, UNNAMED, Node
from symres.numeric.spell import Speller

_BIG = 2  # arrays with at least this many axes are worth computing in place
_OPERATORS = {
    "add": ("+=", "np.add"),
    "sub": ("-=", "np.subtract"),
    "mul": ("*=", "np.multiply"),
    "div": ("/=", "np.divide"),
}
_COMMUTATIVE = ("add", "mul")


def is_cheap(node: Node) -> bool:
    """Whether the expression may be written twice: names, index arithmetic along one axis, one step on numbers."""
    if node.op in UNNAMED or (node.kind == "int" and len(node.labels) <= 1 and node.op in ELEMENTWISE | {"arange"}):
        return True
    return node.op in ELEMENTWISE and not node.labels and all(arg.op in LEAVES for arg in node.args)


@dataclass
class Emitter:
    """Writes the statements that compute the roots.

    Args:
        stored: the layout of each node (:func:`symres.numeric.layout.assign`).
        given: the names of the inputs.
        wanted: the names that the derivation gave to nodes.
        results: the nodes that are returned.
        namer: makes new names.
        in_place: whether arrays may be changed in place.
    """

    stored: Mapping[Node, Layout]
    given: Mapping[Node, str]
    wanted: Mapping[Node, str]
    results: Sequence[Node]
    namer: Namer
    in_place: bool = True
    lines: list[str] = field(default_factory=list)

    def run(self) -> Speller:
        """Write all statements; the speller knows the names and what the source needs."""
        names = dict(self.given)
        self.speller = Speller(self.stored, names)
        nodes = order(self.results)
        uses = self._uses(nodes)
        named = [node for node in nodes if node not in self.given and self._is_named(node, uses[node])]
        chosen = set(named) | _small_parts(nodes, set(named))
        named = [node for node in nodes if node in chosen]
        reads = {node: self._reads(node, chosen) for node in named}
        sequence = _schedule(named, reads)
        last = {leaf: k for k, node in enumerate(sequence) for leaf in reads[node]}
        # What is returned stays, and so does what something else may be a view of.
        views = [node for node in (*named, *self.results) if node.op in ("rename", "take")]
        kept = {*self.results, *(leaf for node in views for leaf in self._reads(node, chosen))}
        for k, node in enumerate(sequence):
            self.dying = {
                leaf
                for leaf, count in reads[node].items()
                if last[leaf] == k and count == 1 and leaf not in kept and leaf in self.speller.names
            }
            name = self.namer.name(node, self.wanted.get(node), self.speller.names)
            self._statement(node, name)
            names[node] = name
        return self.speller

    def _uses(self, nodes: Sequence[Node]) -> dict[Node, int]:
        uses = dict.fromkeys(nodes, 0)
        for node in self.results:
            uses[node] += 1
        for node in reversed(nodes):
            for arg, _ in demands(node, self.stored[node]):
                uses[arg] += uses[node] if is_cheap(node) else 1
        return uses

    def _is_named(self, node: Node, uses: int) -> bool:
        if node in self.wanted or _is_gathering(node):
            return True
        return uses > 1 and not is_cheap(node)

    def _reads(self, node: Node, named: set[Node]) -> dict[Node, int]:
        """How often the statement of a node reads each of the named nodes."""
        found: dict[Node, int] = {}
        stack = [arg for arg, _ in demands(node, self.stored[node])]
        while stack:
            arg = stack.pop()
            if arg in named:
                found[arg] = found.get(arg, 0) + 1
            else:
                stack.extend(part for part, _ in demands(arg, self.stored[arg]))
        return found

    # ------------------------------------------------------------ statements

    def _statement(self, node: Node, name: str) -> None:
        source, _ = self.speller.compute(node, self.stored[node])
        if not self.in_place or not self._gains(node):
            self.lines.append(f"{name} = {source}")
            return
        before = len(self.lines)
        self._into(node, name)
        if len(self.lines) > before + 1:
            self.lines.insert(before, f"# {name} = {source}")

    def _gains(self, node: Node) -> bool:
        """Whether computing in place saves a temporary: two operations of full size, or memory to use again."""
        small = len(node.labels) < _BIG or None in self.stored[node]
        if small or node.op not in ELEMENTWISE or node.kind != "real":
            return False
        parts = node.args
        return any(self._is_step(arg, node) or (self._is_free(arg, node) and _has_in_place(node)) for arg in parts)

    def _is_step(self, arg: Node, node: Node) -> bool:
        """Whether the part is an unnamed elementwise expression of the same size, to be computed where its whole is."""
        return (
            arg not in self.speller.names
            and arg.op in ELEMENTWISE
            and arg.op != "unknown"  # what it returns may not be its own
            and arg.kind == "real"
            and set(arg.labels) == set(node.labels)
            and self.stored[arg] == self.stored[node]
            and _has_in_place(node)
        )

    def _is_free(self, arg: Node, node: Node) -> bool:
        """Whether the part is an array of ours of the same shape that nobody needs after this statement."""
        computed = arg.op in ELEMENTWISE | REDUCTIONS | {"einsum"} and arg.op != "unknown"
        return arg in self.dying and computed and arg.kind == "real" and self.stored[arg] == self.stored[node]

    def _into(self, node: Node, name: str) -> None:
        """Compute the node in a new array, or one to use again, under ``name``."""
        steps = [self._is_step(arg, node) for arg in node.args]
        free = [self._is_free(arg, node) for arg in node.args]
        chosen = steps.index(True) if any(steps) else free.index(True) if any(free) and _has_in_place(node) else None
        if chosen is None:
            self.lines.append(f"{name} = {self.speller.compute(node, self.stored[node])[0]}")
            return
        start = node.args[chosen]
        if steps[chosen]:
            self._into(start, name)
            self._apply(node, chosen, name, name)
        else:
            self.dying.discard(start)
            self._apply(node, chosen, self.speller.names[start], name)

    def _apply(self, node: Node, chosen: int, memory: str, name: str) -> None:
        """One operation in the memory of the part ``chosen``; its result is called ``name``."""
        if len(node.args) == 1 or node.op == "maximum":
            others = [
                self.speller.text(*demands(node, self.stored[node])[k]) for k in range(len(node.args)) if k != chosen
            ]
            self._call(_function(node), [memory, *others], memory, name)
            return
        other, layout = demands(node, self.stored[node])[1 - chosen]
        free = [self._is_step(other, node) and self._is_free(arg, other) for arg in other.args]
        if any(free):
            # The other part in its turn is computed in the memory of a part of it.
            source = self.speller.names[other.args[free.index(True)]]
            self._apply(other, free.index(True), source, source)
        else:
            source = self.speller.text(other, layout)
        operator, function = _OPERATORS[node.op]
        if memory == name and (chosen == 0 or node.op in _COMMUTATIVE):
            self.lines.append(f"{name} {operator} {source}")
        else:
            self._call(function, [memory, source] if chosen == 0 else [source, memory], memory, name)

    def _call(self, function: str, arguments: Sequence[str], memory: str, name: str) -> None:
        target = "" if memory == name else f"{name} = "
        self.lines.append(f"{target}{function}({', '.join(arguments)}, out={memory})")


def _is_gathering(node: Node) -> bool:
    """Whether the node reads at index arrays of several axes, or is such an index: hard to read inside an expression."""
    if node.op == "take":
        return any(len(index.labels) > 1 for index in node.args[1:])
    return node.op == "fun" and node.data[0] == "floordiv" and len(node.labels) > 1


def _small_parts(nodes: Sequence[Node], named: set[Node]) -> set[Node]:
    """Reductions inside a large elementwise expression, better named than nested; with the size they are divided by."""
    found: set[Node] = set()

    def search(node: Node) -> None:
        if node in named:
            return
        if node.op in REDUCTIONS or node.op == "einsum" or _is_mean_of_product(node):
            found.add(node)
        elif node.op in ELEMENTWISE:
            for arg in node.args:
                search(arg)

    for node in nodes:
        if node.op in ELEMENTWISE and len(node.labels) >= _BIG:
            for arg in node.args:
                if len(arg.labels) < len(node.labels):
                    search(arg)
    return found


def _is_mean_of_product(node: Node) -> bool:
    return node.op == "div" and node.args[0].op == "einsum" and node.args[1].op == "size"


def _function(node: Node) -> str:
    """The NumPy function of an operation on one array, to be called with ``out``."""
    if node.op == "pow":
        return "np.square" if node.data[0] == 2 else "np.sqrt"
    if node.op == "fun":
        return FUNCTIONS[node.data[0]].numpy.partition("(")[0]
    return {"neg": "np.negative", "maximum": "np.maximum"}[node.op]


def _has_in_place(node: Node) -> bool:
    if node.op == "fun":
        numpy = FUNCTIONS[node.data[0]].numpy
        return numpy.startswith("np.") and numpy.endswith("({0})")
    if node.op == "pow":
        return node.data[0] in (2, 0.5)
    return node.op in ("add", "sub", "mul", "div", "neg", "maximum")


def _schedule(named: Sequence[Node], reads: Mapping[Node, Mapping[Node, int]]) -> list[Node]:
    """An order in which what is small is computed as soon as it can be, so that large arrays are not kept for it."""
    place = {node: k for k, node in enumerate(named)}
    missing = {node: len(reads[node]) for node in named}
    readers: dict[Node, list[Node]] = {node: [] for node in named}
    for node in named:
        for leaf in reads[node]:
            readers[leaf].append(node)

    def key(node: Node) -> tuple[bool, int]:
        return all(len(leaf.labels) <= len(node.labels) for leaf in reads[node]), place[node]

    ready = [(key(node), node) for node in named if not missing[node]]
    heapq.heapify(ready)
    sequence = []
    while ready:
        _, node = heapq.heappop(ready)
        sequence.append(node)
        for reader in readers[node]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, (key(reader), reader))
    return sequence
