"""Folding: from a gradient multiplied out to the closed form that people publish.

The terms of a gradient are a polynomial in contraction monomials, in which the author's intermediates are unknowns. A
*rule* says that a named value equals a polynomial, ``x_hat[b, i] = x[b, i] rstd[b] - mu[b] rstd[b]``, or that a sum
vanishes, ``Σ_i (x[b, i] - mu[b]) = 0``. Where the leading monomial of a rule divides one of the gradient, also under
its sums, and the rule makes the polynomial shorter, it is applied. What is left is put together by
:mod:`symres.calculus.collecting`. All of this is search: :func:`fold` returns nothing that is not proved equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

from symres.calculus.collecting import Wording, collect, reads_better
from symres.calculus.matching import UNITS, Factors, Match, divisions, unifications
from symres.errors import BudgetExceeded
from symres.kernel.brackets import bind
from symres.kernel.monomials import Atom, Mono, Poly
from symres.kernel.normal import from_factors, merge, normal_form, plus, poly_term, scale, times
from symres.kernel.terms import ZERO, Add, Entry, Tensor, Term, Var, sum_, transform, walk
from symres.language.equality import Expanded, proved_equal
from symres.language.program import Definition

_ROUNDS = 200
_HELD = "·"
"""Marks the stand-ins of sums that have no name."""


@dataclass(frozen=True)
class Rule:
    """``name[vars] = body``; where ``name`` is None the body is zero. ``lead`` is the monomial it is looked for by."""

    name: Tensor | None
    vars: tuple[Var, ...]
    body: Term
    lead: Mono
    coefficient: Fraction

    def value(self, indices: Sequence[Term]) -> Poly:
        """What takes the place of the body."""
        return normal_form(Entry(self.name, tuple(indices))) if self.name is not None else Poly({})

    def inside(self, indices: Sequence[Term]) -> Poly:
        """The body at the given indices."""
        return normal_form(Definition(Tensor(""), (), self.vars, self.body).at(indices))


def rule(name: Tensor | None, variables: tuple[Var, ...], body: Term) -> Rule | None:
    """A rule with its leading monomial, the one with most factors; None for a body without any."""
    ranked = sorted(
        normal_form(body).monomials(),
        key=lambda item: (_degree(item[1]), len(item[1].free), item[1].key()),
        reverse=True,
    )
    if not ranked or not _degree(ranked[0][1]):
        return None
    coefficient, lead = ranked[0]
    return Rule(name, variables, body, lead, coefficient)


def _degree(mono: Mono) -> Fraction:
    return sum((abs(e) for atom, e in mono.factors.items() if atom.kind not in UNITS), Fraction(0))


@dataclass(frozen=True)
class Folded:
    """A term in its closed form, and the rules by which it became so, each once, in order."""

    term: Term
    trail: tuple[Rule, ...] = ()

    weight: tuple[int, Fraction] = (0, Fraction(0))

    @property
    def vanishing(self) -> tuple[Term, ...]:
        """The sums that vanished on the way."""
        return tuple(rule.body for rule in self.trail if rule.name is None)


class Folding:
    """The rules that the definitions of a program give.

    Args:
        definitions: the named values of the forward pass, in order; adjoints come in as unknowns.
        words: further terms in whose words results may be written.
    """

    def __init__(self, definitions: Mapping[Tensor, Definition], words: Iterable[Term] = ()) -> None:
        self.definitions = dict(definitions)
        self.expanded = Expanded(self.definitions)
        self.sources = [*(definition.body for definition in definitions.values()), *words]
        self.wording = Wording(self.sources)
        self.rank = {tensor.name: place for place, tensor in enumerate(definitions, start=1)}
        self.rules = list(self._rules())
        self.held: dict[Tensor, tuple[tuple[Var, ...], Term]] = {}
        self.held_rules = list(self._unnamed_sums())
        self.vanishing = list(self._vanishing_sums())
        self.by_held = list(self._rules_by_held())

    # ------------------------------------------------------------ rules

    def _rules(self) -> Iterator[Rule]:
        for tensor, definition in self.definitions.items():
            found = rule(tensor, definition.vars, definition.body)
            if found is not None and not isinstance(definition.body, Entry):
                yield found

    def _unnamed_sums(self) -> Iterator[Rule]:
        """A stand-in for each sum like ``x - mu`` that the author wrote without giving it a name."""
        seen: set[str] = set()
        whole = {definition.body for definition in self.definitions.values()}
        for source in self.sources:
            for node in walk(source):
                if not isinstance(node, Add) or node in whole or not self._is_difference(node):
                    continue
                variables = tuple(
                    dict.fromkeys(part for part in walk(node) if isinstance(part, Var) and part in node.free)
                )
                key = normal_form(node).key({var: f"@{place}" for place, var in enumerate(variables)})
                if key in seen:
                    continue
                seen.add(key)
                tensor = Tensor(f"{_HELD}{len(self.held)}", tuple(var.dim for var in variables))
                found = rule(tensor, variables, node)
                if found is not None:
                    self.held[tensor] = (variables, node)
                    self.rank[tensor.name] = len(self.definitions) + len(self.held)
                    yield found

    def _is_difference(self, node: Add) -> bool:
        """Whether it is linear in arrays and named values, without a constant such as eps in ``var + eps``."""

        def varies(part: Term) -> bool:
            return isinstance(part, Entry) and (bool(part.args) or part.tensor in self.definitions)

        linear = all(_degree(mono) == 1 for _, mono in normal_form(node).monomials())
        return linear and all(any(map(varies, walk(arg))) for arg in node.args)

    def _rules_by_held(self) -> Iterator[Rule]:
        """The rules again, their bodies written with the stand-ins: x_hat is one product then, not two."""
        for each in self.rules:
            if each.name is not None:
                body, _ = self._applied(normal_form(each.body), self.held_rules)
                found = rule(each.name, each.vars, poly_term(body))
                if found is not None and len(body.terms) < len(normal_form(each.body).terms):
                    yield found

    def _vanishing_sums(self) -> Iterator[Rule]:
        """``Σ T = 0`` for the named or held values whose sum over some of their axes is proved to vanish."""
        known = [(d.tensor, d.vars, d.body) for d in self.definitions.values()]
        known += [(tensor, variables, body) for tensor, (variables, body) in self.held.items()]
        for tensor, variables, body in known:
            if not any(isinstance(node, Add) for node in walk(body)):
                continue
            minimal: list[tuple[Var, ...]] = []
            for count in range(1, len(variables) + 1):
                for summed in combinations(variables, count):
                    if any(set(less) <= set(summed) for less in minimal):
                        continue
                    if self._vanishes(sum_(summed, body)):
                        minimal.append(summed)
                        kept = tuple(var for var in variables if var not in summed)
                        found = rule(None, kept, sum_(summed, Entry(tensor, variables)))
                        if found is not None:
                            yield found

    def _vanishes(self, term: Term) -> bool:
        try:
            return proved_equal(term, ZERO, self.expanded)
        except BudgetExceeded:
            return False

    # ------------------------------------------------------------ application

    def fold(self, term: Term) -> Folded:
        """A shorter form of a gradient, in the named values; the term itself where nothing better is proved equal."""
        try:
            poly = normal_form(term)
            ways = [[*self.held_rules, *self.vanishing, *self.by_held, *self.rules], [*self.rules, *self.vanishing]]
            short, trail = min((self._applied(poly, rules) for rules in ways), key=lambda way: self._weight(way[0]))
            found = self._released(collect(short, self.wording))
            if reads_better(found, term) and proved_equal(term, found, self.expanded):
                shown = {each.body: each for each in map(self._shown, trail) if each is not None}
                return Folded(found, tuple(shown.values()), self._weight(short))
        except BudgetExceeded:
            pass
        return Folded(term, (), (_ROUNDS, Fraction(_ROUNDS)))

    def _shown(self, each: Rule) -> Rule | None:
        """A rule without stand-ins; None for one that only introduces a stand-in."""
        return None if each.name in self.held else replace(each, body=self._released(each.body))

    def _released(self, term: Term) -> Term:
        return transform(term, self._release)

    def _release(self, node: Term) -> Term | None:
        """What a stand-in stands for."""
        if isinstance(node, Entry) and node.tensor in self.held:
            variables, body = self.held[node.tensor]
            return Definition(node.tensor, (), variables, body).at(node.args)
        return None

    def _applied(self, poly: Poly, rules: Iterable[Rule]) -> tuple[Poly, list[Rule]]:
        """The rules applied until none makes the polynomial shorter, and which were."""
        rules = list(rules)
        poly, trail = self._named_powers(poly)
        for _ in range(_ROUNDS):
            shorter = next(((each, found) for each in rules for found in self._rewritings(poly, each)), None)
            if shorter is None:
                break
            poly, powers = self._named_powers(shorter[1])
            trail += [shorter[0], *powers]
        return poly, trail

    def _rewritings(self, poly: Poly, each: Rule) -> Iterator[Poly]:
        weight = self._weight(poly)
        for coefficient, mono in poly.terms.values():
            for match in divisions(each.lead, each.vars, mono):
                changed = _exchange(poly, match, coefficient / each.coefficient, each)
                if self._weight(changed) < weight:
                    yield changed

    def _weight(self, poly: Poly) -> tuple[int, Fraction]:
        """Fewer terms are better; among as many, those in later names, with fewer factors and sums."""
        return len(poly.terms), self._degree(poly)

    def _degree(self, poly: Poly) -> Fraction:
        total = Fraction(0)
        for _, mono in poly.monomials():
            total += Fraction(len(mono.bound), 2)
            for atom, exponent in mono.factors.items():
                if atom.kind not in UNITS:
                    total += abs(exponent) * (1 - Fraction(self._rank(atom), 1000))
        return total

    def _rank(self, atom: Atom) -> int:
        return self.rank.get(atom.term.tensor.name, 0) if isinstance(atom.term, Entry) else 0

    def _named_powers(self, poly: Poly) -> tuple[Poly, list[Rule]]:
        """Powers of a base that has a name for one of them: (var + eps)^(-3/2) is rstd³ where rstd is its (-1/2)th."""
        used = []
        for each in self.rules:
            root = _root(each)
            if root is not None:
                named = plus([Poly({}), *(self._power(c, mono, each, *root) for c, mono in poly.monomials())])
                used += [each] if named.key() != poly.key() else []
                poly = named
        return poly, used

    def _power(
        self, coefficient: Fraction, mono: Mono, each: Rule, atom: Atom, exponent: Fraction, units: Factors
    ) -> Poly:
        for other, have in mono.factors.items():
            count = have / exponent
            if count.denominator != 1:
                continue
            for renaming in unifications(atom, other, {}):
                if all(var in renaming for var in each.vars):
                    ((_, named),) = each.value([renaming[var] for var in each.vars]).monomials()
                    rest = {a: e for a, e in mono.factors.items() if a is not other}
                    for factors, times_ in ((units, -count), (named.factors, count)):
                        rest = merge(rest, {a: e * times_ for a, e in factors.items()})
                    return from_factors(rest, coefficient / each.coefficient ** int(count), mono.bound)
        return Poly({mono.key(): (coefficient, mono)})


def _root(each: Rule) -> tuple[Atom, Fraction, Factors] | None:
    """The atom and the exponent of a named root or quotient, and the sizes beside it; None for any other rule."""
    if each.name is None or each.lead.bound or len(normal_form(each.body).terms) != 1:
        return None
    powers = [(atom, e) for atom, e in each.lead.factors.items() if atom.kind not in UNITS]
    if len(powers) != 1 or powers[0][1] == 1:
        return None
    return (*powers[0], {atom: e for atom, e in each.lead.factors.items() if atom.kind in UNITS})


def _exchange(poly: Poly, match: Match, ratio: Fraction, each: Rule) -> Poly:
    """``poly - ratio · rest · body + ratio · rest · name``, under the sums that are left."""
    inner = plus([each.value(match.indices), scale(each.inside(match.indices), -1)])
    rest = Mono(frozenset(), match.rest)
    return plus([poly, bind(times(Poly({rest.key(): (ratio, rest)}), inner), match.bound)])
