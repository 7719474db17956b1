"""Python's numbers as exact terms.

A float is the decimal number that its shortest text shows (``0.044715`` is 44715/1000000). A float with sixteen or more
digits was computed: the simple fraction (``1 / 3``) or the closed form (``math.sqrt(2 / math.pi)``) that has exactly
this value is taken. Numbers from 1e9 in magnitude serve as infinity in the masks of published code and are read so.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import ONE, Num, Term, mul, neg, power
from symres.language.constants import INFINITY, PI
from symres.language.functions import HALF, exp
from symres.trace.signals import notes

_LARGE = 10**9
_DIGITS_WRITTEN = 15
_DENOMINATOR = 10**4

_CLOSED_FORMS: dict[float, Term] = {
    math.pi: PI(),
    2 * math.pi: 2 * PI(),
    math.pi / 2: HALF * PI(),
    math.sqrt(math.pi): power(PI(), HALF),
    math.sqrt(2 * math.pi): power(2 * PI(), HALF),
    1 / math.sqrt(2 * math.pi): power(2 * PI(), -HALF),
    math.sqrt(2 / math.pi): power(2 / PI(), HALF),
    2 / math.sqrt(math.pi): 2 * power(PI(), -HALF),
    math.sqrt(2): power(2, HALF),
    1 / math.sqrt(2): power(2, -HALF),
    math.e: exp(ONE),
}


def number(value: Any) -> Term:
    """A Python or NumPy number as an exact term; booleans are 0 and 1.

    Raises:
        Unsupported: for NaN and complex numbers.
    """
    if isinstance(value, Integral):
        return _masked(float(value)) if abs(int(value)) >= _LARGE else Num(int(value))
    if isinstance(value, Fraction):
        return Num(value)
    if not isinstance(value, Real) or math.isnan(value):
        raise Unsupported(f"{value!r} is not a real number")
    return _masked(float(value)) if abs(float(value)) >= _LARGE else _exact(float(value))


def _masked(value: float) -> Term:
    if not math.isinf(value):
        shown = re.sub(r"e\+0*", "e", f"{abs(value):g}")
        sign = "−" if value < 0 else ""
        notes().assume(f"{sign}{shown} is read as {sign}∞")
    return INFINITY() if value > 0 else neg(INFINITY())


def _exact(value: float) -> Term:
    text = repr(value)
    digits = re.sub(r"e.*|[-.]", "", text).strip("0")
    if len(digits) > _DIGITS_WRITTEN:
        closed = _CLOSED_FORMS.get(abs(value))
        if closed is not None:
            return closed if value > 0 else mul(-1, closed)
        simple = Fraction(value).limit_denominator(_DENOMINATOR)
        if simple.numerator / simple.denominator == value:
            return Num(simple)
    return Num(Fraction(Decimal(text)))
