"""Matrix expressions: what they print as, and the entries they stand for.

A matrix expression expands back to a term, entry by entry, so that the kernel can check that what is printed is what
was proved. :mod:`symres.typeset.recognise` finds them in terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from symres.kernel.terms import ONE, Num, Term, Var, add, delta, mul, substitute, sum_
from symres.typeset import layout as tree
from symres.typeset.layout import Level, Node, Piece, at, atom, row
from symres.typeset.patterns import factors, signed
from symres.typeset.products import beside, product
from symres.typeset.setting import Setting, layout

Shape = tuple[Term, Term | None]
"""Rows and columns; a vector is a column and has no number of columns."""


class Matrix:
    """A matrix or column vector given by an expression."""

    @property
    def shape(self) -> Shape:
        """Its rows and columns."""
        raise NotImplementedError

    def at(self, i: Term, j: Term | None) -> Term:
        """The entry in row ``i`` and column ``j``, which is ``None`` for a vector; indices count from 0."""
        raise NotImplementedError


@dataclass(frozen=True)
class Whole(Matrix):
    """The matrix or vector with the entries ``body`` for the index variables ``i`` and ``j``."""

    body: Term
    i: Var
    j: Var | None = None

    @property
    def shape(self) -> Shape:
        return self.i.dim, self.j.dim if self.j is not None else None

    def at(self, i: Term, j: Term | None) -> Term:
        mapping = {self.i: i} | ({self.j: j} if self.j is not None and j is not None else {})
        return substitute(self.body, mapping)


@dataclass(frozen=True)
class Identity(Matrix):
    """The identity matrix."""

    size: Term

    @property
    def shape(self) -> Shape:
        return self.size, self.size

    def at(self, i: Term, j: Term | None) -> Term:
        return delta(i, j if j is not None else 0)


@dataclass(frozen=True)
class Ones(Matrix):
    """The vector of ones."""

    size: Term

    @property
    def shape(self) -> Shape:
        return self.size, None

    def at(self, i: Term, j: Term | None) -> Term:
        return ONE


@dataclass(frozen=True)
class Transpose(Matrix):
    """The transpose of a matrix; that of a vector is a row, and occurs inside a chain only."""

    of: Matrix

    @property
    def shape(self) -> Shape:
        rows, columns = self.of.shape
        return (Num(1), rows) if columns is None else (columns, rows)

    def at(self, i: Term, j: Term | None) -> Term:
        if self.of.shape[1] is None:
            return self.of.at(j if j is not None else i, None)
        return self.of.at(j if j is not None else Num(0), i)


@dataclass(frozen=True)
class Diagonal(Matrix):
    """The diagonal matrix of a vector."""

    of: Matrix

    @property
    def shape(self) -> Shape:
        return self.of.shape[0], self.of.shape[0]

    def at(self, i: Term, j: Term | None) -> Term:
        return mul(self.of.at(i, None), delta(i, j if j is not None else 0))


@dataclass(frozen=True)
class Entrywise(Matrix):
    """The product entry by entry."""

    parts: tuple[Matrix, ...]

    @property
    def shape(self) -> Shape:
        return self.parts[0].shape

    def at(self, i: Term, j: Term | None) -> Term:
        return mul(*(part.at(i, j) for part in self.parts))


@dataclass(frozen=True)
class Chain(Matrix):
    """The matrix product of the parts, of which there are at least two."""

    parts: tuple[Matrix, ...]

    @property
    def shape(self) -> Shape:
        return self.parts[0].shape[0], self.parts[-1].shape[1]

    def at(self, i: Term, j: Term | None) -> Term:
        return reduce(_Pair, self.parts).at(i, j)


@dataclass(frozen=True)
class _Pair(Matrix):
    left: Matrix
    right: Matrix

    @property
    def shape(self) -> Shape:
        return self.left.shape[0], self.right.shape[1]

    def at(self, i: Term, j: Term | None) -> Term:
        inner = self.left.shape[1]
        if inner is None or inner is ONE:
            return mul(self.left.at(i, None), self.right.at(Num(0), j))
        if isinstance(self.left, Diagonal):
            return mul(self.left.of.at(i, None), self.right.at(i, j))
        k = Var("k", inner)
        return sum_(k, mul(self.left.at(i, k), self.right.at(k, j)))


@dataclass(frozen=True)
class Scaled(Matrix):
    """A scalar times a matrix; ``inner`` are further scalars, products of a row and a column."""

    scalar: Term
    of: Matrix
    inner: tuple[Matrix, ...] = ()

    @property
    def shape(self) -> Shape:
        return self.of.shape

    def at(self, i: Term, j: Term | None) -> Term:
        return mul(self.scalar, *(part.at(Num(0), None) for part in self.inner), self.of.at(i, j))


@dataclass(frozen=True)
class Total(Matrix):
    """The sum of the parts."""

    parts: tuple[Matrix, ...]

    @property
    def shape(self) -> Shape:
        return self.parts[0].shape

    def at(self, i: Term, j: Term | None) -> Term:
        return add(*(part.at(i, j) for part in self.parts))


@layout.register
def _(formula: Whole, setting: Setting) -> Piece:
    gone = {formula.i} | ({formula.j} if formula.j is not None else set())
    return layout(formula.body, replace(setting, dropped=setting.dropped | gone))


@layout.register
def _(formula: Identity, setting: Setting) -> Piece:
    return atom(tree.Letter("I"))


@layout.register
def _(formula: Ones, setting: Setting) -> Piece:
    return atom(tree.Bold("1"))


@layout.register
def _(formula: Transpose, setting: Setting) -> Piece:
    node, top = at(layout(formula.of, setting), Level.ATOM), tree.Sign("top")
    if isinstance(node, tree.Script):
        return Piece(tree.subscripted(node, None, top), Level.FACTOR)
    return Piece(tree.Script(node, sup=top), Level.FACTOR)


@layout.register
def _(formula: Diagonal, setting: Setting) -> Piece:
    inner = layout(formula.of, setting).node
    return Piece(row(tree.Upright("diag", operator=True), tree.Fence(inner)), Level.FACTOR)


@layout.register
def _(formula: Entrywise, setting: Setting) -> Piece:
    items: list[Node] = []
    for part in formula.parts:
        items += [tree.Op("odot")] if items else []
        items.append(at(layout(part, setting), Level.FACTOR))
    # Between a sum and a product: it is put in brackets inside a matrix product.
    return Piece(tree.Row(tuple(items)), Level.OPERATOR)


@layout.register
def _(formula: Chain, setting: Setting) -> Piece:
    pieces = [Piece(at(layout(part, setting), Level.PRODUCT), Level.FACTOR) for part in formula.parts]
    return beside(pieces)


@layout.register
def _(formula: Scaled, setting: Setting) -> Piece:
    inner = [Piece(tree.Fence(layout(part, setting).node), Level.ATOM) for part in formula.inner]
    body = layout(formula.of, setting)
    return product(factors(formula.scalar), setting, (*inner, Piece(at(body, Level.PRODUCT), Level.FACTOR)))


@layout.register
def _(formula: Total, setting: Setting) -> Piece:
    items: list[Node] = []
    for part in formula.parts:
        negative = isinstance(part, Scaled) and signed(part.scalar).negative
        if isinstance(part, Scaled) and negative:
            positive = signed(part.scalar).term
            part = part.of if positive is ONE and not part.inner else replace(part, scalar=positive)
        if items or negative:
            items.append(tree.Op("-" if negative else "+", "binary" if items else "unary"))
        items.append(at(layout(part, setting), Level.OPERATOR))
    return Piece(tree.Row(tuple(items)), Level.SUM)
