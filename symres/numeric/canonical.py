"""One name for each index: terms that differ only in their index variables become one object.

Definitions are written each with its own variables. Here the k-th index of a size gets the k-th variable of that size,
free ones first, bound ones from outside in, so that the same array expression in two definitions is the same term.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symres.kernel.terms import Binder, Lam, Term, Var


class Canon:
    """The variables in use, by range."""

    def __init__(self) -> None:
        self._pool: dict[Term, list[Var]] = {}
        self._done: dict[tuple[Term, tuple[tuple[Var, Var], ...]], Term] = {}

    def choose(self, variables: Iterable[Var], taken: frozenset[Var] = frozenset()) -> tuple[Var, ...]:
        """For each variable the first one of its range that is not taken yet."""
        chosen: list[Var] = []
        for var in variables:
            pool = self._pool.setdefault(var.dim, [])
            free = next((old for old in pool if old not in taken and old not in chosen), None)
            if free is None:
                free = Var(var.name, var.dim)
                pool.append(free)
            chosen.append(free)
        return tuple(chosen)

    def term(self, term: Term, names: Mapping[Var, Var]) -> Term:
        """The term with its free variables replaced as ``names`` says and its bound ones chosen here."""
        key = (term, tuple(sorted(((v, names[v]) for v in term.free), key=lambda pair: pair[0].uid)))
        if key not in self._done:
            self._done[key] = self._rename(term, names)
        return self._done[key]

    def _rename(self, term: Term, names: Mapping[Var, Var]) -> Term:
        if isinstance(term, Var):
            return names[term]
        if isinstance(term, (Binder, Lam)):
            bound = (term.var,) if isinstance(term, Binder) else term.vars
            chosen = self.choose(bound, frozenset(names[var] for var in term.free))
            body = self.term(term.body, {**names, **dict(zip(bound, chosen, strict=True))})
            return type(term)(chosen[0], body) if isinstance(term, Binder) else Lam(chosen, body)
        if not term.children:
            return term
        return term.rebuild(tuple(self.term(child, names) for child in term.children))
