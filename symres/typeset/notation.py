"""The notation of a document: which symbol each name gets, how indices are counted, what the user renamed.

A notation is made once for all formulas of a document, so that one name has one symbol and no symbol two names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symres.errors import UsageError
from symres.kernel.terms import Size, Term, Var, walk
from symres.language.formula import ADJOINT
from symres.language.functions import FUNCTIONS, split_name
from symres.typeset.layout import Fraction, Letter, Node, Row, Sign
from symres.typeset.letters import POOLS, another, choose, groupings_of, groups_of, names_of
from symres.typeset.names import derivative, literal, symbols

_DEPTHS = frozenset({"L", "depth", "n_layers", "num_layers"})
"""Names of sizes that may count layers."""

_RESERVED = frozenset(("e", "d"))
"""Letters that would be read as the base of the exponential or as a differential."""
_NAME = re.compile(r"[^\W\d]\w*'?")


@dataclass(frozen=True)
class Notation:
    """Symbols by name and the conventions of print.

    Args:
        overrides: names to be printed as other names: ``{"x_hat": "z", "rstd": "s"}``.
        first: the number of the first index in print, 1 or 0; inside, indices count from 0.
        depth: the sizes that count layers; indices along them start from 0 and are printed as superscripts in
            parentheses. ``None``: those named so that have states before and after each layer, L + 1 of them.
        upstream: the loss, whose derivative by T the tensor ∂T is.
        pools: letters for indices by size, before those of :data:`symres.typeset.letters.POOLS`.
        symbols: the symbols that :meth:`of` found.
        axes: by array, how many sizes make up each of its axes, as :meth:`of` found: the indices of one axis are
            printed in brackets, x_{b,(g,k)}.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    first: int = 1
    depth: frozenset[str] | None = None
    upstream: str = "loss"
    pools: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, Node] = field(default_factory=dict)
    axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def of(self, *formulas: Any) -> Notation:
        """This notation with a symbol for every name in the formulas.

        Raises:
            UsageError: if an override is no name, or gives two names one symbol.
        """
        names = names_of(formulas)
        tensors = {name.removeprefix(ADJOINT) for kind, name in names if kind in ("tensor", "function", "size")}
        tensors |= {split_name(name)[0] for kind, name in names if kind == "elementwise"} - set(FUNCTIONS)
        found: dict[str, Node] = {}
        # Names that stand for themselves come first: what is called g keeps the g, dout then has to do without.
        ordered = sorted(
            tensors, key=lambda name: (name not in self.overrides, symbols(name)[0] != literal(name), name)
        )
        taken: dict[Node, str] = {}
        for name in ordered:
            symbol = self._symbol(name, taken)
            found[name] = symbol
            taken[symbol] = name
        depth = _DEPTHS & {name for kind, name in names if kind == "states"} if self.depth is None else self.depth
        axes = {**self.axes, **groupings_of(formulas)}
        return replace(self, depth=depth, symbols={**self.symbols, **found}, axes=axes)

    def _symbol(self, name: str, taken: Mapping[Node, str]) -> Node:
        if name in self.overrides:
            wanted = self.overrides[name]
            if not _NAME.fullmatch(wanted):
                raise UsageError(f"{wanted!r} is no name", remedy="Write it like a variable: x_hat=z, rstd=s, W1=A_1.")
            symbol = symbols(wanted)[0]
            if symbol in taken:
                raise UsageError(f"{name} and {taken[symbol]} would both be printed as {wanted}")
            return symbol
        return next(symbol for symbol in (*symbols(name), Row((literal(name),))) if symbol not in taken)

    def symbol(self, name: str) -> Node:
        """The symbol of a tensor, a function or a size; ∂T is the derivative of the loss by T."""
        if name.startswith(ADJOINT):
            return derivative(self.symbol(self.upstream), self.symbol(name.removeprefix(ADJOINT)))
        found = self.symbols.get(name)
        return found if found is not None else symbols(name)[0]

    def counts_layers(self, dim: Term) -> bool:
        """Whether an axis of this length runs along the depth."""
        depth = self.depth or ()
        return any(isinstance(node, Size) and node.name in depth for node in walk(dim)) or any(
            isinstance(node, Var) and self.counts_layers(node.dim) for node in walk(dim)
        )

    def base(self, dim: Term) -> int:
        """The number of the first index of an axis of this length in print."""
        return 0 if self.counts_layers(dim) else self.first

    def letters(self, document: Any) -> dict[Var, Node]:
        """Letters for all index variables of a formula or a document, whose names this notation knows."""
        return choose(groups_of(document), self._taken(), {**POOLS, **self.pools})

    def letter(self, var: Var, near: Iterable[Node]) -> Node:
        """A letter for one more variable, other than those near it."""
        return another(var, near, self._taken(), {**POOLS, **self.pools})

    def _taken(self) -> frozenset[str]:
        return _RESERVED.union(*(_letters(symbol) for symbol in self.symbols.values()))


def _letters(node: Node) -> set[str]:
    """The Latin letters a symbol is made of, those in its scripts aside."""
    if isinstance(node, Letter):
        return {node.text}
    if isinstance(node, (Fraction, Row, Sign)):
        return set()
    base = getattr(node, "base", None) or getattr(node, "body", None)
    return _letters(base) if isinstance(base, Node) else set()
