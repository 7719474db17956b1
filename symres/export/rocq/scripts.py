"""Proof scripts for the algebra: each item equals its normal form, shown from the normal forms of the items below it.

A sum is proved through ``sum_combination``: the summand as a linear combination at one index (``field``), then each sum of
a product is brought to its canonical component by opening, exchanging and renaming sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from symres.export.rocq.items import Algebra
from symres.export.rocq.monomials import (
    DELTA,
    Component,
    Factor,
    Poly,
    Powers,
    component,
    is_bit,
    place,
)
from symres.export.rocq.normal import Item, flattened, other, split
from symres.export.rocq.nodes import Inverse, Level, Node, Number, Opposite, Plus, Power, Times, Total, text
from symres.export.rocq.scope import Scope
from symres.export.rocq.splits import split_script
from symres.export.rocq.writing import binders, braces
from symres.kernel.terms import Apply, Entry, Fun, Maximum, Num, Pow, Size, Sum, Tensor, Term, Var, substitute, walk


class Conditions(Protocol):
    """Where names and facts about single atoms come from."""

    def new(self, hint: str) -> str:
        """An identifier that nothing has."""

    def signs(self, scope: Scope, tensor: Tensor, variables: tuple[Var, ...], body: Term) -> list[str]:
        """The lemma about the sign of an item, where its form shows it."""

    def idempotent(self, scripts: Scripts, entry: Entry) -> str:
        """A proof that an atom equals its own square."""

    def nonzero(self, scripts: Scripts, entry: Entry) -> str:
        """A proof that an atom is not zero."""


class Scripts:
    """Writes the definitions of items and the lemmas about them, each once and after what it rests on."""

    def __init__(self, algebra: Algebra, scope: Scope, conditions: Conditions) -> None:
        self.algebra, self.scope, self.conditions = algebra, scope, conditions
        self.lines: list[str] = []
        self.done: set[Tensor] = set()
        self.lemmas: dict[tuple[str, Tensor], str] = {}
        self.count = 0

    # ------------------------------------------------------------ texts

    def factor(self, factor: Factor, exponent: int = 1) -> Node:
        """A power of a factor as a tree."""
        node = self.nested(factor) if isinstance(factor, Component) else self.scope.lower(factor)
        if abs(exponent) > 1:
            node = Power(node, abs(exponent))
        return Inverse(node, Num(0)) if exponent < 0 else node

    def nested(self, factor: Component) -> Node:
        """A component as nested sums."""
        with self.scope.bound(*factor.vars) as names:
            node = self.product(factor.factors)
        for var, name in reversed(list(zip(factor.vars, names, strict=True))):
            node = Total(self.scope.size(var.dim), self.scope.fact(var.dim), name, "H" + name, node)
        return node

    def product(self, pairs: Iterable[tuple[Factor, int]]) -> Node:
        """A product; 1 if there is nothing to multiply."""
        node: Node | None = None
        for factor, exponent in pairs:
            part = self.factor(factor, exponent)
            node = part if node is None else Times(node, part)
        return node or Number(Num(1).value)

    def monomial(self, mono: Powers, coefficient: object) -> tuple[bool, Node]:
        """Whether a monomial has a minus, and the monomial after it."""
        value = Num(coefficient).value  # type: ignore[arg-type]
        negative, size = value < 0, abs(value)
        if not mono:
            return negative, Number(size)
        node = self.product(mono)
        return negative, node if size == 1 else Times(Number(size), node)

    def poly(self, poly: Poly) -> str:
        """A normal form in Coq's notation."""
        node: Node | None = None
        for mono, c in sorted(poly.items(), key=lambda pair: len(pair[0])):
            negative, part = self.monomial(mono, c)
            if node is None:
                node = Opposite(part) if negative else part
            else:
                node = Plus(node, Opposite(part) if negative else part)
        return text(node) if node is not None else "0"

    # ------------------------------------------------------------ items

    def declare(self, tensor: Tensor) -> None:
        """Write the definition of an item that is not a definition of the derivation."""
        item = self.algebra.items.get(tensor)
        if item is None or tensor in self.done:
            return
        self.done.add(tensor)
        for node in walk(item.body):
            if isinstance(node, Entry):
                self.declare(node.tensor)
        if not item.defined:
            name = self.scope.symbols[tensor].name
            with self.scope.bound(*item.vars) as names:
                body = self.scope.text(item.body)
            self.lines.append(f"Definition {name} {binders(names)}: R := {body}.")
            self.lines += self.conditions.signs(self.scope, tensor, item.vars, item.body)

    def lemma(self, tensor: Tensor, *, opened: bool = False) -> str:
        """The name of the lemma that an item equals its normal form; ``opened`` is about an opaque item's body."""
        suffix = "_is" if opened else "_nf"
        if (suffix, tensor) not in self.lemmas:
            outside, self.scope.vars = self.scope.vars, {}
            later, self.algebra.now = self.algebra.now, math.inf
            self.lemmas[suffix, tensor] = self._lemma(tensor, suffix)
            self.scope.vars, self.algebra.now = outside, later
        return self.lemmas[suffix, tensor]

    def _lemma(self, tensor: Tensor, suffix: str) -> str:
        self.declare(tensor)
        item = self.algebra.items[tensor]
        name = self.conditions.new(self.scope.symbols[tensor].name.replace("'", "_") + suffix)
        with self.scope.bound(*item.vars) as names:
            poly = self.algebra.body(tensor) if suffix == "_is" else self.algebra.poly(tensor)
            left = text(self.scope.lower(Entry(tensor, item.vars)))
            statement = f"{left} = {self.poly(poly)}"
            with self.algebra.at(tensor):
                script = self.script(item, poly)
        head = binders(names, [f"{self.scope.size(var.dim)}" for var in item.vars])
        self.lines += [f"Lemma {name} {head}: {statement}.", "Proof.", *(f"  {line}" for line in script), "Qed."]
        return name

    def script(self, item: Item, poly: Poly) -> list[str]:
        """The proof that an item equals its normal form."""
        if item.split is not None:
            return split_script(self, item, poly)
        if item.same is not None:
            return self._same(item, item.same)
        if isinstance(item.body, Sum):
            return self._sum(item.body, poly)
        return [f"transitivity ({self.scope.text(item.body)}); [reflexivity|].", *self.equate(item.body, poly=poly)]

    def _same(self, item: Item, same: Entry) -> list[str]:
        self.declare(same.tensor)
        first = self.algebra.items[same.tensor]
        if isinstance(item.body, (Apply, Maximum)):
            return ["reflexivity."]
        names = self.scope.symbols[item.tensor].name, self.scope.symbols[same.tensor].name
        if item.kind == "square":
            root = self.scope.text(same)
            square = self.square(same)
            inside = [f"rewrite {square}.", *self.equate(item.body, poly=self.algebra.nf(item.body))]
            return [f"unfold {names[0]}. transitivity ({root} * {root}); [|unfold Rdiv; ring].", *inside]
        mapping = dict(zip(first.vars, same.args, strict=True))
        lines = [f"unfold {names[0]}, {names[1]}."]
        own, its = item.body, first.body
        if isinstance(own, (Pow, Fun)):
            lines, own, its = [*lines, "apply f_equal."], own.children[0], its.children[0]
        return [*lines, *self.equate(own, substitute(its, mapping))]

    # ------------------------------------------------------------ one equation at fixed indices

    def equate(self, *terms: Term, poly: Poly | None = None) -> list[str]:
        """Close an equation between flat terms: put in normal forms, settle their components, then ``field``."""
        lines, fixes, seen = [], [], set()
        factors: set[tuple[Factor, int]] = set()
        self.algebra.squared.clear()
        for term in terms:
            factors |= {pair for mono in self.algebra.nf(term) for pair in mono}
        squared = sorted(self.algebra.squared, key=repr)
        for mono in poly or {}:
            factors |= set(mono)
        below = [n.base for term in terms for n in walk(term) if isinstance(n, Pow) and n.exponent < 0]
        factors |= {(f, -1) for base in below for mono in self.algebra.nf(base) for f, _ in mono}
        for node in (n for term in terms for n in walk(term)):
            if not isinstance(node, Entry) or node in seen:
                continue
            seen.add(node)
            item = self.algebra.items.get(node.tensor)
            if item is None or node.tensor in self.algebra.opaque:
                self.declare(node.tensor)
                factors.add((node, 1))
                if node.tensor is DELTA:
                    fixes.append(node)
                continue
            arguments = " ".join((self.lemma(node.tensor), *self.scope.ranged(node.args)))
            lines.append(f"rewrite ({arguments}).")
            mapping = dict(zip(item.vars, node.args, strict=True))
            for mono in self.algebra.poly(node.tensor):
                for factor, exponent in mono:
                    literal = place(factor, mapping)
                    factors.add((literal, exponent))
                    fixes.append(literal)
        lines += self.fix(fixes)
        return [*lines, *self.close(factors, squared=squared)]

    def fix(self, factors: Iterable[Factor]) -> list[str]:
        """Rewrite factors that are not in their final form."""
        lines, seen = [], set()
        for literal in factors:
            final = self.algebra.final(literal)
            if final == literal or literal in seen:
                continue
            seen.add(literal)
            self.count += 1
            name = f"C{self.count}"
            left, right = text(self.factor(literal)), text(self.factor(final))
            script = self.settle(literal, final)
            lines += [f"assert ({name} : {left} = {right}).", *braces(script), f"rewrite {name}."]
        return lines

    def settle(self, literal: Factor, final: Factor) -> list[str]:
        """The proof that a factor equals its final form."""
        if isinstance(final, Component):
            assert isinstance(literal, Component)
            return self.reorder(literal, final)
        if isinstance(literal, Component):
            assert isinstance(final, Entry)
            item = self.algebra.items[final.tensor]
            name = self.lemma(final.tensor, opened=True)
            ((mono, _),) = self.algebra.body(final.tensor).items()
            body = place(mono[0][0], dict(zip(item.vars, final.args, strict=True)))
            assert isinstance(body, Component)
            inside = self.reorder(literal, body)
            arguments = " ".join((name, *self.scope.ranged(final.args)))
            return [f"transitivity ({text(self.factor(body))}).", *braces(inside), f"symmetry; exact ({arguments})."]
        return ["apply delta_sym."]

    def reorder(self, literal: Component, target: Component) -> list[str]:
        """The proof that two nested sums with the same canonical form are equal."""
        _, here = component(literal.vars, literal.factors)
        _, there = component(target.vars, target.factors)
        order = [here[var] for var in literal.vars]
        return self.permute(order, [there[var] for var in target.vars], target)

    def permute(self, order: list[Var], wanted: list[Var], target: Component) -> list[str]:
        """Exchange neighbouring sums until they stand in the wanted order, then compare the summands."""
        lines = exchange(order, wanted)
        with self.scope.bound(*target.vars) as names:
            lines += [f"apply sum_ext; intros {name} H{name}." for name in names]
            lines += self.close(set(target.factors), tactic="ring")
        return lines

    # ------------------------------------------------------------ sums

    def _sum(self, body: Sum, poly: Poly) -> list[str]:
        var, size = body.var, self.scope.size(body.var.dim)
        inner = self.algebra.nf(body.body)
        groups: dict[Powers, Poly] = {}
        for mono, c in inner.items():
            outer, own = split(var, mono)
            groups.setdefault(own, {})[outer] = c
        with self.scope.bound(var) as (name,):
            summand = self.scope.text(body.body)
            pairs = []
            for own, outer_poly in groups.items():
                pairs.append(f"({self.poly(outer_poly)}, fun {name} => {text(self.product(own))})")
            at_one = [f"apply sum_combination; intros {name} H{name}; cbv [combination].", *self.equate(body.body)]
        lines = [
            f"transitivity (sum {size} (fun {name} => {summand})); [reflexivity|].",
            f"transitivity (sums {size} [{'; '.join(pairs)}]).",
            *braces(at_one),
            "cbv [sums].",
        ]
        factors = {pair for mono in (*poly, *(m for p in groups.values() for m in p)) for pair in mono}
        for own in groups:
            result = self.algebra.collapsed(var, own)
            with self.scope.bound(var) as (name,):
                left = f"sum {size} (fun {name} => {text(self.product(own))})"
            right = self.poly(result)
            factors |= {pair for mono in result for pair in mono}
            if self._alike(var, own, result):
                continue
            self.count += 1
            script = self.collapse(var, own, result)
            lines += [f"assert (C{self.count} : {left} = {right}).", *braces(script), f"try rewrite C{self.count}."]
        return [*lines, *self.close(factors)]

    def _alike(self, var: Var, inner: Powers, result: Poly) -> bool:
        """Whether a sum is its canonical component already, but for the name of the index."""
        factors = [pair[0] for mono in result for pair in mono]
        if len(factors) != 1 or not isinstance(factors[0], Component) or len(factors[0].vars) != 1:
            return False
        (new,) = factors[0].vars
        return not any(isinstance(f, Component) for f, _ in inner) and factors[0].factors == tuple(
            (substitute(f, {var: new}), e)
            for f, e in inner  # type: ignore[arg-type]
        )

    def collapse(self, var: Var, inner: Powers, result: Poly) -> list[str]:
        """The proof that the sum over an index of a product is the monomial it collapses to."""
        if not inner:
            return ["rewrite sum_one; simpl; ring."] if isinstance(var.dim, Num) else ["apply sum_one."]
        for factor, _ in inner:
            if isinstance(factor, Entry) and factor.tensor is DELTA:
                return self._contract(var, inner, factor)
        bound, factors = flattened(var, inner)
        target, renaming = component(bound, factors)
        opened = self._open(var, inner, bound, factors)
        lines = [*opened, *self.permute([renaming[v] for v in bound], list(target.vars), target)]
        ((mono, _),) = result.items()
        final = mono[0][0]
        if final == target:
            return lines
        return [f"transitivity ({text(self.factor(target))}).", *braces(lines), *self.settle(target, final)]

    def _contract(self, var: Var, inner: Powers, factor: Entry) -> list[str]:
        index = other(factor, var)
        rest = [pair for pair in inner if pair[0] is not factor]
        at_index = [(place(f, {var: index}), e) for f, e in rest]
        size = self.scope.size(var.dim)
        with self.scope.bound(var) as (name,):
            function = f"(fun {name} => {text(self.product(rest))})"
            turned = "" if factor.args[0] is var else f"rewrite (delta_sym {self.scope.index(index)} {name}); "
            summand = f"delta {name} {self.scope.index(index)} * ({text(self.product(rest))})"
            close = f"[apply sum_ext; intros {name} H{name}; {turned}unfold Rdiv; ring|]."
        return [
            f"transitivity (sum {size} (fun {name} => {summand})); {close}",
            f"rewrite (sum_delta {size} {self.scope.index(index)} {function} {self.scope.range(index)}).",
            *self.fix(f for f, _ in at_index),
            *self.close(set(at_index)),
        ]

    def _open(self, var: Var, inner: Powers, bound: list[Var], factors: list[tuple[Term, int]]) -> list[str]:
        """Turn a sum of a product with sums inside into one nested sum."""
        if not any(isinstance(factor, Component) for factor, _ in inner):
            return []
        target = Component(tuple(bound), tuple(factors))
        lines = [f"transitivity ({text(self.nested(target))}).", "{"]
        with self.scope.bound(*bound) as names:
            named = dict(zip(bound, names, strict=True))
            lines.append(f"  apply sum_ext; intros {named[var]} H{named[var]}.")
            waiting = [factor for factor, e in inner if isinstance(factor, Component) for _ in range(e)]
            opened: list[tuple[Factor, int]] = [pair for pair in inner if not isinstance(pair[0], Component)]
            rest = iter(bound[1:])
            while waiting:
                first = waiting.pop(0)
                others = text(self.product([*opened, *((factor, 1) for factor in waiting)]), Level.UNARY)
                lines.append(f"  transitivity (({text(self.factor(first))}) * {others}); [unfold Rdiv; ring|].")
                fresh = [next(rest) for _ in first.vars]
                for old in fresh:
                    lines.append(f"  apply sum_factor; intros {named[old]} H{named[old]}.")
                renaming = dict(zip(first.vars, fresh, strict=True))
                opened += [(substitute(f, renaming), e) for f, e in first.factors]
            lines.append("  unfold Rdiv; ring.")
        return [*lines, "}"]

    # ------------------------------------------------------------ closing

    def close(
        self, factors: set[tuple[Factor, int]], tactic: str = "field", squared: Sequence[Entry] = ()
    ) -> list[str]:
        """The facts that the factors need, then ``field`` or ``ring`` modulo idempotent factors and squares of roots."""
        facts, bits = [], [self.square(root) for root in squared]
        for factor, exponent in sorted(factors, key=repr):
            if exponent < 0 and tactic == "field":
                proof = self.nonzero(factor)
                if proof not in facts:
                    facts.append(proof)
            if is_bit(factor):
                proof = self.conditions.idempotent(self, factor)  # type: ignore[arg-type]
                if proof not in bits:
                    bits.append(proof)
        modulo = f" [{' '.join(bits)}]" if bits else ""
        if tactic == "ring":
            return [f"unfold Rdiv; ring{modulo}."]
        return [*(f"pose proof {fact}." for fact in facts), f"field{modulo}; repeat split; assumption."]

    def square(self, root: Entry) -> str:
        """A proof that the square of a root is the normal form of what stands under it."""
        name = f"{self.scope.symbols[root.tensor].name}_square"
        if ("square", root.tensor) not in self.lemmas:
            self.lemmas["square", root.tensor] = name
            outside, self.scope.vars = self.scope.vars, {}
            self.declare(root.tensor)
            item = self.algebra.items[root.tensor]
            under = item.body.children[0]
            with self.scope.bound(*item.vars) as names, self.algebra.at(root.tensor):
                entry = Entry(root.tensor, item.vars)
                own, poly = self.scope.text(entry), self.algebra.nf(under)
                script = self.equate(under, poly=poly)
                nonzero = self.conditions.nonzero(self, entry)
                statement = f"{own} * {own} = {self.poly(poly)}"
                first = f"transitivity ({self.scope.text(under)}); [exact (sqrt_square _ {nonzero})|]."
            head = binders(names, [self.scope.size(var.dim) for var in item.vars])
            self.lines += [f"Lemma {name} {head}: {statement}.", "Proof.", f"  {first}"]
            self.lines += [*(f"  {line}" for line in script), "Qed."]
            self.scope.vars = outside
        return f"({' '.join((name, *self.scope.ranged(root.args)))})"

    def nonzero(self, factor: Factor) -> str:
        """A proof that a factor is not zero."""
        if isinstance(factor, Size):
            return f"{self.scope.size(factor)}_nonzero"
        assert isinstance(factor, Entry)
        return self.conditions.nonzero(self, factor)


def exchange(order: Sequence[Var], wanted: Sequence[Var]) -> list[str]:
    """Exchange neighbouring sums of the left side of an equation until they stand in the wanted order."""
    lines, order = [], list(order)
    for position, var in enumerate(wanted):
        for k in range(order.index(var), position, -1):
            order[k - 1], order[k] = order[k], order[k - 1]
            depth = f"do {k - 1} (apply sum_ext; intros ? ?); " if k > 1 else ""
            lines.append(f"eapply eq_trans; [{depth}apply sum_swap|cbv beta].")
    return lines
