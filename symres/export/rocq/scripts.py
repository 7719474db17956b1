"""Proof scripts for the algebra: each item equals its normal form, shown from the normal forms of the items below it.

A sum is proved through ``sum_combination``: the summand as a linear combination at one index (``field``), then each sum of
a product is brought to its canonical component by opening, exchanging and renaming sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Protocol

from symres.export.rocq.items import Algebra
from symres.export.rocq.monomials import DELTA, Component, Factor, Poly, is_bit, place, powers, times
from symres.export.rocq.nodes import Level, text
from symres.export.rocq.normal import Item
from symres.export.rocq.products import is_number
from symres.export.rocq.scope import Scope
from symres.export.rocq.splits import split_script
from symres.export.rocq.sums import SumScripts
from symres.export.rocq.writing import binders, braces
from symres.kernel.terms import Apply, Entry, Fun, Maximum, Pow, Size, Sum, Tensor, Term, Var, substitute, walk


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


class Scripts(SumScripts):
    """Writes the definitions of items and the lemmas about them, each once and after what it rests on."""

    def __init__(self, algebra: Algebra, scope: Scope, conditions: Conditions) -> None:
        super().__init__(algebra, scope)
        self.conditions = conditions
        self.pending: list[str] = []
        self.lines: list[str] = []
        self.done: set[Tensor] = set()
        self.lemmas: dict[tuple[str, Tensor], str] = {}

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
            return self.sum(item.body, poly)
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

    def equate(self, *terms: Term, poly: Poly | None = None, relations: Sequence[Entry] = ()) -> list[str]:
        """Close an equation between flat terms: put in normal forms, settle their components, then ``field``."""
        lines: list[str] = []
        fixes: list[Factor] = []
        seen: set[Entry] = set()
        factors: set[tuple[Factor, int]] = set()
        self.algebra.squared.clear()
        for term in terms:
            factors |= {pair for mono in self.algebra.nf(term) for pair in mono}
        squared = sorted({*self.algebra.squared, *relations}, key=repr)
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
            if is_number(literal) and literal not in seen:
                seen.add(literal)
                self.count += 1
                value = int(literal.args[0] is literal.args[1])  # type: ignore[union-attr]
                lines.append(f"assert (C{self.count} : {text(self.factor(literal))} = {value}) by reflexivity.")
                lines.append(f"try rewrite C{self.count}.")
                continue
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

    # ------------------------------------------------------------ closing

    def close(
        self, factors: set[tuple[Factor, int]], tactic: str = "field", squared: Sequence[Entry] = ()
    ) -> list[str]:
        """The facts that the factors need, then ``field`` or ``ring`` modulo idempotent factors and squares of roots."""
        facts, bits = [], [self.relation(atom) for atom in squared]
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
        pending, self.pending = self.pending, []
        if tactic == "ring":
            return [f"unfold Rdiv; ring{modulo}."]
        return [*pending, *(f"pose proof {fact}." for fact in facts), f"field{modulo}; repeat split; assumption."]

    def relation(self, atom: Entry) -> str:
        """A proof of what a root or a denominator is, both sides multiplied so that nothing is divided by.

        ``field`` takes it as a rule in this form only.
        """
        item = self.algebra.items[atom.tensor]
        root = isinstance(item.body, Pow)
        under = item.body.children[0] if root else item.body
        at = dict(zip(item.vars, atom.args, strict=True))
        with self.algebra.at(atom.tensor):
            poly = self.algebra.nf(substitute(under, at))
        below: dict[Factor, int] = {}
        for factor, exponent in (pair for mono in poly for pair in mono):
            below[factor] = max(below.get(factor, 0), -exponent)
        common = powers(below.items())
        if root:
            first = self.square(atom)
        else:
            first = f"({' '.join((self.lemma(atom.tensor, opened=True), *self.scope.ranged(atom.args)))})"
        if not common:
            return first
        left = powers((*common, (atom, 2 if root else 1)))
        own = self.scope.text(atom)
        words = f"{text(self.product(common), Level.PRODUCT)} * ({own}{f' * {own}' if root else ''})"
        right = self.poly(times({common: Fraction(1)}, poly))
        factors = {pair for mono in (*poly, left) for pair in mono}
        self.count += 1
        name = f"R{self.count}"
        waiting, self.pending = self.pending, []
        script = braces([f"rewrite {first}.", *self.close(factors)])
        self.pending = [*waiting, f"assert ({name} : {words} = {right}).", *script]
        return name

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
                first = f"transitivity ({self.scope.text(under)}); [exact (square_of_root _ {nonzero})|]."
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
