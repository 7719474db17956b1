"""Sums of products: which factors to multiply, which to contract, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

from symres.kernel.terms import Var
from symres.numeric.nodes import Graph, Labels, Node

Scale = Callable[[Var], Node]


@dataclass
class _Quotient:
    """A quotient in the making; one of the two may still be missing."""

    above: Node | None = None
    below: Node | None = None

    @property
    def labels(self) -> set[Var]:
        return {label for node in (self.above, self.below) if node is not None for label in node.labels}

    def times(self, graph: Graph, other: _Quotient) -> None:
        """Multiply by another quotient, which is written first."""
        self.above, self.below = _times(graph, other.above, self.above), _times(graph, other.below, self.below)
        if self.above is not None and self.below is not None:
            self.above, self.below = graph.div(self.above, self.below), None


def _times(graph: Graph, left: Node | None, right: Node | None) -> Node | None:
    return left or right if left is None or right is None else graph.mul(left, right)


def product(graph: Graph, numerators: Iterable[Node], denominators: Iterable[Node] = ()) -> Node:
    """The quotient of two products, small arrays first, so that few operations are of full size.

    Small arrays over different axes are not multiplied with each other, which would make a large one, but each with
    the large one.
    """
    nodes = [*((node, True) for node in numerators), *((node, False) for node in denominators)]
    waiting: list[_Quotient] = []
    for labels in sorted(
        {frozenset(node.labels) for node, _ in nodes}, key=lambda labels: (len(labels), graph.rank(labels))
    ):
        group = _Quotient()
        for node, is_above in nodes:
            if set(node.labels) == labels:
                name = "above" if is_above else "below"
                setattr(group, name, _times(graph, getattr(group, name), node))
        for part in (part for part in waiting if part.labels <= labels):
            group.times(graph, part)
        group.times(graph, _Quotient())
        waiting = [*(part for part in waiting if not part.labels <= labels), group]
    total = _Quotient()
    for part in waiting:
        part.times(graph, total)
        total = part
    above = total.above or graph.number(1)
    return above if total.below is None else graph.div(above, total.below)


def contract(graph: Graph, factors: list[Node], bound: Iterable[Var], scale: Scale) -> Node:
    """The sum over the bound labels of the product of the factors.

    ``scale`` gives the number of values of an index, by which the sum is multiplied where no factor depends on it.
    """
    bound = tuple(bound)
    outside = [node for node in factors if not set(node.labels) & set(bound)]
    idle = [scale(var) for var in bound if not any(var in node.labels for node in factors)]
    parts = [
        _component(graph, group, tuple(var for var in bound if any(var in node.labels for node in group)))
        for group in _components([node for node in factors if set(node.labels) & set(bound)], bound)
    ]
    return product(graph, [*outside, *idle, *parts])


def _components(factors: list[Node], bound: Labels) -> list[list[Node]]:
    """Groups of factors that share no bound label: their sums are separate."""
    groups: list[list[Node]] = []
    for node in factors:
        mine = {label for label in node.labels if label in bound}
        linked = [group for group in groups if any(mine & set(other.labels) for other in group)]
        groups = [group for group in groups if group not in linked]
        groups.append([*(other for group in linked for other in group), node])
    return groups


def _component(graph: Graph, factors: list[Node], bound: Labels) -> Node:
    while len(factors) > 2:
        factors = _merge(graph, factors) or _eliminate(graph, factors, bound)
    if len(factors) == 1:
        node = factors[0]
        here = tuple(label for label in node.labels if label in bound)
        if not here:
            return node
        if node.op == "pow" and node.data[0] == 2 and node.args[0].op not in ("number", "size"):
            return einsum(graph, node.args[0], node.args[0], here)
        if node.op == "mul" and node not in graph.names and all(set(here) & set(arg.labels) for arg in node.args):
            return einsum(graph, node.args[0], node.args[1], here)
        return graph.make("sum", (node,), here, tuple(label for label in node.labels if label not in here))
    left, right = factors
    return einsum(graph, left, right, tuple(label for label in bound if label in (*left.labels, *right.labels)))


def _merge(graph: Graph, factors: list[Node]) -> list[Node] | None:
    """Multiply two factors where one has all the labels of the other; a product made before is preferred."""
    pairs = [
        (one, other)
        for one, other in combinations(factors, 2)
        if set(one.labels) <= set(other.labels) or set(other.labels) <= set(one.labels)
    ]
    if not pairs:
        return None
    one, other = next((pair for pair in pairs if graph.known("mul", pair) or graph.known("mul", pair[::-1])), pairs[0])
    return _replace(factors, (one, other), graph.mul(*sorted((one, other), key=lambda node: len(node.labels))))


def _eliminate(graph: Graph, factors: list[Node], bound: Labels) -> list[Node]:
    """Contract the pair whose result is smallest, over the labels that no other factor has."""

    def gone(pair: tuple[Node, Node]) -> Labels:
        others = {label for node in factors if node not in pair for label in node.labels}
        return tuple(label for label in graph.join(pair) if label in bound and label not in others)

    def cost(pair: tuple[Node, Node]) -> tuple[int, int]:
        kept = len(graph.join(pair)) - len(gone(pair))
        return (kept - max(len(node.labels) for node in pair), kept)

    pair = min(combinations(factors, 2), key=cost)
    return _replace(factors, pair, einsum(graph, pair[0], pair[1], gone(pair)))


def _replace(factors: list[Node], pair: tuple[Node, Node], node: Node) -> list[Node]:
    rest = list(factors)
    place = rest.index(pair[0])
    for old in pair:
        rest.remove(old)
    rest.insert(min(place, len(rest)), node)
    return rest


def einsum(graph: Graph, left: Node, right: Node, gone: Labels) -> Node:
    """The sum over ``gone`` of the product of two arrays."""
    if not gone:
        return graph.mul(left, right)
    kept = [label for label in graph.join((left, right)) if label not in gone]
    # What is left of one array keeps its order; a product of two gets the one in which the definition is written.
    alone = any(set(kept) <= set(node.labels) for node in (left, right))
    if not alone and set(kept) <= set(graph.preferred):
        kept.sort(key=graph.preferred.index)
    return graph.make("einsum", (left, right), gone, tuple(kept))
