"""From terms to named pieces: every sum and every nonlinear function of a statement becomes an item with a name.

An item is ``name[vars] := body`` where the body is a polynomial in entries of inputs and earlier items, one sum of such
a polynomial, or one function of it. So no proof has to rewrite anything under a binder. *Opaque* items stay atoms of
the normal form; the others are replaced by their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatchmethod

from symres.errors import Unsupported
from symres.export.rocq.monomials import (
    AT_MOST,
    DELTA,
    ONE,
    Component,
    Factor,
    Poly,
    Powers,
    atom_key,
    canonical,
    component,
    opened,
    ordered,
    place,
    plus,
    powers,
    scaled,
    times,
)
from symres.export.rocq.scope import sides
from symres.kernel.terms import (
    Add,
    Apply,
    Entry,
    Fun,
    Iverson,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
    add,
    mul,
    power,
    substitute,
)
from symres.language.functions import FUNCTIONS
from symres.language.program import Definition


class Refold(Exception):
    """A definition turns out to be needed as an atom: start again with it folded."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor.name)
        self.tensor = tensor


class Reroot(Exception):
    """A reciprocal came before the square root of the same expression: start again with the root first."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class Item:
    """``tensor[vars] := body``. ``kind``: ``poly``, ``sum``, ``function`` (an atom), ``same`` (as an earlier function),
    ``square`` (of an earlier root)."""

    tensor: Tensor
    vars: tuple[Var, ...]
    body: Term
    kind: str
    same: Entry | None = None
    defined: bool = False


class Algebra:
    """The items of one proof and their normal forms.

    Args:
        definitions: what tensors stand for: the layer's definitions, tangents, claimed gradients.
        folded: definitions that stay atoms.
        name: a maker of new identifiers for items.
        rooted: keys of expressions whose square root is needed beside their reciprocal.
    """

    def __init__(
        self,
        definitions: Mapping[Tensor, Definition],
        folded: frozenset[Tensor],
        name: Callable[[str], str],
        rooted: frozenset[str] = frozenset(),
    ) -> None:
        self.definitions, self.folded, self.name, self.rooted = definitions, folded, name, rooted
        self.squared: set[Entry] = set()
        self.items: dict[Tensor, Item] = {}
        self.opaque: set[Tensor] = set()
        self.keys: dict[tuple[str, str], tuple[Tensor, tuple[int, ...]]] = {}
        self.folds: dict[str, tuple[Tensor, tuple[int, ...]]] = {}
        self.sources: dict[Tensor, Term] = {}
        self.places: dict[Tensor, tuple[Term, ...]] = {}
        self.ranks: dict[Tensor, float] = {}
        self.now = math.inf
        self._polys: dict[Tensor, Poly] = {}
        self._bodies: dict[Tensor, Poly] = {}
        self._flat: dict[Term, Term] = {}

    # ------------------------------------------------------------ items

    def item(self, tensor: Tensor) -> Item | None:
        """The item of a tensor; ``None`` for an input."""
        found = self.items.get(tensor)
        if found is None and tensor in self.definitions:
            definition = self.definitions[tensor]
            body = self.flat(definition.body)
            kind = "sum" if isinstance(definition.body, Sum) else "poly"
            if kind == "sum":
                inner = self.items.pop(body.tensor)  # type: ignore[attr-defined]
                body = substitute(inner.body, dict(zip(inner.vars, body.args, strict=True)))  # type: ignore[attr-defined]
            found = Item(tensor, definition.vars, body, kind, defined=True)
            self._add(found)
            if tensor in self.folded:
                self._make_opaque(found)
        return found

    def _add(self, item: Item) -> None:
        self.items[item.tensor] = item
        self.ranks.setdefault(item.tensor, len(self.ranks))

    def _make_opaque(self, item: Item) -> None:
        body = self.body(item.tensor)
        self.opaque.add(item.tensor)
        if len(body) == 1:
            ((mono, c),) = body.items()
            if c == 1 and len(mono) == 1 and isinstance(mono[0][0], Component) and mono[0][1] == 1:
                key, order = abstract(body)
                self.folds.setdefault(key, (item.tensor, positions(order, item.vars)))

    def _new(self, hint: str, kind: str, body: Term) -> Entry:
        free = tuple(sorted(body.free, key=lambda var: (var.name, var.uid)))
        fresh = tuple(var.fresh() for var in free)
        tensor = Tensor(self.name(hint), tuple(var.dim for var in free), "bool" if hint == "step" else "real")
        body = substitute(body, dict(zip(free, fresh, strict=True)))
        self._add(Item(tensor, fresh, body, kind))
        return Entry(tensor, free)

    def _function(self, hint: str, arg: Term, body: Term, source: Term) -> Entry:
        """The item of a function of ``arg``, the same atom as an earlier one where the arguments are equal."""
        key, order = abstract(self.nf(arg))
        if hint == "root" and ("denominator", key) in self.keys and key not in self.rooted:
            raise Reroot(key)
        if hint == "denominator" and key in self.rooted:
            self._function("root", arg, Pow(arg, Fraction(1, 2)), source)
        kind = "same"
        if hint == "denominator" and ("root", key) in self.keys:
            hint, kind = "root", "square"
        entry = self._new("denominator" if kind == "square" else hint, "function", body)
        item = self.items[entry.tensor]
        self.sources[entry.tensor], self.places[entry.tensor] = source, entry.args
        found = self.keys.get((hint, key))
        inner = dict(zip(entry.args, item.vars, strict=True))
        if found is None or len(order) != len(body.free):
            self.keys.setdefault((hint, key), (item.tensor, positions(tuple(inner[var] for var in order), item.vars)))
            self.opaque.add(item.tensor)
            if hint == "denominator":
                self._make_opaque(item)
        else:
            tensor, place_of = found
            args: list[Term] = [inner[order[k]] for k in place_of]
            same = Entry(tensor, tuple(args))
            self.items[entry.tensor] = Item(item.tensor, item.vars, item.body, kind, same)
        return entry

    # ------------------------------------------------------------ flat terms

    def flat(self, term: Term) -> Term:
        """The term with every sum and every function replaced by the entry of an item.

        Raises:
            Unsupported: for what certificates do not cover.
        """
        found = self._flat.get(term)
        if found is None:
            found = self._flat[term] = self._flatten(term)
        return found

    @singledispatchmethod
    def _flatten(self, term: Term) -> Term:
        raise Unsupported(f"Coq certificates do not cover {type(term).__name__}")

    @_flatten.register(Num)
    @_flatten.register(Size)
    def _(self, term: Term) -> Term:
        return term

    @_flatten.register
    def _(self, term: Entry) -> Term:
        self.item(term.tensor)
        return term

    @_flatten.register
    def _(self, term: Add) -> Term:
        return add(*map(self.flat, term.args))

    @_flatten.register
    def _(self, term: Mul) -> Term:
        return mul(*map(self.flat, term.args))

    @_flatten.register
    def _(self, term: Sum) -> Term:
        return self._new("part", "sum", Sum(term.var, self.flat(term.body)))

    @_flatten.register
    def _(self, term: Pow) -> Term:
        base, exponent = self.flat(term.base), term.exponent
        if exponent.denominator == 2:
            return power(self._function("root", base, Pow(base, Fraction(1, 2)), term.base), 2 * exponent)
        if exponent.denominator != 1:
            raise Unsupported(f"Coq certificates have no powers with the exponent {exponent}")
        if exponent > 0 or inverted(self.nf(base), 1) is not None:
            return power(base, exponent)
        if isinstance(base, Entry) and base.tensor in self.definitions:
            raise Refold(base.tensor)
        return power(self._function("denominator", base, base, term.base), exponent)

    @_flatten.register
    def _(self, term: Fun) -> Term:
        row = FUNCTIONS.get(term.name)
        if row is not None and row.definition is not None and term.name != "tanh":
            return self.flat(row.definition(*term.args))
        if len(term.args) != 1:
            raise Unsupported(f"Coq certificates do not cover the function {term.name}")
        arg = self.flat(term.args[0])
        return self._function(term.name, arg, Fun(term.name, arg), term.args[0])

    @_flatten.register
    def _(self, term: Iverson) -> Term:
        return bracket(term)

    @_flatten.register
    def _(self, term: Apply) -> Term:
        for argument in term.arguments:
            self.flat(argument.body)
        hint = term.name + "".join(f".{position}" for position, _ in term.derivatives)
        bodies = [abstract(self.nf(self.flat(argument.body)), argument.vars) for argument in term.arguments]
        return self._applied(hint, term, bodies)

    def _applied(self, hint: str, term: Apply, bodies: list[tuple[str, tuple[Var, ...]]]) -> Entry:
        outs = (*term.outs, *(index for _, of in term.derivatives for index in of))
        order: list[Var] = []
        for var in (*(v for out in outs for v in sorted(out.free, key=lambda v: v.uid)), *(v for _, o in bodies for v in o)):
            if var not in order:
                order.append(var)
        names = {var: f"?{k}" for k, var in enumerate(order)}
        key = "|".join(
            (*(atom_key(out, lambda v: names.get(v, v.name)) for out in outs),
             *(text + ",".join(names[var] for var in found) for text, found in bodies))
        )  # fmt: skip
        entry = self._new(hint, "function", term)
        item = self.items[entry.tensor]
        inner = dict(zip(entry.args, item.vars, strict=True))
        found = self.keys.get((hint, key))
        if found is None:
            self.keys[(hint, key)] = item.tensor, positions(tuple(inner[var] for var in order), item.vars)
            self.opaque.add(item.tensor)
        else:
            same = Entry(found[0], tuple(inner[order[k]] for k in found[1]))
            self.items[entry.tensor] = Item(item.tensor, item.vars, item.body, kind, same)
        return entry

    # ------------------------------------------------------------ normal forms

    def poly(self, tensor: Tensor) -> Poly:
        """The normal form of an item's entry at its own variables."""
        found = self._polys.get(tensor)
        if found is None:
            item = self.items[tensor]
            if tensor in self.opaque:
                found = {((Entry(tensor, item.vars), 1),): Fraction(1)}
            elif item.same is not None:
                found = {((item.same, 2 if item.kind == "square" else 1),): Fraction(1)}
            else:
                found = self.body(tensor)
            self._polys[tensor] = found
        return found

    def body(self, tensor: Tensor) -> Poly:
        """The normal form of an item's right-hand side."""
        found = self._bodies.get(tensor)
        if found is None:
            item = self.items[tensor]
            with self.at(tensor):
                if isinstance(item.body, Sum):
                    found = self.summed(item.body.var, self.nf(item.body.body))
                else:
                    found = self.nf(item.body)
            self._bodies[tensor] = found
        return found

    @contextmanager
    def at(self, tensor: Tensor) -> Iterator[None]:
        """Within it, only atoms that are older than an item stand for a sum: a lemma rests on earlier ones."""
        before, self.now = self.now, self.ranks[tensor]
        try:
            yield
        finally:
            self.now = before

    def nf(self, term: Term) -> Poly:
        """The normal form of a flat term without sums."""
        match term:
            case Num():
                return {ONE: term.value} if term.value else {}
            case Size():
                return {((term, 1),): Fraction(1)}
            case Add():
                return plus(*map(self.nf, term.args))
            case Mul():
                total: Poly = {ONE: Fraction(1)}
                for part in term.args:
                    total = self.reduced(times(total, self.nf(part)))
                return total
            case Pow():
                base = self.nf(term.base)
                if term.exponent < 0:
                    found = inverted(base, int(-term.exponent))
                    if found is None:
                        raise Unsupported(f"Coq certificates cannot divide by {term.base}")
                    return self.reduced(found)
                total = {ONE: Fraction(1)}
                for _ in range(int(term.exponent)):
                    total = self.reduced(times(total, base))
                return total
            case Entry():
                return self.entry(term)
        raise Unsupported(f"Coq certificates do not cover {type(term).__name__}")

    def reduced(self, poly: Poly) -> Poly:
        """The normal form with squares of roots replaced by what stands under them."""
        total: Poly = {}
        for mono, c in poly.items():
            for root, exponent in mono:
                item = self.items.get(root.tensor) if isinstance(root, Entry) else None
                if item is None or item.kind != "function" or not isinstance(item.body, Pow) or exponent in (-1, 0, 1):
                    continue
                under = self.nf(substitute(item.body.base, dict(zip(item.vars, root.args, strict=True))))  # type: ignore[union-attr]
                half = int(exponent / 2)
                power_of = inverted(under, -half) if half < 0 else None
                if half < 0 and power_of is None:
                    continue
                if power_of is None:
                    power_of = {ONE: Fraction(1)}
                    for _ in range(half):
                        power_of = times(power_of, under)
                self.squared.add(root)  # type: ignore[arg-type]
                rest = powers((f, e - 2 * half if f is root else e) for f, e in mono)
                total = plus(total, self.reduced(times({rest: c}, power_of)))
                break
            else:
                total = plus(total, {mono: c})
        return total

    def entry(self, entry: Entry) -> Poly:
        """The normal form of an entry at any indices."""
        item = self.item(entry.tensor)
        if item is None or entry.tensor in self.opaque:
            return {((ordered(entry), 1),): Fraction(1)}
        mapping = dict(zip(item.vars, entry.args, strict=True))
        total: Poly = {}
        for mono, c in self.poly(entry.tensor).items():
            total = plus(total, scaled(self.settled([(place(f, mapping), e) for f, e in mono]), c))
        return total

    def settled(self, pairs: list[tuple[Factor, int]]) -> Poly:
        """A product of factors, each brought to its final form."""
        return {powers((self.final(factor), e) for factor, e in pairs): Fraction(1)}

    def final(self, factor: Factor) -> Factor:
        """The canonical form of a factor, folded to a named atom where one stands for it."""
        factor = canonical(factor)
        if isinstance(factor, Component):
            key, order = abstract({((factor, 1),): Fraction(1)})
            found = self.folds.get(key)
            if found is not None and len(order) == len(found[1]) and self.ranks[found[0]] < self.now:
                return Entry(found[0], tuple(order[k] for k in found[1]))
        return factor

    def summed(self, var: Var, poly: Poly) -> Poly:
        """The normal form of the sum over an index."""
        total: Poly = {}
        for mono, c in poly.items():
            outer, inner = split(var, mono)
            total = plus(total, times({outer: c}, self.collapsed(var, inner)))
        return total

    def collapsed(self, var: Var, inner: Powers) -> Poly:
        """The sum over an index of a product all of whose factors depend on it."""
        if not inner:
            if isinstance(var.dim, Num):
                return {ONE: var.dim.value}
            return {((var.dim, 1),): Fraction(1)}
        for factor, _ in inner:
            if isinstance(factor, Entry) and factor.tensor is DELTA:
                mapping = {var: other(factor, var)}
                return self.settled([(place(f, mapping), e) for f, e in inner if f is not factor])
        bound, factors = flattened(var, inner)
        return {((self.final(component(bound, factors)[0]), 1),): Fraction(1)}


def split(var: Var, mono: Powers) -> tuple[Powers, Powers]:
    """The factors without and with an index."""
    return tuple(p for p in mono if var not in p[0].free), tuple(p for p in mono if var in p[0].free)


def flattened(var: Var, inner: Powers) -> tuple[list[Var], list[tuple[Term, int]]]:
    """The nested sum of a product, its own sums opened from left to right."""
    bound, factors = [var], []
    for factor, exponent in inner:
        if isinstance(factor, Component):
            for _ in range(exponent):
                more, inside = opened(factor)
                bound += more
                factors += inside
        else:
            factors.append((factor, exponent))
    return bound, factors


def other(delta: Entry, var: Var) -> Term:
    """The index that a delta ties to ``var``."""
    left, right = delta.args
    return right if left is var else left


def bracket(term: Iverson) -> Entry:
    """An Iverson bracket as an atom."""
    below, above = sides(term)
    if len(below) == len(above) == 1:
        return Entry(DELTA if term.rel == "=" else AT_MOST, (below[0], above[0]))
    raise Unsupported(f"Coq certificates have no index arithmetic: {term}")


def inverted(poly: Poly, count: int) -> Poly | None:
    """The power ``-count`` of a single monomial without sums; ``None`` for anything else."""
    if len(poly) != 1:
        return None
    ((mono, c),) = poly.items()
    if any(isinstance(factor, Component) for factor, _ in mono):
        return None
    return {powers((factor, -e * count) for factor, e in mono): Fraction(1) / c**count}


def positions(order: tuple[Var, ...], variables: tuple[Var, ...]) -> tuple[int, ...]:
    """For each variable its place in ``order``."""
    return tuple(order.index(var) for var in variables) if set(variables) <= set(order) else ()


def abstract(poly: Poly, bound: tuple[Var, ...] = ()) -> tuple[str, tuple[Var, ...]]:
    """A text of the normal form that does not depend on the names of its free variables, and those variables in order."""
    fixed = {var: f"%{k}" for k, var in enumerate(bound)}

    def texts(label: Callable[[Var], str]) -> list[tuple[str, Powers]]:
        return sorted(
            ("*".join(sorted(f"{_text(f, label)}^{e}" for f, e in mono)) + f"*{c}", mono) for mono, c in poly.items()
        )

    def blank(var: Var) -> str:
        return fixed.get(var) or f"?{var.dim!r}"

    order: list[Var] = []
    for _, mono in sorted(texts(blank), key=lambda pair: pair[0]):
        for factor, _ in sorted(mono, key=lambda pair: _text(pair[0], blank)):
            for var in _appearing(factor):
                if var not in order and var not in fixed:
                    order.append(var)
    names = {**fixed, **{var: f"?{k}{var.dim!r}" for k, var in enumerate(order)}}
    return "+".join(text for text, _ in texts(lambda var: names.get(var, var.name))), tuple(order)


def _text(factor: Factor, label: Callable[[Var], str]) -> str:
    if not isinstance(factor, Component):
        return atom_key(factor, label)
    names = {var: f"${k}" for k, var in enumerate(factor.vars)}
    inner = sorted(f"{atom_key(f, lambda var: names.get(var) or label(var))}^{e}" for f, e in factor.factors)
    return f"~{','.join(repr(var.dim) for var in factor.vars)}:{'*'.join(inner)}"


def _appearing(factor: Factor) -> list[Var]:
    if isinstance(factor, Component):
        return [var for f, _ in factor.factors for var in _appearing(f) if var not in factor.vars]
    if isinstance(factor, Var):
        return [factor]
    return [var for arg in factor.children for var in _appearing(arg)]
