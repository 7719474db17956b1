"""Sums that are computed anyway: of u v where w = u v is there, and means beside the sum of the same array."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from symres.kernel.terms import Size
from symres.numeric.layout import order
from symres.numeric.nodes import Graph, Node


def share_products(graph: Graph, roots: Sequence[Node]) -> list[Node]:
    """The roots with contractions of two arrays as sums of their product, and means as sums, where those are there."""
    nodes = order(roots)
    products = {frozenset(node.args): node for node in nodes if node.op == "mul" and len(set(node.args)) == 2}
    sums = {(node.args, frozenset(node.data)): node for node in nodes if node.op == "sum"}
    new: dict[Node, Node] = {}

    def renew(node: Node) -> None:
        args = [new[arg] for arg in node.args]
        same = all(a is b for a, b in zip(args, node.args, strict=True))
        new[node] = node if same else graph.make(node.op, args, node.data, node.labels)

    for node in nodes:
        product = products.get(frozenset(node.args)) if node.op == "einsum" else None
        # The axes must come in the same order: what reads the sum goes by it.
        if product is not None and node.labels == tuple(label for label in product.labels if label not in node.data):
            renew(product)  # of the same parts, which come before
            new[node] = graph.make("sum", (new[product],), node.data, node.labels)
        elif node.op == "mean" and (total := sums.get((node.args, frozenset(node.data)))) is not None and _sizes(node):
            renew(total)
            new[node] = graph.div(new[total], reduce(graph.mul, (graph.size(label.dim) for label in node.data)))
        else:
            renew(node)
        if node in graph.names:
            graph.names.setdefault(new[node], graph.names[node])
    return [new[root] for root in roots]


def _sizes(node: Node) -> bool:
    """Whether a mean is over axes whose lengths are plain sizes."""
    return all(isinstance(label.dim, Size) for label in node.data)
