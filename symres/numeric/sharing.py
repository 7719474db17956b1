"""Sums of products that are computed anyway: where w = u v has a name, the sum of u v is the sum of w."""

from __future__ import annotations

from collections.abc import Sequence

from symres.numeric.layout import order
from symres.numeric.nodes import Graph, Node


def share_products(graph: Graph, roots: Sequence[Node]) -> list[Node]:
    """The roots with every contraction of two arrays over their labels as a sum of their product, if that is there."""
    nodes = order(roots)
    products = {frozenset(node.args): node for node in nodes if node.op == "mul" and len(set(node.args)) == 2}
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
        else:
            renew(node)
        if node in graph.names:
            graph.names.setdefault(new[node], graph.names[node])
    return [new[root] for root in roots]
