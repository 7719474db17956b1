"""Contraction monomials: products of atoms whose bound indices are summed, with a canonical key.

A monomial is a set of bound index variables and a map from atoms to rational exponents. Its key does not depend on the
names or the order of bound variables: the monomial falls into components that share no bound variable; each is labelled
by colour refinement, ties are broken by trying every choice and keeping the least key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from operator import attrgetter

from symres.errors import BudgetExceeded
from symres.kernel.terms import Term, Var

Env = Mapping[Var, str]
_NO_ENV: Env = {}
_LABEL_LIMIT = 5040


class Atom:
    """A factor that the normal form does not take apart.

    ``kind`` names the class of atom, ``head`` what it is besides its parts, ``parts`` its index terms or polynomials.
    ``term`` denotes the same value. ``flag`` marks the atoms that are 0 or 1 and so are their own squares.
    """

    __slots__ = ("_hash", "_ident", "_labels", "_order", "flag", "free", "head", "kind", "parts", "sign", "term")

    def __init__(
        self, kind: str, head: str, parts: tuple[Part, ...], term: Term, *, sign: str = "", flag: bool = False
    ) -> None:
        self.kind, self.head, self.parts, self.term = kind, head, parts, term
        self.sign = sign  # "+" known to be > 0, "0" known to be >= 0, "" unknown
        self.flag = flag
        self.free = term.free
        self._order = _ordered(term.free)
        self._labels: dict[tuple[str, ...], str] = {}
        self._ident = ""
        self._hash = 0

    def label(self, env: Env) -> str:
        """The atom written with the names that ``env`` gives to its variables."""
        names = _names(self._order, env)
        found = self._labels.get(names)
        if found is None:
            labels = [part_label(part, env) for part in self.parts]
            # An equation and its negative are one: the least label stands for both.
            inner = min(labels) if self.kind == "Z" else ",".join(labels)
            found = self._labels[names] = f"{self.kind}{self.head}({inner})"
        return found

    @property
    def ident(self) -> str:
        """The label with every variable under its own name: equal exactly for equal atoms."""
        if not self._ident:
            self._ident = self.label(_NO_ENV)
        return self._ident

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash(self.ident)
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.ident == other.ident)


class Mono:
    """A product of powers of atoms, summed over its bound variables."""

    __slots__ = ("_keys", "_order", "bound", "factors", "free")

    def __init__(self, bound: frozenset[Var], factors: dict[Atom, Fraction]) -> None:
        self.bound, self.factors = bound, factors
        self.free = _NOTHING.union(*[atom.free for atom in factors]) - bound
        self._order = _ordered(self.free)
        self._keys: dict[tuple[str, ...], str] = {}

    def key(self, env: Env = _NO_ENV) -> str:
        """The canonical key; two monomials are the same exactly when their keys are equal."""
        names = _names(self._order, env)
        found = self._keys.get(names)
        if found is None:
            outer = dict(zip(self._order, names, strict=True))
            pieces = self.pieces() if self.bound else [(_NOTHING, {atom: e}) for atom, e in self.factors.items()]
            found = self._keys[names] = "*".join(sorted([_piece_key(*piece, outer) for piece in pieces]))
        return found

    def pieces(self, fixed: frozenset[Var] = frozenset()) -> list[tuple[frozenset[Var], dict[Atom, Fraction]]]:
        """The factors grouped by shared bound variables, those in ``fixed`` counted as free."""
        bound = self.bound - fixed
        groups: list[tuple[set[Var], dict[Atom, Fraction]]] = []
        for atom, exponent in self.factors.items():
            mine = set(atom.free & bound)
            factors = {atom: exponent}
            if mine:
                rest = []
                for variables, members in groups:
                    if variables and not mine.isdisjoint(variables):
                        mine |= variables
                        factors = {**members, **factors}
                    else:
                        rest.append((variables, members))
                groups = rest
            groups.append((mine, factors))
        return [(frozenset(variables), members) for variables, members in groups]


class Poly:
    """A sum of monomials with rational coefficients: ``terms`` maps a key to ``(coefficient, monomial)``.

    Two polynomials are equal as functions for all large enough sizes only if they have the same keys and coefficients.
    """

    __slots__ = ("_free", "_keys", "terms")

    def __init__(self, terms: dict[str, tuple[Fraction, Mono]]) -> None:
        self.terms = terms
        self._free: frozenset[Var] | None = None
        self._keys: dict[tuple[str, ...], str] = {}

    @property
    def free(self) -> frozenset[Var]:
        """The free index variables."""
        if self._free is None:
            self._free = frozenset().union(*(mono.free for _, mono in self.terms.values()))
        return self._free

    def key(self, env: Env = _NO_ENV) -> str:
        """The canonical key under the names of ``env``."""
        names = _names(_ordered(self.free), env)
        found = self._keys.get(names)
        if found is None:
            found = self._keys[names] = "+".join(sorted(f"{c}·{mono.key(env)}" for c, mono in self.terms.values()))
        return found

    def __bool__(self) -> bool:
        return bool(self.terms)

    def monomials(self) -> Iterable[tuple[Fraction, Mono]]:
        """The coefficients and monomials."""
        return self.terms.values()

    def constant(self) -> Fraction | None:
        """The value, if the polynomial is a number."""
        if not self.terms:
            return Fraction(0)
        if len(self.terms) == 1:
            ((coefficient, mono),) = self.terms.values()
            if not mono.factors and not mono.bound:
                return coefficient
        return None


class Bound:
    """A polynomial under one or more binders of its own, as the argument of an atom."""

    __slots__ = ("body", "vars")

    def __init__(self, variables: tuple[Var, ...], body: Poly) -> None:
        self.vars, self.body = variables, body


Part = Term | Poly | Bound


def _next_label(mark: str, env: Env) -> int:
    """The least number above every label with this mark that is in use."""
    return 1 + max((int(name[1:]) for name in env.values() if name.startswith(mark)), default=-1)


_uid = attrgetter("uid")
_NOTHING: frozenset[Var] = frozenset()


def _ordered(variables: frozenset[Var]) -> tuple[Var, ...]:
    return tuple(sorted(variables, key=_uid)) if len(variables) > 1 else tuple(variables)


def _names(order: tuple[Var, ...], env: Env) -> tuple[str, ...]:
    if not order:
        return ()
    return tuple([env[var] if var in env else f"v{var.uid}" for var in order])


def part_label(part: Part, env: Env) -> str:
    """A part of an atom, written with the names of ``env``."""
    if isinstance(part, Var):
        return env.get(part, f"v{part.uid}")
    if isinstance(part, Poly):
        return part.key(env)
    if isinstance(part, Bound):
        depth = _next_label("^", env)
        inner = {**env, **{var: f"^{depth + k}" for k, var in enumerate(part.vars)}}
        dims = ",".join(dim_label(var.dim) for var in part.vars)
        return f"[{dims}:{part.body.key(inner)}]"
    return dim_label(part)


_dims: dict[Term, str] = {}


def dim_label(dim: Term) -> str:
    """A closed size term by its canonical key, so that N·M and M·N are one size."""
    found = _dims.get(dim)
    if found is None:
        from symres.kernel.normal import normal_form

        found = _dims[dim] = normal_form(dim).key()
    return found


def _piece_key(bound: frozenset[Var], factors: dict[Atom, Fraction], outer: Env) -> str:
    if not bound:
        ((atom, exponent),) = factors.items()
        return _power_label(atom, exponent, outer)
    depth = _next_label("#", outer)
    dims = {var: dim_label(var.dim) for var in bound}
    if len(bound) == 1:
        (var,) = bound
        return _with_labels([var], factors, outer, depth, dims)
    classes = _refine({var: dims[var] for var in bound}, factors, outer)
    budget = [_LABEL_LIMIT]
    return _least(classes, factors, outer, depth, dims, budget)


def _least(
    classes: dict[Var, str],
    factors: dict[Atom, Fraction],
    outer: Env,
    depth: int,
    dims: dict[Var, str],
    budget: list[int],
) -> str:
    members: dict[str, list[Var]] = {}
    for var, colour in classes.items():
        members.setdefault(colour, []).append(var)
    tied = min((colour for colour, group in members.items() if len(group) > 1), default=None)
    if tied is None:
        return _with_labels(sorted(classes, key=classes.__getitem__), factors, outer, depth, dims)
    best = ""
    for var in members[tied]:
        budget[0] -= 1
        if budget[0] < 0:
            raise BudgetExceeded("a monomial is too symmetric to be brought into normal form")
        found = _least(
            _refine({**classes, var: classes[var] + "!"}, factors, outer), factors, outer, depth, dims, budget
        )
        if not best or found < best:
            best = found
    return best


def _with_labels(order: list[Var], factors: dict[Atom, Fraction], outer: Env, depth: int, dims: dict[Var, str]) -> str:
    env = {**outer, **{var: f"#{depth + k}" for k, var in enumerate(order)}}
    labels = sorted(_power_label(atom, exponent, env) for atom, exponent in factors.items())
    return f"S<{';'.join(dims[var] for var in order)}>({'*'.join(labels)})"


def _refine(classes: dict[Var, str], factors: dict[Atom, Fraction], outer: Env) -> dict[Var, str]:
    """Colour refinement: a variable's colour grows by the factors it stands in, until no class splits further."""
    while True:
        coloured = {**outer, **{var: f"<{colour}>" for var, colour in classes.items()}}
        signatures = {}
        for var in classes:
            env = {**coloured, var: "@"}
            around = sorted(_power_label(atom, e, env) for atom, e in factors.items() if var in atom.free)
            signatures[var] = (classes[var], "*".join(around))
        ranks = {signature: f"{rank:03d}" for rank, signature in enumerate(sorted(set(signatures.values())))}
        if len(ranks) == len(set(classes.values())):
            return {var: ranks[signatures[var]] for var in classes}
        classes = {var: ranks[signatures[var]] for var in classes}


def _power_label(atom: Atom, exponent: Fraction, env: Env) -> str:
    label = atom.label(env)
    return label if exponent == 1 else f"{label}^{exponent}"
