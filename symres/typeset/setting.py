"""From terms to layout: one rule for each kind of formula.

``Setting`` is what a rule needs to know of its surroundings. The rules for terms are in :mod:`symres.typeset.rules`,
:mod:`~symres.typeset.products` and :mod:`~symres.typeset.functions`. A further kind of formula, in any room above,
joins by ``@layout.register``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Term, Var, substitute, walk
from symres.language.formula import Relation
from symres.typeset import layout as tree
from symres.typeset.indices import printed
from symres.typeset.layout import Level, Node, Piece, relation, row
from symres.typeset.letters import bound_by
from symres.typeset.notation import Notation


@dataclass(frozen=True)
class Setting:
    """The surroundings of a formula.

    Args:
        notation: the symbols and conventions of the document.
        letters: the letters of the index variables.
        raw: whether index variables are printed as they are, inside an index, or as the numbers they stand for.
        numerator: what is wider, in ems, is not put into a fraction or under a root, where no line can break.
        dropped: the axes of a whole tensor, which is printed without them.
        scope: the variables in force: the free ones of the formula and those bound around.
    """

    notation: Notation
    letters: Mapping[Var, Node] = field(default_factory=dict)
    raw: bool = False
    numerator: float = 14.0
    dropped: frozenset[Var] = frozenset()
    scope: frozenset[Var] = frozenset()

    def bind(self, variables: tuple[Var, ...], body: Term) -> tuple[tuple[Var, ...], Term, Setting]:
        """The variables and the body of a binder, and the setting of the body.

        A variable that is in force already would be printed with the letter of another one: it is renamed.
        """
        fresh = {var: var.fresh() for var in variables if var in self.scope or var not in self.letters}
        letters = dict(self.letters)
        if fresh:
            body = substitute(body, fresh)
            inside = {var for node in walk(body) for var in (*bound_by(node), *node.free)}
            for var in fresh.values():
                near = [letters[other] for other in self.scope | inside if other in letters]
                letters[var] = self.notation.letter(var, near)
        bound = tuple(fresh.get(var, var) for var in variables)
        scope, dropped = self.scope.union(bound), self.dropped.difference(bound)
        return bound, body, replace(self, letters=letters, scope=scope, dropped=dropped)

    def index(self, value: Term, dim: Term) -> Node:
        """An index of an axis of length ``dim``, given by value."""
        shown = printed(value, self.notation.base(dim), self.notation.base)
        return layout(shown, replace(self, raw=True)).node

    def indices(self, values: Sequence[Term], dims: Sequence[Term], axes: tuple[int, ...] | None = None) -> Node | None:
        """The indices of an entry: side by side when they are single letters, otherwise with commas.

        ``axes``: how many indices belong to each axis; those of one axis are put in brackets when there are several.
        """
        shown, place = list[Node](), 0
        for count in axes if axes is not None and sum(axes) == len(values) else (1,) * len(values):
            pairs = list(zip(values, dims, strict=True))[place : place + count]
            nodes = [self.index(value, dim) for value, dim in pairs if value not in self.dropped]
            shown += [tree.Fence(tree.separated(nodes))] if len(nodes) > 1 else nodes
            place += count
        if not shown:
            return None
        single = all(isinstance(node, (tree.Letter, tree.Sign)) or _primed(node) for node in shown)
        return row(*shown) if single else tree.separated(shown)

    def entry(
        self, symbol: Node, args: tuple[Term, ...], dims: tuple[Term, ...], axes: tuple[int, ...] | None = None
    ) -> Node:
        """A symbol with indices; those along the depth are superscripts in parentheses."""
        along = [self.notation.counts_layers(dim) for dim in dims]
        if not any(along):
            return tree.subscripted(symbol, self.indices(args, dims, axes))
        sub, sup = (
            self.indices(
                [arg for arg, layer in zip(args, along, strict=True) if layer is side],
                [dim for dim, layer in zip(dims, along, strict=True) if layer is side],
            )
            for side in (False, True)
        )
        return tree.subscripted(symbol, sub, tree.Fence(sup) if sup is not None else None)


@singledispatch
def layout(formula: Any, setting: Setting) -> Piece:
    """The layout of a formula.

    Raises:
        Unsupported: for a class of formula without a rule.
    """
    raise Unsupported(f"a {type(formula).__name__} cannot be typeset")


@layout.register
def _(formula: Relation, setting: Setting) -> Piece:
    parts: list[Node] = [layout(formula.parts[0], setting).node]
    for sign, part in zip(formula.ops, formula.parts[1:], strict=True):
        parts += [relation(sign), layout(part, setting).node]
    return Piece(row(*parts), Level.RELATION)


def _primed(node: Node) -> bool:
    return isinstance(node, tree.Script) and node.sub is None and isinstance(node.base, (tree.Letter, tree.Sign))
