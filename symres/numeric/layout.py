"""Where the axes of each array stand, and where an axis of length 1 is kept so that NumPy broadcasts.

A layout is a tuple with a label or ``None`` (an axis of length 1) for each axis in memory. Each use of an array asks
for one layout; where all uses agree on one that the operation can give directly (``keepdims=True``, say), it is stored
so, and no index with ``None`` is needed anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symres.kernel.terms import Var
from symres.numeric.nodes import ELEMENTWISE, REDUCTIONS, Node

Layout = tuple[Var | None, ...]


def project(layout: Layout, node: Node) -> Layout:
    """The layout in which ``node`` broadcasts against an array stored in ``layout``."""
    kept = [label if label in node.labels else None for label in layout]
    while kept and kept[0] is None:
        kept.pop(0)
    return tuple(kept)


def demands(node: Node, layout: Layout) -> list[tuple[Node, Layout]]:
    """The layouts in which ``node``, itself stored in ``layout``, wants its parts."""
    if node.op in ELEMENTWISE:
        return [(arg, project(layout, arg)) for arg in node.args]
    if node.op == "rename":
        back = dict(zip(node.labels, node.args[0].labels, strict=True))
        return [(node.args[0], tuple(back[label] if label is not None else None for label in layout))]
    if node.op == "take":
        base, *indices = node.args
        wanted = [(base, base.labels), *((index, project(node.data[2], index)) for index in indices)]
        scalars = [part for slot in node.data[0] if slot[0] == "span" for part in slot[2:4]]
        return [*wanted, *((scalar, ()) for scalar in scalars)]
    if node.op == "apply":
        _, outer, inner = node.data
        return [
            (arg, (*(label if label in arg.labels else None for label in outer), *own) if _moves(arg, own) else own)
            for arg, own in zip(node.args, inner, strict=True)
        ]
    return [(arg, arg.labels) for arg in node.args]


def _moves(arg: Node, own: Layout) -> bool:
    """Whether an argument of a general function differs from sample to sample."""
    return not set(arg.labels) <= set(own)


def order(roots: Iterable[Node]) -> list[Node]:
    """All nodes below the roots, parts before what is made of them."""
    done: dict[Node, None] = {}
    stack = [(node, False) for node in reversed(list(roots))]
    while stack:
        node, finished = stack.pop()
        if finished:
            done.setdefault(node)
        elif node not in done:
            stack.append((node, True))
            stack.extend((arg, False) for arg, _ in reversed(demands(node, node.labels)))
    return list(done)


def assign(roots: Sequence[tuple[Node, Layout]], fixed: dict[Node, Layout]) -> dict[Node, Layout]:
    """The layout in which each node is stored; ``fixed`` holds those of the inputs."""
    asked: dict[Node, list[Layout]] = {}
    for node, layout in roots:
        asked.setdefault(node, []).append(layout)
    stored: dict[Node, Layout] = {}
    for node in reversed(order(node for node, _ in roots)):
        wanted = set(asked.get(node, []))
        layout = wanted.pop() if len(wanted) == 1 else node.labels
        stored[node] = fixed.get(node) or _closest(node, layout)
        for arg, part in demands(node, stored[node]):
            asked.setdefault(arg, []).append(part)
    return stored


def _closest(node: Node, layout: Layout) -> Layout:
    """The layout itself where the operation gives it without moving data, else the node's own."""
    same_order = tuple(label for label in layout if label is not None) == node.labels
    if node.op in ELEMENTWISE and all(len(arg.labels) <= 1 for arg in node.args):
        return layout  # an outer combination of vectors has no order of its own
    if node.op in ELEMENTWISE or node.op == "rename":
        return layout if same_order else node.labels
    if node.op in REDUCTIONS:
        kept = tuple(label if label in node.labels else None for label in node.args[0].labels)
        return layout if layout in (node.labels, kept) else node.labels
    if node.op == "einsum":
        return layout  # its axes come in any order
    if node.op in ("arange", "take", "apply"):
        return layout if same_order else node.labels
    return node.labels
