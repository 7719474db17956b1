"""Errors as people make them, planted in terms and in certificates: a sign, a lost term, a factor 1/N, an axis."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from symres.kernel.terms import Add, Num, Size, Sum, Term, add, mul, neg, substitute, transform, walk


def planted(term: Term) -> Iterator[tuple[str, Term]]:
    """Wrong versions of a term, each with the name of the error.

    Signs and terms are the first ones of a sum: in a normalisation, the last one may vanish.
    """
    sums = [node for node in walk(term) if isinstance(node, Add)]
    if sums:
        first = sums[0]
        yield "a sign", _put(term, first, add(neg(first.args[0]), *first.args[1:]))
        yield "a lost term", _put(term, first, add(*first.args[1:]))
    else:
        yield "a sign", neg(term)
    for size in [node for node in walk(term) if isinstance(node, Size)][:1]:
        yield "a factor 1/N", mul(1 / size, term)
    reduced = [node for node in walk(term) if isinstance(node, Sum)]
    if reduced:
        yield "an axis", _put(term, reduced[0], substitute(reduced[0].body, {reduced[0].var: Num(0)}))


def _put(term: Term, old: Term, new: Term) -> Term:
    return transform(term, lambda node: new if node is old else None)


def planted_json(term: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """The same in a certificate."""
    found = _find(term, "add")
    if found is not None:
        yield "a sign", _changed(term, found, lambda node: ["add", ["mul", ["num", "-1"], node[1]], *node[2:]])
        yield "a lost term", _changed(term, found, lambda node: ["add", *node[2:]] if len(node) > 3 else node[2])
    else:
        yield "a sign", ["mul", ["num", "-1"], term]
    size = _find(term, "size")
    if size is not None:
        yield "a factor 1/N", ["mul", ["pow", _at(term, size), "-1"], term]
    total = _find(term, "sum")
    if total is not None:
        yield "an axis", _changed(term, total, lambda node: _fixed(node[3], node[1]))


def _find(term: Any, kind: str, path: tuple[int, ...] = ()) -> tuple[int, ...] | None:
    if not isinstance(term, list):
        return None
    if term and term[0] == kind:
        return path
    # The range of a sum is no place for an error that a reader could make in a formula.
    skipped = {2} if term and term[0] in ("sum", "max") else set()
    for place, part in enumerate(term):
        found = None if place in skipped else _find(part, kind, (*path, place))
        if found is not None:
            return found
    return None


def _at(term: Any, path: tuple[int, ...]) -> Any:
    for place in path:
        term = term[place]
    return copy.deepcopy(term)


def _changed(term: list[Any], path: tuple[int, ...], change: Any) -> list[Any]:
    if not path:
        return change(copy.deepcopy(term))
    term = copy.deepcopy(term)
    parent = term
    for place in path[:-1]:
        parent = parent[place]
    parent[path[-1]] = change(parent[path[-1]])
    return term


def _fixed(term: Any, name: str) -> Any:
    if term == ["var", name]:
        return ["num", "0"]
    return [_fixed(part, name) for part in term] if isinstance(term, list) else term
