"""Elementary functions of balls, in fixed point with integers.

Each function takes a ball ``(mantissa ± radius) 2^exponent`` and a precision and returns a ball that contains the
value. The argument is cut to ``w`` binary digits after the point, which moves it by less than one unit, ``2^-w``; the
value at the cut argument is computed with an error that a comment bounds in units; the rest is the Lipschitz constant
times what the argument is off. ``GUARD`` digits keep these errors below the precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isqrt

from symres.judge.faults import Undecided, Undefined

GUARD = 64
LARGE = 20
"""Arguments of magnitude 2^LARGE and more are not reduced."""

Parts = tuple[int, int, int]
ERROR = 1 << 32
"""A bound in units on the error of each fixed-point value below; the comments there stay below 2^28."""


def _cut(mantissa: int, exponent: int, w: int) -> int:
    shift = exponent + w
    return mantissa << shift if shift >= 0 else mantissa >> -shift


def _up(radius: int, exponent: int, w: int) -> int:
    """The radius in units, rounded up, with one unit for the cut of the argument."""
    shift = exponent + w
    return 1 + (radius << shift if shift >= 0 else -(-radius >> -shift))


@lru_cache(maxsize=64)
def ln2(w: int) -> int:
    """log 2 in units of 2^-w, off by less than 2 units: 18 artanh 1/26 - 2 artanh 1/4801 + 8 artanh 1/8749."""
    v = w + 16
    return (18 * _inverse_series(26, v, 1) - 2 * _inverse_series(4801, v, 1) + 8 * _inverse_series(8749, v, 1)) >> 16


@lru_cache(maxsize=64)
def pi(w: int) -> int:
    """π in units of 2^-w, off by less than 2 units: Machin's 16 arctan 1/5 - 4 arctan 1/239."""
    v = w + 16
    return (16 * _inverse_series(5, v, -1) - 4 * _inverse_series(239, v, -1)) >> 16


def _inverse_series(n: int, w: int, sign: int) -> int:
    """artanh (sign 1) or arctan (sign -1) of 1/n; two units are lost a term, and there are at most w/4 terms."""
    power, total, k, factor = (1 << w) // n, 0, 1, 1
    while power:
        total += factor * (power // k)
        power //= n * n
        k += 2
        factor *= sign
    return total


def _check_small(mantissa: int, exponent: int) -> None:
    if mantissa.bit_length() + exponent > LARGE:
        raise Undecided("an argument is too large")


def exp(mantissa: int, exponent: int, radius: int, bits: int) -> Parts:
    """The exponential; below -2^20 a ball around 0."""
    if mantissa < 0 and mantissa.bit_length() + exponent > LARGE and -mantissa > 2 * radius:
        return (0, -750_000, 1)  # the whole ball is below -2^19, and exp(-2^19) < 2^-750000
    _check_small(mantissa, exponent)
    w = bits + GUARD
    k, t = divmod(_cut(mantissa, exponent, w), ln2(w))  # t is off by 2|k| < 2^22 units
    halvings = 8
    t >>= halvings
    term = total = 1 << w
    n = 1
    while term:  # at most two units lost a term, below 2^10 in all
        term = (term * t >> w) // n
        total += term
        n += 1
    for _ in range(halvings):  # each squaring doubles the relative error: 2^8 (2^10 + 2^14 + 8) < 2^24 units
        total = total * total >> w
    off = _up(radius, exponent, w)
    if off >> w:
        raise Undecided("an argument of exp is known too little")
    # exp(x + d) - exp(x) is at most 2 d exp(x) for d <= 1, and the total is below 3
    return (total, k - w, ERROR + 6 * off)


def log(mantissa: int, exponent: int, radius: int, bits: int) -> Parts:
    """The natural logarithm."""
    if mantissa <= radius:
        raise Undefined("a logarithm of a number that is not positive")
    w = bits + GUARD
    length = mantissa.bit_length()
    f = _cut(mantissa, -length, w)  # 1/2 <= f <= 1
    roots = 8
    for _ in range(roots):  # off by at most 2 units after each root
        f = isqrt(f << w)
    one = 1 << w
    z = ((f - one) << w) // (f + one)
    square = z * z >> w
    term, total, k = z, 0, 1
    while term not in (0, -1):
        total += term // k
        term = term * square >> w
        k += 2
    # f after the roots, z and the series are off by less than 2^10 units; times 2^9, and two units for each of the twos
    total = (total << (roots + 1)) + (length + exponent) * ln2(w)
    # |log(x + d) - log(x)| <= d/(x - d)
    off = -(-(radius << w) // (mantissa - radius)) + 4 * max(1, abs(length + exponent))
    return (total, -w, ERROR + off)


@lru_cache(maxsize=1024)
def _sin_cos(mantissa: int, exponent: int, w: int) -> tuple[int, int]:
    """Sine and cosine together: who asks for one asks for the other, its derivative, soon after."""
    _check_small(mantissa, exponent)
    quarter = pi(w) >> 1
    x = _cut(mantissa, exponent, w)
    k = (2 * x + quarter) // (2 * quarter)
    t = x - k * quarter  # off by 2|k| + 2 < 2^22 units, |t| <= π/4
    square = t * t >> w
    cosine, sine = _alternating(1 << w, square, 0, w), _alternating(t, square, 1, w)
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[k % 4]


def _alternating(first: int, square: int, n: int, w: int) -> int:
    """first (1 - s/((n+1)(n+2)) + s²/((n+1)···(n+4)) - …) for s the square; two units are lost a term."""
    term = total = first
    while term not in (0, -1):
        term = -(term * square >> w) // ((n + 1) * (n + 2))
        total += term
        n += 2
    return total


def sin(mantissa: int, exponent: int, radius: int, bits: int) -> Parts:
    """The sine."""
    w = bits + GUARD
    return (_sin_cos(mantissa, exponent, w)[0], -w, ERROR + _up(radius, exponent, w))


def cos(mantissa: int, exponent: int, radius: int, bits: int) -> Parts:
    """The cosine."""
    w = bits + GUARD
    return (_sin_cos(mantissa, exponent, w)[1], -w, ERROR + _up(radius, exponent, w))


def arctan(mantissa: int, exponent: int, radius: int, bits: int) -> Parts:
    """The inverse tangent: arctan x = π/2 - arctan 1/x for x > 1, and 2 arctan(x/(1 + √(1 + x²)))."""
    if mantissa < 0:
        total, scale, error = arctan(-mantissa, exponent, radius, bits)
        return (-total, scale, error)
    _check_small(mantissa, exponent)
    w = bits + GUARD
    one = 1 << w
    x = _cut(mantissa, exponent, w)
    inverted = x > one
    y = (one << w) // x if inverted else x
    halvings = 6
    for _ in range(halvings):  # off by at most 4 units after each
        y = (y << w) // (one + isqrt((one << w) + y * y))
    square, term, total, k = y * y >> w, y, 0, 1
    while term > 0:
        total += term // k if k % 4 == 1 else -(term // k)
        term = term * square >> w
        k += 2
    total <<= halvings  # the series is off by less than 2^10 units; times 2^6
    if inverted:
        total = (pi(w) >> 1) - total
    return (total, -w, ERROR + _up(radius, exponent, w))


def erf(mantissa: int, exponent: int, radius: int, bits: int) -> Parts:
    """2/√π exp(-x²) Σ 2^n x^(2n+1)/(1·3···(2n+1)), all terms of one sign; ±1 where exp(-x²) is below a unit."""
    if mantissa < 0:
        total, scale, error = erf(-mantissa, exponent, radius, bits)
        return (-total, scale, error)
    w = bits + GUARD
    large = mantissa.bit_length() + exponent > LARGE
    x = 1 << LARGE + w if large else _cut(mantissa, exponent, w)
    off = 2 * _up(radius, exponent, w)  # 2/√π < 2
    if (x >> w) ** 2 > w:
        if off >> w:
            raise Undecided("an argument of erf is known too little")
        return (1 << w, -w, 2 + off)
    extra = 2 * ((x >> w) + 1) ** 2  # exp(x²) < 2^extra: the sum may be so large
    v = w + extra
    x <<= extra
    square = x * x >> v - 1
    term = total = x
    n = 0
    while term:  # a lost unit grows as the terms do, at most (sum + n)-fold
        n += 1
        term = (term * square >> v) // (2 * n + 1)
        total += term
    # the sum is off by less than 2n (sum + n) 2^-v; the factor by 2^-v 2^33 of 1; both stay below 2^28 units of w
    factor, scale, _ = exp(-(x * x), -2 * v, 0, v)
    value = total * factor >> v
    root = isqrt(pi(v) << v)
    value = ((value << 1) << v) // root
    shift = -scale - w
    return (value >> shift if shift >= 0 else value << -shift, -w, ERROR + off)


FUNCTIONS: dict[str, Callable[[int, int, int, int], Parts]] = {
    "exp": exp,
    "log": log,
    "sin": sin,
    "cos": cos,
    "arctan": arctan,
    "erf": erf,
}
