"""Sums of products: which factors to multiply, which to contract, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

from symres.kernel.terms import Var
from symres.numeric.nodes import Graph, Labels, Node

Scale = Callable[[Var], Node]


def product(graph: Graph, numerators: Iterable[Node], denominators: Iterable[Node] = ()) -> Node:
    """The quotient of two products, small arrays first, so that few operations are of full size."""
    above, below = (sorted(nodes, key=lambda node: len(node.labels)) for nodes in (numerators, denominators))
    result: Node | None = None
    pending: Node | None = None
    for width in sorted({len(node.labels) for node in (*above, *below)}):
        for node in (node for node in above if len(node.labels) == width):
            result = node if result is None else graph.mul(result, node)
        for node in (node for node in below if len(node.labels) == width):
            if result is not None and pending is None and len(result.labels) <= width:
                result = graph.div(result, node)
            else:
                pending = node if pending is None else graph.mul(pending, node)
        if result is not None and pending is not None:
            result, pending = graph.div(result, pending), None
    if result is None:
        result = graph.number(1)
    return result if pending is None else graph.div(result, pending)


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
    if set(kept) <= set(graph.preferred):
        kept.sort(key=graph.preferred.index)
    return graph.make("einsum", (left, right), gone, tuple(kept))
