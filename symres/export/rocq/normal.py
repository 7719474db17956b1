"""Normal forms of items: sums are collapsed, deltas contracted, squares of roots replaced by what stands under them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from symres.errors import Unsupported
from symres.export.rocq.abstraction import abstract
from symres.export.rocq.monomials import (
    DELTA,
    ONE,
    Component,
    Factor,
    Poly,
    Powers,
    canonical,
    component,
    ordered,
    place,
    plus,
    powers,
    scaled,
    times,
)
from symres.export.rocq.products import flattened, inverted, is_number, other, split
from symres.kernel.terms import (
    Add,
    Apply,
    Entry,
    Fun,
    Maximum,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
    substitute,
)


@dataclass(frozen=True)
class Item:
    """``tensor[vars] := body``. ``kind``: ``poly``, ``sum``, ``function`` (an atom), ``same`` (as an earlier function),
    ``square`` (of an earlier root), ``content``, ``exp`` and ``log`` (taken apart, as ``split`` has it)."""

    tensor: Tensor
    vars: tuple[Var, ...]
    body: Term
    kind: str
    same: Entry | None = None
    defined: bool = False
    split: Term | None = None


class Normal:
    """The normal forms of items: polynomials in the atoms among them and in inputs.

    ``opaque`` items are atoms; ``folds`` says which of them stand for a sum; ``ranks`` is the order of the items and
    ``now`` the rank of the one that is being worked on; ``squared`` collects the roots whose square was replaced.
    """

    def __init__(self) -> None:
        self.items: dict[Tensor, Item] = {}
        self.opaque: set[Tensor] = set()
        self.folds: dict[str, tuple[Tensor, tuple[int, ...]]] = {}
        self.ranks: dict[Tensor, float] = {}
        self.now = math.inf
        self.squared: set[Entry] = set()
        self.relations: tuple[Entry, ...] = ()
        self._polys: dict[Tensor, Poly] = {}
        self._bodies: dict[Tensor, Poly] = {}

    def item(self, tensor: Tensor) -> Item | None:
        """The item of a tensor; ``None`` for an input."""
        return self.items.get(tensor)

    def poly(self, tensor: Tensor) -> Poly:
        """The normal form of an item's entry at its own variables."""
        found = self._polys.get(tensor)
        if found is None:
            item = self.items[tensor]
            if tensor in self.opaque:
                found = {((Entry(tensor, item.vars), 1),): Fraction(1)}
            elif item.split is not None:
                with self.at(tensor):
                    found = self.nf(item.split)
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

    def vanishes(self, poly: Poly) -> bool:
        """Whether a normal form is zero, by what reciprocals and roots are as well: ρ² (σ² + ε) = 1.

        The atoms whose meaning was used are kept in ``relations``.
        """
        used: list[Entry] = []
        below = {f: -e for mono in poly for f, e in sorted(mono, key=lambda pair: -pair[1]) if e < 0}
        for factor, count in below.items():
            item = self.items.get(factor.tensor) if isinstance(factor, Entry) else None
            if item is None or item.kind != "function" or isinstance(item.body, (Fun, Apply, Maximum)):
                continue
            assert isinstance(factor, Entry)
            used.append(factor)
            if isinstance(item.body, Pow):
                poly = self.reduced(times(poly, {((factor, count + count % 2),): Fraction(1)}))
            else:
                poly = self._opened(times(poly, {((factor, count),): Fraction(1)}), factor)
        self.relations = () if poly else tuple(used)
        return not poly

    def _opened(self, poly: Poly, factor: Entry) -> Poly:
        """The normal form with what a denominator stands for in its place."""
        item, total = self.items[factor.tensor], Poly()
        with self.at(factor.tensor):
            inside = self.nf(substitute(item.body, dict(zip(item.vars, factor.args, strict=True))))
        for mono, c in poly.items():
            part: Poly = {powers((f, e) for f, e in mono if f is not factor): c}
            for _ in range(dict(mono).get(factor, 0)):
                part = times(part, inside)
            total = plus(total, part)
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
        """A product of factors, each brought to its final form; deltas of numbers are 0 or 1."""
        numbers = [f for f, _ in pairs if is_number(f)]
        if any(f.args[0] is not f.args[1] for f in numbers):  # type: ignore[union-attr]
            return {}
        pairs = [(f, e) for f, e in pairs if f not in numbers]
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
