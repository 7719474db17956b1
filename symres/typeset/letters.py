"""Letters for index variables: chosen by the size an index ranges over, never colliding, the same from run to run.

Two variables need different letters when one is in force where the other is bound, or when both are free in one group,
a formula with the words that explain it. Within that, letters are reused: Σ_j a_j + Σ_j b_j. A variable that occurs in
several groups of a document has one letter in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import singledispatch
from typing import Any

from symres.kernel.terms import Add, Apply, Binder, Entry, Fun, Lam, Num, Size, Tensor, Term, Var, walk
from symres.language.program import Program
from symres.typeset.layout import Letter, Node, Script, Sign, row

POOLS: Mapping[str, str] = {
    "B": "bnm",
    "N": "nmr",
    "M": "mnq",
    "D": "ijkpq",
    "E": "eijk",
    "F": "ijk",
    "I": "ijk",
    "J": "jik",
    "T": "tsu",
    "S": "stu",
    "C": "ckr",
    "H": "hpq",
    "W": "wvq",
    "K": "kqr",
    "G": "grq",
    "V": "vwk",
    "L": "lmk",
    "P": "pqr",
    "O": "kjo",
    "R": "rqp",
}
"""Letters for an index, by the first letter of the size it ranges over."""

_OTHER = "ijkpqrmnstuvwabcdfh"


@singledispatch
def parts_of(formula: Any) -> Iterable[Any]:
    """What a formula is made of: the fields of a dataclass, the items of a tuple. Other classes may register."""
    if is_dataclass(formula) and not isinstance(formula, Tensor):
        return [getattr(formula, field.name) for field in fields(formula)]
    if isinstance(formula, Mapping):
        return list(formula.values())
    return formula if isinstance(formula, (tuple, list)) else ()


def terms_of(formula: Any) -> Iterator[Term]:
    """All terms in a formula, whole, in the order of printing."""
    if isinstance(formula, Term):
        yield formula
    else:
        for part in parts_of(formula):
            yield from terms_of(part)


def names_of(formula: Any) -> set[tuple[str, str]]:
    """The names in a formula with what they name: ``tensor``, ``function``, ``elementwise`` or ``size``.

    ``states`` names a size n along n + 1 or more of which a tensor extends first.
    """
    found = set()
    waiting: list[Any] = [formula]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Term):
            for node in walk(item):
                found |= _names(node)
                if isinstance(node, Binder):
                    waiting.append(node.var.dim)
        elif isinstance(item, Tensor):
            found.add(("tensor", item.name))
            waiting.extend(item.dims)
        else:
            waiting.extend(parts_of(item))
    return found


def groupings_of(document: Any) -> dict[str, tuple[int, ...]]:
    """How many sizes make up each axis, for the arrays of the programs in a document with one axis of several sizes."""
    found: dict[str, tuple[int, ...]] = {}
    if isinstance(document, Program):
        made = {tensor.name: each.axes for tensor, each in document.definitions.items()}
        shapes = {**document.axes, **made, **{name: value.axes for name, value in document.outputs.items()}}
        several = {name: axes for name, axes in shapes.items() if len(axes) > 1 and any(len(axis) > 1 for axis in axes)}
        found = {name: tuple(map(len, axes)) for name, axes in several.items()}
    elif not isinstance(document, Term):
        for part in parts_of(document):
            found |= groupings_of(part)
    return found


def _names(node: Term) -> set[tuple[str, str]]:
    if isinstance(node, Entry):
        dims = node.tensor.dims
        longer = dims[0].args if dims and isinstance(dims[0], Add) else ()
        states = longer[0] if len(longer) == 2 and isinstance(longer[1], Num) else None
        found = {("states", states.name)} if isinstance(states, Size) else set()
        return found.union({("tensor", node.tensor.name)}, *(names_of(dim) for dim in dims))
    if isinstance(node, Size):
        return {("size", node.name)}
    if isinstance(node, Apply):
        return {("function", node.name)}
    return {("elementwise", node.name)} if isinstance(node, Fun) else set()


def first_size(dim: Term) -> str:
    """The name of the first size in a length, or nothing for a number."""
    return next((node.name for node in walk(dim) if isinstance(node, Size)), "")


def groups_of(document: Any) -> Iterator[list[Term]]:
    """The terms of a document in groups: one for each formula, each text, and each step with its reason."""
    single = isinstance(document, Term) or any(hasattr(document, name) for name in ("ops", "slots", "relation"))
    if single or (not is_dataclass(document) and not isinstance(document, (tuple, list, Mapping))):
        terms = list(terms_of(document))
        if terms:
            yield terms
    else:
        for part in parts_of(document):
            yield from groups_of(part)


def choose(groups: Iterable[list[Term]], taken: frozenset[str], pools: Mapping[str, str] = POOLS) -> dict[Var, Node]:
    """A letter for each variable of the groups. ``taken`` are letters that mean something else."""
    conflicts: dict[Var, set[Var]] = {}
    for terms in groups:
        _add_conflicts(terms, conflicts)
    chosen: dict[Var, str] = {}
    for var in conflicts:
        near = {chosen[other] for other in conflicts[var] if other in chosen}
        chosen[var] = next(letter for letter in _candidates(var, taken, pools) if letter not in near)
    return {var: _node(name) for var, name in chosen.items()}


def another(var: Var, near: Iterable[Node], taken: frozenset[str], pools: Mapping[str, str] = POOLS) -> Node:
    """A letter for a further variable that differs from those near it."""
    avoided = set(near)
    return next(node for node in map(_node, _candidates(var, taken, pools)) if node not in avoided)


def bound_by(node: Term) -> tuple[Var, ...]:
    """The variables that a node binds."""
    return node.vars if isinstance(node, Lam) else (node.var,) if isinstance(node, Binder) else ()


def _candidates(var: Var, taken: frozenset[str], pools: Mapping[str, str]) -> Iterator[str]:
    size = first_size(var.dim)
    pool = pools.get(size) or pools.get(size[:1].upper(), "") or _OTHER
    if var.name in pool and len(var.name) == 1:
        pool = var.name + pool.replace(var.name, "")
    free = [letter for letter in dict.fromkeys(pool) if letter not in taken]
    free = free or [letter for letter in _OTHER if letter not in taken] or ["ι"]
    yield from free
    primes = 1
    while True:
        yield from (letter + "'" * primes for letter in free)
        primes += 1


def _node(name: str) -> Node:
    primes = name.count("'")
    base: Node = Sign("iota") if name[0] == "ι" else Letter(name[0])
    return Script(base, sup=row(*[Sign("prime")] * primes)) if primes else base


def _add_conflicts(terms: list[Term], conflicts: dict[Var, set[Var]]) -> None:
    """Enter the variables of a group, free ones first, each in order of appearance, and what they must differ from."""
    free: dict[Var, None] = {}
    for term in terms:
        for node in walk(term):
            if isinstance(node, Var) and any(node in other.free for other in terms):
                free.setdefault(node)
    for var in free:
        conflicts.setdefault(var, set()).update(set(free) - {var})
    seen: set[tuple[Term, frozenset[Var]]] = set()
    waiting = [(term, frozenset(free)) for term in reversed(terms)]
    while waiting:
        node, scope = waiting.pop()
        if (node, scope) in seen:
            continue
        seen.add((node, scope))
        bound = bound_by(node)
        for var in bound:
            others = (scope | set(bound)) - {var}
            conflicts.setdefault(var, set()).update(others)
            for other in others:
                conflicts.setdefault(other, set()).add(var)
        inner = scope.union(bound)
        waiting.extend((child, inner) for child in reversed(node.children) if child.children)
        waiting.extend((var.dim, scope) for var in bound if var.dim.children)
