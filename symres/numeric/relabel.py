"""The same expression under other index names: found again, it is computed once and read with its axes exchanged.

Where one definition reads s[b, t, u] and another s[b, u, t], what they make of it entry by entry is the same array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symres.kernel.terms import Var
from symres.numeric.nodes import ELEMENTWISE, Graph, Node


def found_again(graph: Graph, op: str, args: Sequence[Node], data: tuple[Any, ...]) -> Node | None:
    """An elementwise expression made before under other labels, as that array renamed; None where there is none."""
    back = _mapping(args)
    if not back:
        return None
    turned = [relabelled(graph, arg, back) for arg in args]
    parts = [arg for arg in turned if arg is not None]
    if len(parts) < len(args) or not graph.known(op, parts, data):
        return None
    node = graph.elementwise(op, parts, data)
    forth = {old: new for new, old in back.items()}
    labels = tuple(forth.get(label, label) for label in node.labels)
    return node if labels == node.labels else graph.make("rename", (node,), labels, labels)


def _mapping(args: Sequence[Node]) -> dict[Var, Var]:
    """What the renamed parts say about labels, each new one to its old one; empty where they do not agree."""
    back: dict[Var, Var] = {}
    for arg in args:
        if arg.op == "rename":
            for new, old in zip(arg.labels, arg.args[0].labels, strict=True):
                if back.setdefault(new, old) is not old:
                    return {}
    others = {label for arg in args for label in arg.labels if label not in back}
    return {} if len({*back.values(), *others}) < len(back) + len(others) else back


def relabelled(graph: Graph, node: Node, names: Mapping[Var, Var]) -> Node | None:
    """The array under other labels, where that needs no exchange of axes in memory; else None."""
    if not any(label in names for label in node.labels):
        return node
    if node.op == "arange":
        return graph.make("arange", node.args, (), tuple(names[label] for label in node.labels))
    if node.op == "rename":
        labels = tuple(names.get(label, label) for label in node.labels)
        return node.args[0] if labels == node.args[0].labels else graph.make("rename", node.args, labels, labels)
    if node.op in ELEMENTWISE:
        parts = [relabelled(graph, arg, names) for arg in node.args]
        known = [part for part in parts if part is not None]
        return graph.elementwise(node.op, known, node.data) if len(known) == len(parts) else None
    return None
