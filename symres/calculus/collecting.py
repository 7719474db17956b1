"""A polynomial as a person writes it: common factors in front, 1/n beside the sum that it makes a mean, few brackets."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

from symres.calculus.matching import unifications
from symres.kernel.monomials import Atom, Mono, Poly
from symres.kernel.normal import from_factors, merge, normal_form, plus, size_atom
from symres.kernel.terms import (
    ZERO,
    Add,
    Entry,
    Fun,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Term,
    Var,
    add,
    mul,
    power,
    substitute,
    sum_,
    walk,
)
from symres.language.formula import ADJOINT

Factors = dict[Atom, Fraction]
_LONGER = 1.25
"""How much longer a folded form may be than the chain rule's own, if it does not have more terms."""


class Wording:
    """How the author wrote what the normal form multiplies out: the bases of powers and the arguments of functions."""

    def __init__(self, sources: Iterable[Term]) -> None:
        self.known: dict[tuple[str, str], list[tuple[Atom, Term]]] = {}
        self.seen: set[Term] = set()
        for source in sources:
            self.learn(source)

    def learn(self, source: Term) -> None:
        """Note the powers and functions in a term."""
        for node in walk(source):
            if not isinstance(node, (Fun, Pow)) or node in self.seen:
                continue
            self.seen.add(node)
            form = normal_form(node)
            if len(form.terms) != 1:
                continue
            ((_, mono),) = form.monomials()
            if len(mono.factors) != 1 or mono.bound:
                continue
            (atom,) = mono.factors
            written = node.base if isinstance(node, Pow) else node
            if atom.kind in "PFE" and normal_form(written).key() == normal_form(atom.term).key():
                self.known.setdefault((atom.kind, atom.head), []).append((atom, written))

    def term(self, atom: Atom) -> Term:
        """The atom in the author's words, if they are known."""
        for known, written in self.known.get((atom.kind, atom.head), ()):
            for renaming in unifications(known, atom, {}):
                return substitute(written, dict(renaming))
        return atom.term


def collect(poly: Poly, wording: Wording | None = None) -> Term:
    """The polynomial as a term: its common factor times the sum of what is left."""
    wording = wording or Wording(())
    if not poly:
        return ZERO
    coefficient, factors, rest = common_factor(poly)
    parts = sorted(rest.monomials(), key=lambda item: _order(*item))
    if len(parts) == 1:
        ((own, mono),) = parts
        return _product(coefficient * own, Mono(mono.bound, merge(mono.factors, factors)), wording)
    inner = add(*(_product(own, mono, wording) for own, mono in parts))
    return mul(*_factors(coefficient, Mono(frozenset(), factors), wording), inner)


def common_factor(poly: Poly) -> tuple[Fraction, Factors, Poly]:
    """A number and powers of atoms that divide every monomial, and the quotient, whose first monomial is positive."""
    monomials = list(poly.monomials())
    number = Fraction(gcd(*(c.numerator for c, _ in monomials)), lcm(*(c.denominator for c, _ in monomials)))
    if min(monomials, key=lambda item: _order(abs(item[0]), item[1]))[0] < 0:
        number = -number
    factors: Factors = {}
    first = monomials[0][1]
    for atom in first.factors:
        exponents = [mono.factors.get(atom, Fraction(0)) for _, mono in monomials]
        if any(not atom.free.isdisjoint(mono.bound) for _, mono in monomials):
            continue
        if all(e > 0 for e in exponents):
            factors[atom] = min(exponents)
        elif all(e < 0 for e in exponents):
            factors[atom] = max(exponents)
    inverse = {atom: -e for atom, e in factors.items()}
    rest = plus([from_factors(merge(mono.factors, inverse), c / number, mono.bound) for c, mono in monomials])
    return number, factors, rest


def _order(coefficient: Fraction, mono: Mono) -> tuple[bool, bool, int, int, int, str]:
    """Sums last, deltas first, plus before minus, what stands at every index before what is the same for many."""
    sums = any(bound for bound, _ in mono.pieces())
    names = dict.fromkeys(mono.free, "*")
    deltas = any(atom.kind == "Z" for atom in mono.factors)
    negative = int(coefficient < 0)
    return (sums, not deltas, negative, 0 if sums else -len(mono.free), len(mono.factors), mono.key(names))


def _product(coefficient: Fraction, mono: Mono, wording: Wording) -> Term:
    return mul(*_factors(coefficient, mono, wording))


def _factors(coefficient: Fraction, mono: Mono, wording: Wording) -> list[Term]:
    """Number, sizes, scalars, entries, then the sums, each with the 1/n that makes it a mean."""
    free: list[tuple[Atom, Fraction]] = []
    sums: list[tuple[tuple[Var, ...], Term]] = []
    for bound, factors in mono.pieces():
        if bound:
            body = mul(*(_power(atom, e, wording) for atom, e in sorted(factors.items(), key=_factor_order)))
            sums.append((tuple(sorted(bound, key=lambda var: var.uid)), body))
        else:
            free.extend(factors.items())
    sizes = {atom: e for atom, e in free if atom.kind == "N"}
    written: list[Term] = []
    for variables, body in sums:
        for var in variables:
            own = size_atom(var.dim) if isinstance(var.dim, Size) else None
            if own is not None and sizes.get(own, Fraction(0)) <= -1:
                written.append(power(var.dim, -1))
                sizes[own] += 1
        written.append(sum_(variables, body))
    front = [power(atom.term, e) for atom, e in sorted(sizes.items(), key=lambda item: item[0].head) if e]
    entries = sorted(((atom, e) for atom, e in free if atom.kind != "N"), key=_factor_order)
    return [mul(coefficient), *front, *(_power(atom, e, wording) for atom, e in entries), *written]


def _factor_order(item: tuple[Atom, Fraction]) -> tuple[int, bool, str]:
    """Scalars before vectors before matrices; adjoints first among those with as many indices."""
    atom, _ = item
    adjoint = isinstance(atom.term, Entry) and atom.term.tensor.name.startswith(ADJOINT)
    return (len(atom.free), not adjoint, atom.label(dict.fromkeys(atom.free, "*")))


def _power(atom: Atom, exponent: Fraction, wording: Wording) -> Term:
    return power(wording.term(atom), exponent)


def reads_better(found: Term, term: Term) -> bool:
    """Whether a folded form is to be preferred: it is no longer, or hardly longer and has no more terms."""
    longer = length(found) / length(term)
    return longer <= 1 or (longer <= _LONGER and _summands(found) <= _summands(term))


def _summands(term: Term) -> int:
    """The number of terms of the outermost sum."""
    if isinstance(term, Add):
        return len(term.args)
    return max((_summands(child) for child in term.children if isinstance(term, (Mul, Sum))), default=1)


def length(term: Term) -> int:
    """How many nodes a term has when it is written out; a number counts by its digits, for large ones are no reading."""
    done: dict[Term, int] = {}

    def count(node: Term) -> int:
        if node not in done:
            own = len(str(node.value)) if isinstance(node, Num) else 1
            done[node] = own + sum(map(count, node.children))
        return done[node]

    return count(term)
