"""Whether an index stays inside its axis, for all sizes: sufficient conditions on linear index expressions."""

from __future__ import annotations

from fractions import Fraction

from symres.kernel.terms import Add, Entry, Mul, Num, Size, Term, Var

# A polynomial in the sizes: coefficients of monomials, a monomial being its sorted factors.
Polynomial = dict[tuple[Term, ...], Fraction]


def _add(left: Polynomial, right: Polynomial, factor: int = 1) -> Polynomial:
    total = dict(left)
    for monomial, value in right.items():
        total[monomial] = total.get(monomial, Fraction(0)) + factor * value
    return {monomial: value for monomial, value in total.items() if value}


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for one, a in left.items():
        for other, b in right.items():
            monomial = tuple(sorted((*one, *other), key=repr))
            total[monomial] = total.get(monomial, Fraction(0)) + a * b
    return total


def polynomial(term: Term) -> Polynomial | None:
    """The term as a polynomial in sizes, index variables and integer entries; None where it is not one."""
    if isinstance(term, Num):
        return {(): term.value} if term.value else {}
    if isinstance(term, Size | Var) or (isinstance(term, Entry) and term.tensor.kind == "int"):
        return {(term,): Fraction(1)}
    if not isinstance(term, Add | Mul):
        return None
    total: Polynomial = {} if isinstance(term, Add) else {(): Fraction(1)}
    for arg in term.args:
        part = polynomial(arg)
        if part is None:
            return None
        total = _add(total, part) if isinstance(term, Add) else _product(total, part)
    return total


def _at_lowest(form: Polynomial) -> Polynomial | None:
    """A lower bound over the index variables, each of which stands alone and linear; None where one does not."""
    bound: Polynomial = {}
    for monomial, value in form.items():
        indices = [factor for factor in monomial if not isinstance(factor, Size)]
        if not indices:
            bound = _add(bound, {monomial: value})
            continue
        if len(indices) > 1:
            return None
        if value > 0:
            continue  # the index is at least 0
        index = indices[0]
        top = index.dim if isinstance(index, Var) else index.tensor.bound if isinstance(index, Entry) else None
        largest = polynomial(top) if top is not None else None
        if largest is None:
            return None
        sizes = tuple(factor for factor in monomial if factor is not index)
        bound = _add(bound, _product({sizes: value}, _add(largest, {(): Fraction(-1)})))
    return bound


def never_negative(term: Term) -> bool:
    """Whether the term is >= 0 for all sizes >= 1 and all indices in range; False where this test cannot tell."""
    form = polynomial(term)
    bound = _at_lowest(form) if form is not None else None
    if bound is None:
        return False
    # With every size written as 1 + (a number >= 0), the bound is >= 0 when what remains of it at 1 is, and no
    # coefficient of a product of sizes is negative.
    return sum(bound.values(), Fraction(0)) >= 0 and all(value >= 0 for monomial, value in bound.items() if monomial)


def inside(index: Term, dim: Term) -> bool:
    """Whether ``0 <= index < dim`` always."""
    return never_negative(index) and never_negative(dim - 1 - index)
