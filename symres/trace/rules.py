"""Elementwise rules on terms: comparisons, extrema, quotients, as NumPy's functions have them entry by entry.

Conventions at kinks: ``a > b`` and ``a >= b`` are ``step(a - b)``, ``a < b`` and ``a <= b`` are ``1 - step(a - b)``;
statements hold off the kink, and which of them the code uses is noted. Comparisons of integers are exact brackets.
"""

from __future__ import annotations

from collections.abc import Callable

from symres.errors import Undefined, Unsupported
from symres.kernel.terms import ONE, ZERO, Entry, Fun, Num, Term, add, mul, neg, power
from symres.language import functions
from symres.trace import limits
from symres.trace.indexterms import floor_quotient, is_binary, is_integer
from symres.trace.polynomials import index
from symres.trace.signals import notes
from symres.trace.tidy import bracket, complement

Rule = Callable[..., Term]


def quotient(a: Term, b: Term) -> Term:
    """a / b."""
    if b is ZERO:
        raise Undefined("division by an expression that is identically zero")
    return mul(a, power(b, -1))


def raised(a: Term, b: Term) -> Term:
    """a ** b."""
    if isinstance(b, Num):
        if a is ZERO and b.value < 0:
            raise Undefined("a negative power of an expression that is identically zero")
        return power(a, b.value)
    return limits.exp(b) if a is functions.exp(ONE) else Fun("pow", a, b)


def larger(a: Term, b: Term) -> Term:
    """max(a, b) = b + (a - b) [a > b]; numbers are taken as b, so that max(0, x) is x [x > 0]."""
    if isinstance(a, Num) and isinstance(b, Num):
        return a if a.value >= b.value else b
    if is_integer(a) and is_integer(b):
        return add(b, mul(a - b, bracket(">=", a - b)))
    return functions.maximum(b, a) if isinstance(a, Num) else functions.maximum(a, b)


def smaller(a: Term, b: Term) -> Term:
    """min(a, b)."""
    if isinstance(a, Num) and isinstance(b, Num):
        return a if a.value <= b.value else b
    if is_integer(a) and is_integer(b):
        return add(a, mul(b - a, bracket(">=", a - b)))
    return functions.minimum(b, a) if isinstance(a, Num) else functions.minimum(a, b)


def above(a: Term, b: Term) -> Term:
    """[a > b] off the kink."""
    if isinstance(a, Num) and not isinstance(b, Num):
        return complement(above(b, a))
    difference = add(a, neg(b))
    if isinstance(difference, Entry) and difference.tensor.kind == "positive":
        return ONE
    return functions.step(difference)


def nonzero(a: Term) -> Term:
    """[a ≠ 0]."""
    return a if is_binary(a) else complement(equals(a, ZERO))


def equals(a: Term, b: Term) -> Term:
    """[a = b]."""
    for binary, constant in ((a, b), (b, a)):
        if is_binary(binary) and isinstance(constant, Num):
            return binary if constant is ONE else complement(binary) if constant is ZERO else ZERO
    if is_integer(a) and is_integer(b):
        return bracket("=", a - b)
    difference = add(a, neg(b))
    if isinstance(difference, Num) or index(difference) is ZERO:
        return Num(int(index(difference) is ZERO))
    return Fun("eq0", difference)


def sided(strict: bool, flipped: bool, sign: str) -> Rule:
    """The rule of one of the four order comparisons; ``sign`` is its spelling."""

    def rule(a: Term, b: Term) -> Term:
        if flipped:
            a, b = b, a
        for binary, low, high in ((a, *_at_01(a, b, strict)), (b, *_at_01(b, a, strict, swapped=True))):
            if low is not None and high is not None:
                return ONE if low and high else ZERO if not (low or high) else binary if high else complement(binary)
        if is_integer(a) and is_integer(b):
            return bracket(">=", a - b - int(strict))
        left, right = (b, a) if flipped else (a, b)
        notes().kink(f"a comparison with {sign} is {'false' if strict else 'true'} where both sides are equal")
        # b > a and b >= a are written by the complement of a > b, so that one mask has one form off the kink.
        return complement(above(left, right)) if flipped else above(left, right)

    return rule


def _at_01(binary: Term, other: Term, strict: bool, swapped: bool = False) -> tuple[bool | None, bool | None]:
    """The comparison of a 0/1 term with a number, at 0 and at 1."""
    if not (is_binary(binary) and isinstance(other, Num)):
        return None, None
    values = [(value - other.value) * (-1 if swapped else 1) for value in (0, 1)]
    return values[0] > 0 if strict else values[0] >= 0, values[1] > 0 if strict else values[1] >= 0


def absolute(a: Term) -> Term:
    """|a|."""
    return Num(abs(a.value)) if isinstance(a, Num) else functions.absolute(a)


def either(a: Term, b: Term) -> Term:
    """a or b, of 0/1 terms."""
    return complement(mul(complement(a), complement(b)))


def no_difference(a: Term, b: Term) -> Term:
    """Refused: NumPy has no difference of booleans."""
    raise Unsupported("the difference of two boolean arrays, which NumPy refuses")


def differs(a: Term, b: Term) -> Term:
    """a or b but not both, of 0/1 terms."""
    return add(mul(a, complement(b)), mul(complement(a), b))


def chosen(condition: Term, a: Term, b: Term) -> Term:
    """a where the condition holds, else b."""
    return add(mul(condition, a), mul(complement(condition), b))


def named(name: str) -> Rule:
    """The rule of a function of the table of elementwise functions."""
    odd = functions.FUNCTIONS[name].parity == "odd"
    return lambda *args: ZERO if odd and args[0] is ZERO else Fun(name, *args)


def whole_quotient(a: Term, b: Term) -> Term:
    """a // b, of integers.

    Raises:
        Unsupported: for other numbers.
    """
    return floor_quotient(*_integers("//", a, b))


def remainder(a: Term, b: Term) -> Term:
    """a % b, of integers."""
    a, b = _integers("%", a, b)
    return index(a - b * floor_quotient(a, b))


def _integers(sign: str, a: Term, b: Term) -> tuple[Term, Term]:
    if not (is_integer(a) and is_integer(b)):
        raise Unsupported(f"{sign} of numbers that are not integers")
    return a, b
