"""Proof scripts for sums: nested sums are opened, exchanged and renamed until they are canonical components."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symres.export.rocq.items import Algebra
from symres.export.rocq.monomials import DELTA, Component, Factor, Poly, Powers, component, place
from symres.export.rocq.nodes import Level, text
from symres.export.rocq.products import flattened, other, split
from symres.export.rocq.scope import Scope
from symres.export.rocq.texts import Texts
from symres.export.rocq.writing import braces
from symres.kernel.terms import Entry, Num, Sum, Term, Var, substitute


class SumScripts(Texts):
    """The part of :class:`~symres.export.rocq.scripts.Scripts` that is about sums."""

    def __init__(self, algebra: Algebra, scope: Scope) -> None:
        super().__init__(scope)
        self.algebra, self.count = algebra, 0

    def equate(self, *terms: Term, poly: Poly | None = None, relations: Sequence[Entry] = ()) -> list[str]:
        """Close an equation between flat terms."""
        raise NotImplementedError

    def fix(self, factors: Iterable[Factor]) -> list[str]:
        """Rewrite factors that are not in their final form."""
        raise NotImplementedError

    def settle(self, literal: Factor, final: Factor) -> list[str]:
        """The proof that a factor equals its final form."""
        raise NotImplementedError

    def close(
        self, factors: set[tuple[Factor, int]], tactic: str = "field", squared: Sequence[Entry] = ()
    ) -> list[str]:
        """Close an equation between atoms."""
        raise NotImplementedError

    def sum(self, body: Sum, poly: Poly) -> list[str]:
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
        plain = Component((new,), tuple((f, e) for f, e in inner if not isinstance(f, Component)))
        return len(plain.factors) == len(inner) and place(plain, {var: new}) == factors[0]

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


def exchange(order: Sequence[Var], wanted: Sequence[Var]) -> list[str]:
    """Exchange neighbouring sums of the left side of an equation until they stand in the wanted order."""
    lines, order = [], list(order)
    for position, var in enumerate(wanted):
        for k in range(order.index(var), position, -1):
            order[k - 1], order[k] = order[k], order[k - 1]
            depth = f"do {k - 1} (apply sum_ext; intros ? ?); " if k > 1 else ""
            lines.append(f"eapply eq_trans; [{depth}apply sum_swap|cbv beta].")
    return lines
