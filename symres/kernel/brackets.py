"""Index arithmetic: simplifying a monomial by its brackets, and what can be said about the sign of an index expression.

A bracket ``[e = 0]`` (kind ``Z``) or ``[e >= 0]`` (kind ``G``) has an integer polynomial ``e`` in index variables, sizes
and integer entries. An equation is solved for a bound variable only where the solution is provably in its range, so that
no index ever leaves the range it was summed over.
"""

from __future__ import annotations

from fractions import Fraction

from symres.kernel.monomials import Atom, Mono, Poly
from symres.kernel.normal import ZERO_POLY, merge, normal_form, number, plus, poly_term, raise_to, rename, scale, times
from symres.kernel.terms import Entry, Iverson, Num, Size, Term, Var, substitute

Factors = dict[Atom, Fraction]


def simplify(coefficient: Fraction, bound: frozenset[Var], factors: Factors) -> Poly:
    """A monomial in simplest terms: whole powers multiplied out, deltas contracted, empty sums replaced by sizes."""
    for atom, exponent in factors.items():
        if atom.kind == "P" and exponent.denominator == 1 and exponent > 0:
            return _expand_power(coefficient, bound, factors, atom, exponent.numerator)
        if atom.kind == "R" and not 0 < exponent < 1:
            whole = exponent.numerator // exponent.denominator
            rest = {other: e for other, e in factors.items() if other is not atom} | {atom: exponent - whole}
            return simplify(coefficient * Fraction(atom.head) ** whole, bound, {a: e for a, e in rest.items() if e})
    if any(atom.kind in "ZG" for atom in factors):
        contracted = _contract(coefficient, bound, factors)
        if contracted is not None:
            return contracted
    used: set[Var] = set()
    for atom in factors:
        used |= atom.free
    unused = bound - used
    if not unused:
        mono = Mono(bound, factors)
        return Poly({mono.key(): (coefficient, mono)})
    mono = Mono(bound - unused, factors)
    result = Poly({mono.key(): (coefficient, mono)})
    for var in unused:
        result = times(result, normal_form(var.dim))
    return result


def _expand_power(coefficient: Fraction, bound: frozenset[Var], factors: Factors, atom: Atom, exponent: int) -> Poly:
    rest = {other: e for other, e in factors.items() if other is not atom}
    base = atom.parts[0]
    assert isinstance(base, Poly)
    taken = bound.union(*(other.free for other in rest))
    results = [ZERO_POLY]
    for c, mono in raise_to(base, exponent).monomials():
        clash = mono.bound & taken
        fresh = rename(mono, clash) if clash else mono
        results.append(simplify(coefficient * c, bound | fresh.bound, merge(rest, fresh.factors)))
    return plus(results)


# ---------------------------------------------------------------- contraction


def _contract(coefficient: Fraction, bound: frozenset[Var], factors: Factors) -> Poly | None:
    """One contraction step and all that follow from it, or None when nothing can be contracted."""
    equations = [atom for atom in factors if atom.kind == "Z"]
    for atom in equations:
        for var in atom.free & bound:
            solution = _solve(atom, var, factors)
            if solution is not None:
                rest = {other: e for other, e in factors.items() if other is not atom}
                return replace(coefficient, bound - {var}, rest, var, solution)
    reduced = _eliminate(equations)
    if reduced is not None:
        old, new = reduced
        rest = {other: e for other, e in factors.items() if other is not old}
        return _with_poly(coefficient, bound, rest, new)
    for atom in equations:
        pair = _plain_pair(atom)
        if pair is not None:
            keep, drop = sorted(pair, key=lambda var: var.uid)
            rest = {other: e for other, e in factors.items() if other is not atom}
            if not bound & {keep, drop} and any(drop in other.free for other in rest) and _in_range(keep, drop.dim):
                changed = replace(coefficient, bound, rest, drop, keep)
                return _with_factor(changed, atom)
    return None


def replace(coefficient: Fraction, bound: frozenset[Var], factors: Factors, var: Var, value: Term) -> Poly:
    """The monomial with ``var`` replaced by ``value``."""
    kept: Factors = {}
    changed: list[tuple[Atom, Fraction]] = []
    for atom, exponent in factors.items():
        if var in atom.free:
            changed.append((atom, exponent))
        else:
            kept[atom] = exponent
    # The bound variables stay free until all factors are multiplied, then they are summed in one go.
    results = Poly({})
    mono = Mono(frozenset(), kept)
    results = Poly({mono.key(): (coefficient, mono)})
    for atom, exponent in changed:
        results = times(results, atom_power(substitute(atom.term, {var: value}), exponent))
    return bind(results, bound)


def atom_power(term: Term, exponent: Fraction) -> Poly:
    """The normal form of ``term ** exponent``."""
    from symres.kernel.powers import power_of

    form = normal_form(term)
    return form if exponent == 1 else power_of(form, exponent)


def bind(poly: Poly, bound: frozenset[Var]) -> Poly:
    """The sum of a polynomial over several variables at once."""
    results = [ZERO_POLY]
    for c, mono in poly.monomials():
        clash = mono.bound & bound
        inner = rename(mono, clash) if clash else mono
        results.append(simplify(c, inner.bound | bound, inner.factors))
    return plus(results)


def _with_poly(coefficient: Fraction, bound: frozenset[Var], factors: Factors, other: Poly) -> Poly:
    mono = Mono(frozenset(), factors)
    return bind(times(Poly({mono.key(): (coefficient, mono)}), other), bound)


def _with_factor(poly: Poly, atom: Atom) -> Poly:
    results = [ZERO_POLY]
    for c, mono in poly.monomials():
        joined = Mono(mono.bound, merge(mono.factors, {atom: Fraction(1)}))
        results.append(Poly({joined.key(): (c, joined)}))
    return plus(results)


def _solve(atom: Atom, var: Var, factors: Factors) -> Term | None:
    equation = atom.parts[0]
    assert isinstance(equation, Poly)
    own, rest = _isolate(equation, var)
    if own is None or rest is None or abs(own) != 1:
        return None
    solution = scale(rest, -own)
    term = poly_term(solution)
    others = [other for other in factors if other is not atom and var in other.free]
    plain = isinstance(term, (Var, Num)) or not term.free
    if not plain and any(other.kind not in "ZGI" for other in others):
        return None
    if any(isinstance(part, Entry) for part in _leaves(solution)) and others:
        return None
    return term if _in_range(term, var.dim) else None


def _isolate(poly: Poly, var: Var) -> tuple[Fraction | None, Poly | None]:
    """The coefficient of a variable that occurs once and linearly, and the rest; else ``(None, None)``."""
    own: Fraction | None = None
    rest: dict[str, tuple[Fraction, Mono]] = {}
    for key, (c, mono) in poly.terms.items():
        if var not in mono.free:
            rest[key] = (c, mono)
        elif own is None and len(mono.factors) == 1 and next(iter(mono.factors)).kind == "I":
            own = c if next(iter(mono.factors.values())) == 1 else None
            if own is None:
                return None, None
        else:
            return None, None
    return own, Poly(rest)


def _leaves(poly: Poly) -> list[Term]:
    return [atom.term for _, mono in poly.monomials() for atom in mono.factors]


def _eliminate(equations: list[Atom]) -> tuple[Atom, Poly] | None:
    """Replace one of two equations by their sum or difference where that has fewer integer entries, or is shorter."""
    for old in equations:
        for other in equations:
            if old is other:
                continue
            left, right = old.parts[0], other.parts[0]
            assert isinstance(left, Poly) and isinstance(right, Poly)
            for sign in (-1, 1):
                combined = plus([left, scale(right, sign)])
                if _weight(combined) < _weight(left):
                    return old, bracket("=", combined)
    return None


def _weight(equation: Poly) -> tuple[int, int]:
    return sum(isinstance(leaf, Entry) for leaf in _leaves(equation)), len(equation.terms)


def choice(mono: Mono) -> tuple[Atom, Var, Poly] | None:
    """A bracket ``[v = e]`` that picks one value of a bound variable v, with e an index that depends on integer entries."""
    for atom in mono.factors:
        if atom.kind != "Z" or len(inside := atom.free & mono.bound) != 1:
            continue
        (var,) = inside
        equation = atom.parts[0]
        assert isinstance(equation, Poly)
        own, rest = _isolate(equation, var)
        if own is None or rest is None or abs(own) != 1:
            continue
        picked = scale(rest, -own)
        if any(isinstance(leaf, Entry) for leaf in _leaves(picked)) and _in_range(poly_term(picked), var.dim):
            return atom, var, picked
    return None


def _plain_pair(atom: Atom) -> tuple[Var, Var] | None:
    equation = atom.parts[0]
    assert isinstance(equation, Poly)
    if len(equation.terms) != 2:
        return None  # a third term, a constant even, makes it another equation than i = j
    (first, left), (second, right) = equation.monomials()
    pair = [atom.term for mono in (left, right) for atom, exponent in mono.factors.items() if exponent == 1]
    if first != -second or len(left.factors) != 1 or len(right.factors) != 1 or len(pair) != 2:
        return None
    one, other = pair
    return (one, other) if isinstance(one, Var) and isinstance(other, Var) else None


# ---------------------------------------------------------------- brackets and ranges


def bracket(rel: str, argument: Poly) -> Poly:
    """``[argument = 0]`` or ``[argument >= 0]``; decided where the ranges of the indices decide it."""
    if provably_nonnegative(scale(argument, -1), above=1):
        return ZERO_POLY
    if rel == "=":
        value = argument.constant()
        if value is not None:
            return number(1 if value == 0 else 0)
        if provably_nonnegative(argument, above=1):
            return ZERO_POLY
        mirrored = scale(argument, -1)
        return _bracket_atom("Z", rel, argument, (argument, mirrored))
    if provably_nonnegative(argument):
        return number(1)
    complement = plus([scale(argument, -1), number(-1)])
    if structure(complement) < structure(argument):
        return plus([number(1), scale(_bracket_atom("G", rel, complement, (complement,)), -1)])
    return _bracket_atom("G", rel, argument, (argument,))


def _bracket_atom(kind: str, rel: str, argument: Poly, parts: tuple[Poly, ...]) -> Poly:
    atom = Atom(kind, "", parts, Iverson(rel, poly_term(argument)), sign="0", flag=True)
    mono = Mono(frozenset(), {atom: Fraction(1)})
    return Poly({mono.key(): (Fraction(1), mono)})


def structure(poly: Poly) -> str:
    """The key with all free variables alike: it stays the same when they are renamed."""
    return poly.key(dict.fromkeys(poly.free, "*"))


def _in_range(index: Term, dim: Term) -> bool:
    """Whether ``0 <= index < dim`` for all sizes and all values of the variables."""
    form, size = normal_form(index), normal_form(dim)
    return provably_nonnegative(form) and provably_nonnegative(plus([size, scale(form, -1)]), above=1)


def provably_nonnegative(poly: Poly, above: int = 0) -> bool:
    """Whether ``poly >= above`` follows from the ranges of indices, sizes and integer entries.

    Each variable is set to the end of its range where the polynomial, linear in it with coefficients of one sign, is
    least; sizes are then written as 1 + s with s >= 0, and every coefficient must be nonnegative.
    """
    form = plus([poly, number(-above)]) if above else poly
    for _ in range(16):
        extreme = _lower_one(form)
        if extreme is None:
            return False
        if extreme is form:
            break
        form = extreme
    return _nonnegative_in_sizes(form)


def _lower_one(form: Poly) -> Poly | None:
    """Eliminate one ranged atom; the form itself when there is none left, None when the sign is mixed."""
    ranged: dict[Atom, bool] = {}
    for c, mono in form.monomials():
        if mono.bound:
            return None
        for atom, exponent in mono.factors.items():
            if atom.kind == "N":
                continue
            top = _range_end(atom)
            if top is None or exponent != 1 or ranged.setdefault(atom, c > 0) != (c > 0):
                return None
    if not ranged:
        return form
    atom, rising = next(iter(ranged.items()))
    end = number(0) if rising else _range_end(atom)
    assert end is not None
    results = []
    for c, mono in form.monomials():
        rest = {other: e for other, e in mono.factors.items() if other != atom}
        reduced = Mono(frozenset(), rest)
        part = Poly({reduced.key(): (c, reduced)})
        results.append(times(part, end) if atom in mono.factors else part)
    return plus(results)


def _range_end(atom: Atom) -> Poly | None:
    if atom.kind == "I" and isinstance(atom.term, Var):
        return plus([normal_form(atom.term.dim), number(-1)])
    if isinstance(atom.term, Entry) and atom.term.tensor.kind == "int" and atom.term.tensor.bound is not None:
        return plus([normal_form(atom.term.tensor.bound), number(-1)])
    return None


def _nonnegative_in_sizes(form: Poly) -> bool:
    shifted: dict[tuple[tuple[str, int], ...], Fraction] = {}
    for c, mono in form.monomials():
        expanded: dict[tuple[tuple[str, int], ...], Fraction] = {(): c}
        for atom, exponent in mono.factors.items():
            if not isinstance(atom.term, Size) or exponent.denominator != 1 or not 0 < exponent <= 8:
                return False
            for _ in range(exponent.numerator):
                grown = dict(expanded)
                for key, value in expanded.items():
                    powers = dict(key)
                    powers[atom.term.name] = powers.get(atom.term.name, 0) + 1
                    name = tuple(sorted(powers.items()))
                    grown[name] = grown.get(name, Fraction(0)) + value
                expanded = grown
        for key, value in expanded.items():
            shifted[key] = shifted.get(key, Fraction(0)) + value
    return all(value >= 0 for value in shifted.values())
