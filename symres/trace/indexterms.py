"""Integer index terms as polynomials, and what can be proved of them for all sizes.

Sizes are ≥ 1, a variable satisfies ``0 <= v <= dim - 1``, an entry of an ``int`` tensor ``0 <= e <= bound - 1``, and
``floordiv(a, b)`` lies between ``(a - b + 1) / b`` and ``a / b``. :func:`nonnegative` is sound and incomplete: ``True``
means proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symres.errors import Undefined
from symres.kernel.terms import ONE, ZERO, Add, Entry, Fun, Iverson, Mul, Num, Pow, Size, Term, Var, add, mul, power
from symres.trace.signals import notes

Monomial = tuple[Term, ...]
Poly = dict[Monomial, Fraction]

_MAX_POWER = 8
_BINARY_FUNCTIONS = frozenset({"step", "eq0"})


def _order(atom: Term) -> tuple[int, str, int]:
    if isinstance(atom, Size):
        return (0, atom.name, 0)
    return (1, "", atom.uid) if isinstance(atom, Var) else (2, "", id(atom))


def polynomial(term: Term) -> Poly:
    """The polynomial in sizes, variables and opaque integer atoms; coefficients are never 0."""
    if isinstance(term, Num):
        return {(): term.value} if term.value else {}
    if isinstance(term, Add):
        return combine(*((polynomial(part), Fraction(1)) for part in term.args))
    if isinstance(term, Mul):
        return product(*map(polynomial, term.args))
    if isinstance(term, Pow) and term.exponent.denominator == 1 and 0 < term.exponent <= _MAX_POWER:
        return product(*(polynomial(term.base),) * int(term.exponent))
    return {(term,): Fraction(1)}


def combine(*parts: tuple[Mapping[Monomial, Fraction], Fraction]) -> Poly:
    """The sum of polynomials, each times a number."""
    result: Poly = {}
    for poly, factor in parts:
        for monomial, coefficient in poly.items():
            value = result.get(monomial, Fraction(0)) + factor * coefficient
            if value:
                result[monomial] = value
            else:
                result.pop(monomial, None)
    return result


def product(*polys: Poly) -> Poly:
    """The product of polynomials."""
    result: Poly = {(): Fraction(1)}
    for poly in polys:
        result = combine(
            *(
                ({tuple(sorted((*left, *right), key=_order)): a * b}, Fraction(1))
                for left, a in result.items()
                for right, b in poly.items()
            )
        )
    return result


def from_polynomial(poly: Poly) -> Term:
    """The polynomial as a term, positive parts first."""
    ordered = sorted(poly.items(), key=lambda item: item[1] < 0)
    return add(*(mul(coefficient, *monomial) for monomial, coefficient in ordered))


def index(term: Term) -> Term:
    """An index term with like parts collected."""
    return from_polynomial(polynomial(term)) if isinstance(term, (Add, Mul, Pow)) else term


def same(left: Term, right: Term) -> bool:
    """Whether two index terms are equal as polynomials."""
    return left is right or not polynomial(left - right)


def exact_quotient(number: Term, divisor: Term) -> Term | None:
    """``number / divisor`` when the division leaves no remainder as polynomials with integer coefficients."""
    if divisor is ONE:
        return index(number)
    quotient, rest = _divide(polynomial(number), polynomial(divisor))
    return None if rest or not quotient else from_polynomial(quotient)


def _divide(number: Poly, divisor: Poly) -> tuple[Poly, Poly]:
    """Quotient and rest; the parts of ``number`` that the divisor divides go into the quotient."""
    if not divisor:
        raise Undefined("division by a size that is 0")
    if len(divisor) == 1:
        ((monomial, coefficient),) = divisor.items()
        quotient: Poly = {}
        rest: Poly = {}
        for part, value in number.items():
            remaining = _without(part, monomial)
            whole = Fraction(value // coefficient) if remaining is not None else Fraction(0)
            if remaining is None or (remaining and whole * coefficient != value):
                rest[part] = value
                continue
            if whole:
                quotient[remaining] = whole
            if value - whole * coefficient:
                rest[part] = value - whole * coefficient
        return quotient, rest
    leading, coefficient = next(iter(divisor.items()))
    value = number.get(leading, Fraction(0)) / coefficient
    if value and value.denominator == 1:
        rest = combine((number, Fraction(1)), (divisor, -value))
        if not rest:
            return {(): value}, {}
    return {}, dict(number)


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    rest = list(monomial)
    for atom in divisor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def floor_quotient(number: Term, divisor: Term) -> Term:
    """``number // divisor`` for a positive divisor: exact where the remainder is provably in range."""
    if divisor is ONE:
        return index(number)
    quotient, rest = _divide(polynomial(number), polynomial(divisor))
    whole, remainder = from_polynomial(quotient), from_polynomial(rest)
    if nonnegative(remainder) and nonnegative(divisor - remainder - 1):
        return whole
    return add(whole, Fun("floordiv", remainder, index(divisor)))


def coefficient(term: Term, var: Var) -> Term | None:
    """The coefficient of a variable on which the term depends linearly, else ``None``."""
    found = {}
    for monomial, value in polynomial(term).items():
        if any(var in atom.free for atom in monomial):
            rest = [atom for atom in monomial if atom is not var]
            if len(rest) != len(monomial) - 1 or any(var in atom.free for atom in rest):
                return None
            found[tuple(rest)] = value
    return from_polynomial(found)


# ---------------------------------------------------------------- proofs


def nonnegative(term: Term) -> bool:
    """Whether the term is proved to be ≥ 0, possibly with one of the facts assumed in this trace."""
    poly = polynomial(term)
    if _nonnegative(poly):
        return True
    return any(_nonnegative(combine((poly, Fraction(1)), (polynomial(fact), Fraction(-1)))) for fact in notes().facts)


def in_range(term: Term, dim: Term) -> bool:
    """Whether ``0 <= term < dim`` is proved."""
    return nonnegative(term) and nonnegative(dim - term - 1)


def _nonnegative(poly: Poly) -> bool:
    atoms = {atom for monomial in poly for atom in monomial if not isinstance(atom, Size)}
    if not atoms:
        return all(value >= 0 for value in _shifted(poly).values())
    atom = max(atoms, key=_order)
    linear: Poly = {}
    rest: Poly = {}
    for monomial, value in poly.items():
        if atom not in monomial:
            rest[monomial] = value
            continue
        remaining = _without(monomial, (atom,))
        if remaining is None or atom in remaining:
            return False
        linear[remaining] = value
    for sign, bounds in ((Fraction(1), _low), (Fraction(-1), _high)):
        if _nonnegative(combine((linear, sign))):
            bound = bounds(atom, linear)
            return bound is not None and _nonnegative(combine((rest, Fraction(1)), (bound, Fraction(1))))
    return False


def _shifted(poly: Poly) -> Poly:
    """The polynomial in ``size - 1``."""
    return combine(
        *(
            (product(*({(): Fraction(1), (size,): Fraction(1)} for size in monomial)), value)
            for monomial, value in poly.items()
        )
    )


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
    quotient, rest = _divide(linear, polynomial(divisor))
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
