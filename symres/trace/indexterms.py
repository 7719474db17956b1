"""What can be proved of integer index terms for all sizes.

Sizes are ≥ 1, a variable satisfies ``0 <= v <= dim - 1``, an entry of an ``int`` tensor ``0 <= e <= bound - 1``, and
``floordiv(a, b)`` lies between ``(a - b + 1) / b`` and ``a / b``. :func:`nonnegative` is sound and incomplete: ``True``
means proved.
"""

from __future__ import annotations

from symres.kernel.terms import (
    ONE,
    ZERO,
    Add,
    Entry,
    Fun,
    Iverson,
    Mul,
    Num,
    Number,
    Pow,
    Size,
    Term,
    Var,
    add,
    mul,
    power,
)
from symres.trace.polynomials import Poly, combine, divide, from_polynomial, index, order, polynomial, product, without
from symres.trace.signals import notes

_BINARY_FUNCTIONS = frozenset({"step", "eq0"})


def floor_quotient(number: Term, divisor: Term) -> Term:
    """``number // divisor`` for a positive divisor: exact where the remainder is provably in range."""
    if divisor is ONE:
        return index(number)
    quotient, rest = divide(polynomial(number), polynomial(divisor))
    whole, remainder = from_polynomial(quotient), from_polynomial(rest)
    for carry in (0, -1, 1):
        below = index(remainder - mul(carry, divisor))
        if nonnegative(below) and nonnegative(divisor - below - 1):
            return index(whole + carry)
    return add(whole, Fun("floordiv", remainder, index(divisor)))


def nonnegative(term: Term) -> bool:
    """Whether the term is proved to be ≥ 0, possibly with one of the facts assumed in this trace."""
    if isinstance(term, Num):
        return term.value >= 0
    memo = notes().signs
    found = memo.get(term)
    if found is None:
        poly = polynomial(term)
        found = _nonnegative(poly) or any(
            _nonnegative(combine((poly, 1), (polynomial(fact), -1))) for fact in notes().facts
        )
        memo[term] = found
    return found


def in_range(term: Term, dim: Term) -> bool:
    """Whether ``0 <= term < dim`` is proved."""
    return nonnegative(term) and nonnegative(dim - term - 1)


def _nonnegative(poly: Poly) -> bool:
    atoms = {atom for monomial in poly for atom in monomial if not isinstance(atom, Size)}
    if not atoms:
        return all(value >= 0 for value in _shifted(poly).values())
    # Variables go first: their ranges may contain floor divisions.
    atom = max(atoms, key=lambda each: (isinstance(each, Var), order(each)))
    linear: Poly = {}
    rest: Poly = {}
    for monomial, value in poly.items():
        if atom not in monomial:
            rest[monomial] = value
            continue
        remaining = without(monomial, (atom,))
        if remaining is None or atom in remaining:
            return False
        linear[remaining] = value
    for sign, bounds in ((1, _low), (-1, _high)):
        if _nonnegative(combine((linear, sign))):
            bound = bounds(atom, linear)
            return bound is not None and _nonnegative(combine((rest, 1), (bound, 1)))
    return False


def _shifted(poly: Poly) -> Poly:
    """The polynomial in ``size - 1``."""
    parts: list[tuple[Poly, Number]] = []
    for monomial, value in poly.items():
        factors: list[Poly] = [{(): 1, (size,): 1} for size in monomial]
        parts.append((product(*factors), value))
    return combine(*parts)


def _low(atom: Term, linear: Poly) -> Poly | None:
    """A lower bound of ``linear * atom`` for ``linear >= 0``."""
    if isinstance(atom, Fun) and atom.name == "floordiv":
        number, divisor = atom.args
        return _scaled(linear, number - divisor + 1, divisor) or ({} if nonnegative(number) else None)
    return {} if _range(atom) is not None else None


def _high(atom: Term, linear: Poly) -> Poly | None:
    """A lower bound of ``linear * atom`` for ``linear <= 0``."""
    if isinstance(atom, Fun) and atom.name == "floordiv":
        return _scaled(linear, *atom.args)
    top = _range(atom)
    return None if top is None else product(linear, polynomial(top))


def _scaled(linear: Poly, number: Term, divisor: Term) -> Poly | None:
    """``linear * number / divisor`` where the divisor is a number or divides ``linear``."""
    if isinstance(divisor, Num):
        return product(linear, polynomial(mul(power(divisor, -1), number)))
    quotient, rest = divide(linear, polynomial(divisor))
    return None if rest else product(quotient, polynomial(number))


def _range(atom: Term) -> Term | None:
    """The largest value of an atom whose smallest value is 0."""
    if isinstance(atom, Var):
        return atom.dim - 1
    if isinstance(atom, Entry) and atom.tensor.kind == "int" and atom.tensor.bound is not None:
        return atom.tensor.bound - 1
    binary = isinstance(atom, Iverson) or (isinstance(atom, Fun) and atom.name in _BINARY_FUNCTIONS)
    return ONE if binary or (isinstance(atom, Entry) and atom.tensor.kind == "bool") else None


def is_integer(term: Term) -> bool:
    """Whether the term is an integer for its form: sizes, variables, integer entries, brackets, sums and products."""
    if isinstance(term, Num):
        return term.value.denominator == 1
    if isinstance(term, (Add, Mul)):
        return all(map(is_integer, term.args))
    if isinstance(term, Pow):
        return term.exponent.denominator == 1 and term.exponent > 0 and is_integer(term.base)
    if isinstance(term, Entry):
        return term.tensor.kind in ("int", "bool")
    return isinstance(term, (Size, Var, Iverson)) or (
        isinstance(term, Fun) and (term.name == "floordiv" or term.name in _BINARY_FUNCTIONS)
    )


def is_binary(term: Term) -> bool:
    """Whether the term takes the values 0 and 1 only, for its form."""
    if isinstance(term, (Iverson, Fun)):
        return isinstance(term, Iverson) or term.name in _BINARY_FUNCTIONS
    if isinstance(term, Entry):
        return term.tensor.kind == "bool"
    if isinstance(term, Mul):
        return all(map(is_binary, term.args))
    if isinstance(term, Add):
        rest = complemented(term)
        return rest is not None and is_binary(rest)
    return term in (ZERO, ONE)


def complemented(term: Term) -> Term | None:
    """``m`` for a term of the form ``1 - m``."""
    if not (isinstance(term, Add) and len(term.args) == 2 and ONE in term.args):
        return None
    (rest,) = (part for part in term.args if part is not ONE)
    return mul(*rest.args[1:]) if isinstance(rest, Mul) and rest.args[0] is Num(-1) else None
