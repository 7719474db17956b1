"""The normal form: a term becomes a polynomial in contraction monomials.

Products are multiplied out, sums over an index are distributed over monomials, sums with a Kronecker delta are
contracted (:mod:`symres.kernel.brackets`), powers of one base are merged, and functions of polynomials become atoms in
a canonical form (:mod:`symres.kernel.functions`). Every rewriting is an identity wherever both sides are defined.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from symres.errors import BudgetExceeded
from symres.kernel.monomials import Atom, Bound, Mono, Poly
from symres.kernel.terms import (
    Add,
    Apply,
    Entry,
    Fun,
    Iverson,
    Lam,
    Maximum,
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
)

ZERO_POLY = Poly({})
EMPTY = Mono(frozenset(), {})
MONOMIAL_LIMIT = 20_000
WORK_LIMIT = 100_000
_CACHE_LIMIT = 50_000
_forms: dict[Term, Poly] = {}
_work = [0]


def normal_form(term: Term) -> Poly:
    """The polynomial of a term. Free index variables keep their names.

    Raises:
        BudgetExceeded: when the polynomial would have more than ``MONOMIAL_LIMIT`` monomials.
        Undefined: when an expression that is identically zero is divided by.
    """
    found = _forms.get(term)
    if found is None:
        if len(_forms) > _CACHE_LIMIT:
            _forms.clear()
        found = _forms[term] = _RULES[type(term)](term)
    return found


# ---------------------------------------------------------------- polynomial arithmetic


def number(value: Fraction | int) -> Poly:
    """A rational number as a polynomial."""
    return Poly({EMPTY.key(): (Fraction(value), EMPTY)}) if value else ZERO_POLY


def from_factors(
    factors: dict[Atom, Fraction], coefficient: Fraction | int = 1, bound: frozenset[Var] = frozenset()
) -> Poly:
    """One monomial, simplified."""
    from symres.kernel.brackets import simplify

    return simplify(Fraction(coefficient), bound, {atom: e for atom, e in factors.items() if e})


def plus(polys: list[Poly]) -> Poly:
    """The sum."""
    if len(polys) == 1:
        return polys[0]
    terms: dict[str, tuple[Fraction, Mono]] = {}
    for poly in polys:
        for key, (coefficient, mono) in poly.terms.items():
            known = terms.get(key)
            total = coefficient if known is None else known[0] + coefficient
            if total:
                terms[key] = (total, mono)
            else:
                del terms[key]
    if len(terms) > MONOMIAL_LIMIT:
        raise BudgetExceeded(f"the expression has more than {MONOMIAL_LIMIT} terms when multiplied out")
    return Poly(terms)


def start_work() -> None:
    """Begin a decision: it may form ``WORK_LIMIT`` products of monomials."""
    _work[0] = 0


def _spend(products: int) -> None:
    _work[0] += products
    if products > MONOMIAL_LIMIT or _work[0] > WORK_LIMIT:
        raise BudgetExceeded("the expression grows beyond what is decided here when it is multiplied out")


def scale(poly: Poly, factor: Fraction | int) -> Poly:
    """The polynomial times a rational number."""
    if not factor:
        return ZERO_POLY
    return Poly({key: (coefficient * factor, mono) for key, (coefficient, mono) in poly.terms.items()})


def times(left: Poly, right: Poly) -> Poly:
    """The product; bound variables of one side are renamed where both sides use them."""
    from symres.kernel.brackets import simplify

    if (value := left.constant()) is not None:
        return scale(right, value)
    if (value := right.constant()) is not None:
        return scale(left, value)
    _spend(len(left.terms) * len(right.terms))
    products = []
    for c, m in left.monomials():
        for d, n in right.monomials():
            clash = m.bound & (n.bound | n.free)
            first = rename(m, clash) if clash else m
            clash = n.bound & (first.bound | first.free)
            second = rename(n, clash) if clash else n
            products.append(simplify(c * d, first.bound | second.bound, merge(first.factors, second.factors)))
    return plus(products) if products else ZERO_POLY


def merge(left: dict[Atom, Fraction], right: dict[Atom, Fraction]) -> dict[Atom, Fraction]:
    """The factors of a product: exponents of one atom add; an atom that is 0 or 1 is its own square."""
    factors = dict(left)
    for atom, exponent in right.items():
        total = factors.get(atom, 0) + exponent
        if atom.flag and total > 1:
            total = Fraction(1)
        if total:
            factors[atom] = Fraction(total)
        else:
            factors.pop(atom, None)
    return factors


def rename(mono: Mono, variables: frozenset[Var]) -> Mono:
    """The same monomial with fresh names for some of its bound variables."""
    fresh = {var: var.fresh() for var in variables}
    factors: dict[Atom, Fraction] = {}
    for atom, exponent in mono.factors.items():
        factors[rename_atom(atom, fresh) if not atom.free.isdisjoint(fresh) else atom] = exponent
    return Mono(mono.bound - variables | frozenset(fresh.values()), factors)


def rename_atom(atom: Atom, fresh: dict[Var, Var]) -> Atom:
    """An atom under an injective renaming of its variables, which cannot make it simpler."""
    parts = tuple(_rename_part(part, fresh) for part in atom.parts)
    return Atom(atom.kind, atom.head, parts, substitute(atom.term, dict(fresh)), sign=atom.sign, flag=atom.flag)


def _rename_part(part: Term | Poly | Bound, fresh: dict[Var, Var]) -> Term | Poly | Bound:
    if isinstance(part, Poly):
        return rename_poly(part, fresh)
    if isinstance(part, Bound):
        return Bound(part.vars, rename_poly(part.body, fresh))
    return substitute(part, dict(fresh))


def rename_poly(poly: Poly, fresh: dict[Var, Var]) -> Poly:
    """A polynomial under an injective renaming of free variables."""
    if poly.free.isdisjoint(fresh):
        return poly
    terms = {}
    for coefficient, mono in poly.monomials():
        factors = {
            rename_atom(atom, fresh) if not atom.free.isdisjoint(fresh) else atom: exponent
            for atom, exponent in mono.factors.items()
        }
        renamed = Mono(mono.bound, factors)
        terms[renamed.key()] = (coefficient, renamed)
    return Poly(terms)


def raise_to(poly: Poly, exponent: int) -> Poly:
    """A nonnegative integer power, multiplied out."""
    result = number(1)
    for _ in range(exponent):
        result = times(result, poly)
    return result


def sum_over(var: Var, poly: Poly) -> Poly:
    """The sum of a polynomial over an index variable."""
    from symres.kernel.brackets import simplify

    results = [ZERO_POLY]
    for coefficient, mono in poly.monomials():
        inner = rename(mono, frozenset((var,))) if var in mono.bound else mono
        results.append(simplify(coefficient, inner.bound | {var}, inner.factors))
    return plus(results)


def power_atom_base(atom: Atom) -> Poly:
    """The base of a power atom."""
    base = atom.parts[0]
    if not isinstance(base, Poly):
        raise TypeError(f"not a power: {atom.ident}")
    return base


# ---------------------------------------------------------------- back to terms


def mono_term(mono: Mono, coefficient: Fraction = Fraction(1)) -> Term:
    """A monomial as a term, its sums pulled as far inwards as they go."""
    pieces = [
        sum_(sorted(bound, key=lambda var: var.uid), mul(*(power(atom.term, e) for atom, e in factors.items())))
        for bound, factors in mono.pieces()
    ]
    return mul(coefficient, *pieces)


def poly_term(poly: Poly) -> Term:
    """A polynomial as a term."""
    return add(*(mono_term(mono, coefficient) for coefficient, mono in poly.monomials()))


# ---------------------------------------------------------------- one rule for each class of term


def _num(term: Num) -> Poly:
    return number(term.value)


@cache
def size_atom(term: Size) -> Atom:
    """The atom of a size: a positive integer."""
    return Atom("N", term.name, (), term, sign="+")


def _size(term: Size) -> Poly:
    atom = size_atom(term)
    mono = Mono(frozenset(), {atom: Fraction(1)})
    return Poly({mono.key(): (Fraction(1), mono)})


def _var(term: Var) -> Poly:
    return from_factors({Atom("I", "", (term,), term, sign="0"): Fraction(1)})


_SIGNS = {"positive": "+", "nonnegative": "0", "bool": "0", "int": "0"}


def _entry(term: Entry) -> Poly:
    args: list[Term] = []
    lifted: list[tuple[Var, Term]] = []
    for arg, dim in zip(term.args, term.tensor.dims, strict=True):
        if isinstance(arg, (Var, Num)) or not arg.free and not any(isinstance(node, Entry) for node in _nodes(arg)):
            args.append(arg)
        else:
            var = Var("a", dim)
            lifted.append((var, arg))
            args.append(var)
    kind = term.tensor.kind
    plain = Entry(term.tensor, tuple(args)) if lifted else term
    atom = Atom(
        "T", f"{term.tensor.name}/{kind[0]}", tuple(args), plain, sign=_SIGNS.get(kind, ""), flag=kind == "bool"
    )
    if not lifted:
        mono = Mono(frozenset(), {atom: Fraction(1)})
        return Poly({mono.key(): (Fraction(1), mono)})
    # An entry at a computed index is a sum over a plain index that equals it: out of range it is zero, as documented.
    mono = Mono(frozenset(), {atom: Fraction(1)})
    result = Poly({mono.key(): (Fraction(1), mono)})
    for var, arg in lifted:
        result = times(result, normal_form(Iverson("=", var - arg)))
    for var, _ in lifted:
        result = sum_over(var, result)
    return result


def _nodes(term: Term) -> list[Term]:
    from symres.kernel.terms import walk

    return list(walk(term))


def _add(term: Add) -> Poly:
    return plus([normal_form(arg) for arg in term.args])


def _mul(term: Mul) -> Poly:
    result = normal_form(term.args[0])
    for arg in term.args[1:]:
        if not result:
            return result
        result = times(result, normal_form(arg))
    return result


def _sum(term: Sum) -> Poly:
    return sum_over(term.var, normal_form(term.body))


def _pow(term: Pow) -> Poly:
    from symres.kernel.powers import power_of

    return power_of(normal_form(term.base), term.exponent)


def _fun(term: Fun) -> Poly:
    from symres.kernel.functions import apply_function

    return apply_function(term.name, [normal_form(arg) for arg in term.args])


def _maximum(term: Maximum) -> Poly:
    from symres.kernel.functions import maximum_of

    return maximum_of(term.var, normal_form(term.body))


def _iverson(term: Iverson) -> Poly:
    from symres.kernel.brackets import bracket

    return bracket(term.rel, normal_form(term.arg))


def _apply(term: Apply) -> Poly:
    arguments = tuple(Bound(lam.vars, normal_form(lam.body)) for lam in term.arguments)
    # Derivatives by several entries commute, so their order is forgotten.
    derivatives = sorted(
        ((position, tuple(map(_index_part, indices))) for position, indices in term.derivatives),
        key=lambda item: (item[0], [part.key() if isinstance(part, Poly) else str(part) for part in item[1]]),
    )
    shape = ";".join(f"{position}:{len(indices)}" for position, indices in derivatives)
    parts = (
        *(_index_part(out) for out in term.outs),
        *(part for _, indices in derivatives for part in indices),
        *arguments,
    )
    return from_factors({Atom("A", f"{term.name}<{shape}>", parts, term): Fraction(1)})


def _index_part(term: Term) -> Term | Poly:
    return term if isinstance(term, Var) else normal_form(term)


def _lam(term: Lam) -> Poly:
    raise TypeError("a whole tensor is an argument of a function, not a number")


_RULES: dict[type[Term], Callable[..., Poly]] = {
    Num: _num,
    Size: _size,
    Var: _var,
    Entry: _entry,
    Add: _add,
    Mul: _mul,
    Sum: _sum,
    Pow: _pow,
    Fun: _fun,
    Maximum: _maximum,
    Iverson: _iverson,
    Apply: _apply,
    Lam: _lam,
}
