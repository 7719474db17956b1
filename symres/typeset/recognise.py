"""Matrix forms of terms: contractions become matrix products, deltas the identity, plain sums the vector of ones.

A product of entries is read as a graph: index variables are its nodes, entries with two of them its edges, entries with
one its ends. What hangs together through summed variables must be a chain; chains are matrix products. Everything that
is no chain has no matrix form here, and the answer is ``None``, never a guess: the caller checks it with the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from symres.kernel.terms import ONE, Add, Apply, Entry, Fun, Iverson, Mul, Sum, Term, Var, delta, mul
from symres.typeset.matrix import (
    Chain,
    Diagonal,
    Entrywise,
    Identity,
    Matrix,
    Ones,
    Scaled,
    Total,
    Transpose,
    Whole,
)


class _NoForm(Exception):
    """The term has no matrix form of the kind that is looked for."""


def matrix_form(body: Term, i: Var, j: Var | None = None) -> Matrix | None:
    """The matrix whose entry in row ``i`` and column ``j`` is the term, or the vector with the entries ``i``.

    ``None`` if there is none of the kinds known here. Other free variables of the term stay fixed.
    """
    try:
        return _form(body, _Place(i, j))
    except _NoForm:
        return None


@dataclass(frozen=True)
class _Place:
    """The variables of row and column."""

    i: Var
    j: Var | None

    @property
    def both(self) -> frozenset[Var]:
        return frozenset((self.i,) if self.j is None else (self.i, self.j))


def _form(term: Term, place: _Place) -> Matrix:
    if isinstance(term, Add):
        return Total(tuple(_form(part, place) for part in term.args))
    parts = term.args if isinstance(term, Mul) else (term,)
    sums = [part for part in parts if isinstance(part, Add) and part.free & place.both]
    if len(sums) == 1:
        rest = [part for part in parts if part is not sums[0]]
        return _times(rest, _form(sums[0], place), place)
    return _monomial(term, place)


def _times(parts: list[Term], body: Matrix, place: _Place) -> Matrix:
    """The parts, each a scalar or a vector along rows or columns, times a matrix."""
    scalar = mul(*(part for part in parts if not part.free & place.both))
    rows = [_end(part, place.i) for part in parts if part.free & place.both == {place.i}]
    columns = [_end(part, place.j) for part in parts if place.j is not None and part.free & place.both == {place.j}]
    if sum(1 for part in parts if part.free & place.both) != len(rows) + len(columns):
        raise _NoForm
    return _scaled(scalar, (), _framed(rows, [body], columns, place))


def _framed(rows: list[Matrix], bodies: list[Matrix], columns: list[Matrix], place: _Place) -> Matrix:
    """Vectors along the rows and along the columns with matrices entry by entry between them."""
    if place.j is None:
        parts = [*rows, *bodies]
        return _entrywise(parts) if parts else Ones(place.i.dim)
    if not bodies:
        left = _entrywise(rows) if rows else Ones(place.i.dim)
        right = _entrywise(columns) if columns else Ones(place.j.dim)
        return _chain([*_links(left), Transpose(right)])
    middle = [_entrywise(bodies)]
    if rows:
        middle.insert(0, Diagonal(_entrywise(rows)))
    if columns:
        middle.append(Diagonal(_entrywise(columns)))
    return _chain(middle)


def _links(matrix: Matrix) -> list[Matrix]:
    return list(matrix.parts) if isinstance(matrix, Chain) else [matrix]


def _chain(parts: list[Matrix]) -> Matrix:
    return parts[0] if len(parts) == 1 else Chain(tuple(parts))


def _entrywise(parts: list[Matrix]) -> Matrix:
    return parts[0] if len(parts) == 1 else Entrywise(tuple(parts))


def _scaled(scalar: Term, inner: tuple[Matrix, ...], body: Matrix) -> Matrix:
    if isinstance(body, Scaled):
        return _scaled(mul(scalar, body.scalar), inner + body.inner, body.of)
    if len(inner) == 1 and body.shape[1] is None and isinstance(inner[0], Chain):
        # u (vᵀw) = u vᵀ w, and vᵀw = wᵀv where that brings u uᵀ together
        parts = inner[0].parts
        if len(parts) == 2 and _same(parts[1], body) and isinstance(parts[0], Transpose):
            parts = (Transpose(body), parts[0].of)
        body, inner = _chain([*_links(body), *parts]), ()
    return body if scalar is ONE and not inner else Scaled(scalar, body, inner)


def _same(left: Matrix, right: Matrix) -> bool:
    """Whether two vectors have the same entries, term for term."""
    k = Var("k", left.shape[0])
    return left.shape == right.shape and left.at(k, None) is right.at(k, None)


def _end(term: Term, var: Var | None) -> Matrix:
    """A vector along one variable."""
    if var is not None and isinstance(term, Add):
        return _form(term, _Place(var, None))
    if var is None or not isinstance(term, (Entry, Apply, Fun)):
        raise _NoForm
    if isinstance(term, Fun) and (len(term.args) != 1 or term.name not in ("step",)):
        raise _NoForm
    inner = term.args[0] if isinstance(term, Fun) else term
    ends = inner.args if isinstance(inner, Entry) else inner.outs if isinstance(inner, Apply) else ()
    if isinstance(inner, Apply) and inner.derivatives:
        raise _NoForm
    if not ends or ends[-1] is not var or any(var in part.free for part in ends[:-1]):
        raise _NoForm
    if isinstance(inner, Apply) and any(var in argument.free for argument in inner.arguments):
        raise _NoForm
    return Whole(term, var)


@dataclass
class _Edge:
    """A matrix between two variables, or a vector at one (``b`` is ``None``)."""

    a: Var
    b: Var | None
    matrix: Matrix


def _monomial(term: Term, place: _Place) -> Matrix:
    bound, parts = _opened(term)
    variables = place.both | bound
    scalar = mul(*(part for part in parts if not part.free & variables))
    edges = _merged([_edge(part, variables) for part in parts if part.free & variables])
    rows, bodies, columns, closed = list[Matrix](), list[Matrix](), list[Matrix](), list[Matrix]()
    for group in _components(edges, bound):
        ends = {var for edge in group for var in (edge.a, edge.b) if var is not None} & place.both
        if place.i in ends and place.j in ends and place.j is not None:
            bodies.append(_walk(group, place.i, place.j, bound))
        elif place.i in ends:
            rows.append(_walk(group, place.i, None, bound))
        elif ends:
            columns.append(_walk(group, place.j, None, bound))
        else:
            closed.append(_closed(group, bound))
    unused = bound - {var for edge in edges for var in (edge.a, edge.b) if var is not None}
    scalar = mul(scalar, *(var.dim for var in sorted(unused, key=lambda var: var.uid)))
    return _scaled(scalar, tuple(closed), _framed(rows, bodies, columns, place))


def _opened(term: Term) -> tuple[frozenset[Var], list[Term]]:
    """The summed variables and the factors under all sums of a product."""
    if isinstance(term, Sum):
        bound, parts = _opened(term.body)
        return bound | {term.var}, parts
    if isinstance(term, Mul):
        opened = [_opened(part) for part in term.args]
        variables = [var for bound, _ in opened for var in bound]
        if len(variables) != len(set(variables)):
            raise _NoForm
        return frozenset(variables), [part for _, parts in opened for part in parts]
    return frozenset(), [term]


def _edge(term: Term, variables: frozenset[Var]) -> _Edge:
    if isinstance(term, Iverson) and term.rel == "=":
        ends = sorted(term.free & variables, key=lambda var: var.uid)
        if len(ends) == 2 and term in (delta(*ends), delta(*reversed(ends))) and ends[0].dim is ends[1].dim:
            return _Edge(ends[0], ends[1], Identity(ends[0].dim))
        raise _NoForm
    inside = term.free & variables
    if len(inside) == 1:
        (var,) = inside
        return _Edge(var, None, _end(term, var))
    if isinstance(term, Add) and len(inside) == 2:
        first, second = sorted(inside, key=lambda var: var.uid)
        return _Edge(first, second, _form(term, _Place(first, second)))
    if isinstance(term, Entry):
        return _between(term, inside, term.args[-2:], term.args[:-2])
    if isinstance(term, Apply) and len(term.derivatives) == 1:
        (_, indices) = term.derivatives[0]
        fixed = (*term.outs[:-1], *term.arguments, *indices[:-1])
        return _between(term, inside, (*term.outs[-1:], *indices[-1:]), fixed)
    raise _NoForm


def _between(term: Term, inside: frozenset[Var], ends: tuple[Term, ...], fixed: tuple[Term, ...]) -> _Edge:
    """A matrix whose two last indices are the variables, nothing else depending on them."""
    first, second = ends if len(ends) == 2 else (None, None)
    if not isinstance(first, Var) or not isinstance(second, Var) or first is second or {first, second} != inside:
        raise _NoForm
    if any(part.free & inside for part in fixed):
        raise _NoForm
    return _Edge(first, second, Whole(term, first, second))


def _merged(edges: list[_Edge]) -> list[_Edge]:
    """Edges between the same two variables, and vectors at the same one, as one: their product entry by entry."""
    merged: list[_Edge] = []
    for edge in edges:
        same = next((other for other in merged if {other.a, other.b} == {edge.a, edge.b}), None)
        if same is None:
            merged.append(edge)
            continue
        other = edge.matrix if edge.a is same.a else _transposed(edge.matrix)
        parts = same.matrix.parts if isinstance(same.matrix, Entrywise) else (same.matrix,)
        same.matrix = Entrywise((*parts, other))
    return merged


def _components(edges: list[_Edge], bound: frozenset[Var]) -> list[list[_Edge]]:
    """The edges in groups that hang together through summed variables."""
    groups: list[list[_Edge]] = []
    for edge in edges:
        mine = {edge.a, edge.b} & bound
        joined = [group for group in groups if any({other.a, other.b} & mine for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), edge])
    return groups


def _walk(group: Iterable[_Edge], start: Var | None, goal: Var | None, bound: frozenset[Var]) -> Matrix:
    """The chain of a group from one variable to another, or to its end."""
    left, parts, current = list(group), list[Matrix](), start
    while True:
        here = [edge for edge in left if current in (edge.a, edge.b)]
        vectors = [edge for edge in here if edge.b is None]
        links = [edge for edge in here if edge.b is not None]
        if len(vectors) > 1 or len(links) > 1 or current is None:
            raise _NoForm
        left = [edge for edge in left if edge not in here]
        if not links:
            parts.append(vectors[0].matrix if vectors else Ones(current.dim))
            break
        if vectors:
            parts.append(Diagonal(vectors[0].matrix))
        (link,) = links
        following, matrix = (link.b, link.matrix) if link.a is current else (link.a, _transposed(link.matrix))
        parts.append(matrix)
        current = following
        if current is goal and goal is not None:
            break
        if current not in bound:
            raise _NoForm
    if left:
        raise _NoForm
    if goal is None and len(parts) > 1 and isinstance(parts[0], Diagonal) and start not in bound:
        # A vector at the start: v ⊙ (M u)
        return Entrywise((parts[0].of, _chain(parts[1:])))
    return _chain(parts)


def _transposed(matrix: Matrix) -> Matrix:
    return matrix if isinstance(matrix, (Identity, Diagonal)) else Transpose(matrix)


def _closed(group: list[_Edge], bound: frozenset[Var]) -> Matrix:
    """A group without row or column: vᵀ M w."""
    ends = [edge for edge in group if edge.b is None]
    if ends:
        start = ends[0]
        rest = [edge for edge in group if edge is not start]
        if not rest:
            first, *others = (
                start.matrix.parts if isinstance(start.matrix, Entrywise) else (Ones(start.a.dim), start.matrix)
            )
            return Chain((Transpose(first), _entrywise(others)))
        return _chain([Transpose(start.matrix), *_links(_walk(rest, start.a, None, bound))])
    counts = [var for edge in group for var in (edge.a, edge.b) if var is not None]
    loose = [var for var in counts if counts.count(var) == 1]
    if not loose:
        raise _NoForm
    return _chain([Transpose(Ones(loose[0].dim)), *_links(_walk(group, loose[0], None, bound))])
