"""The known functions of numbers: eight primitive ones with their derivatives, and the others in terms of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

HALF = Fraction(1, 2)
INTEGER_FUNCTIONS = frozenset({"floordiv"})


class Numbers:
    """Values of an arithmetic with the usual signs, so that the formulas below read as such."""

    __slots__ = ("arithmetic", "value")

    def __init__(self, arithmetic: Any, value: Any) -> None:
        self.arithmetic, self.value = arithmetic, value

    def _other(self, other: Numbers | Fraction | int) -> Any:
        return other.value if isinstance(other, Numbers) else self.arithmetic.number(other)

    def __add__(self, other: Numbers | Fraction | int) -> Numbers:
        return Numbers(self.arithmetic, self.arithmetic.add(self.value, self._other(other)))

    def __mul__(self, other: Numbers | Fraction | int) -> Numbers:
        return Numbers(self.arithmetic, self.arithmetic.mul(self.value, self._other(other)))

    def __pow__(self, exponent: Fraction | int) -> Numbers:
        return Numbers(self.arithmetic, self.arithmetic.power(self.value, Fraction(exponent)))

    def __neg__(self) -> Numbers:
        return self * -1

    def __sub__(self, other: Numbers | Fraction | int) -> Numbers:
        return self + -other

    def __rsub__(self, other: Fraction | int) -> Numbers:
        return -self + other

    def __truediv__(self, other: Numbers | Fraction | int) -> Numbers:
        return self * (other**-1 if isinstance(other, Numbers) else Fraction(1, other))

    def __rtruediv__(self, other: Fraction | int) -> Numbers:
        return self**-1 * other

    __radd__, __rmul__ = __add__, __mul__

    def at(self, value: Fraction | int) -> Numbers:
        """A number in the same arithmetic."""
        return Numbers(self.arithmetic, self.arithmetic.number(value))

    @property
    def pi(self) -> Numbers:
        """The circle number."""
        return Numbers(self.arithmetic, self.arithmetic.pi())


def _primitive(name: str) -> Callable[[Numbers], Numbers]:
    return lambda u: Numbers(u.arithmetic, u.arithmetic.primitive(name, u.value))


exp, log, sin, cos, arctan, erf = map(_primitive, ("exp", "log", "sin", "cos", "arctan", "erf"))


def _derivative(rule: Callable[[Numbers, Numbers], Numbers]) -> Callable[[Any, Any, Any], Any]:
    return lambda arithmetic, u, value: rule(Numbers(arithmetic, u), Numbers(arithmetic, value)).value


# The derivative from the argument u and the value f; None where it is 0.
DERIVATIVES: dict[str, Callable[[Any, Any, Any], Any] | None] = {
    "exp": _derivative(lambda u, f: f),
    "log": _derivative(lambda u, f: 1 / u),
    "sin": _derivative(lambda u, f: cos(u)),
    "cos": _derivative(lambda u, f: -sin(u)),
    "arctan": _derivative(lambda u, f: 1 / (1 + u * u)),
    "erf": _derivative(lambda u, f: 2 * exp(-(u * u)) * u.pi**-HALF),
    "step": None,
    "eq0": None,
}


def sigmoid(u: Numbers) -> Numbers:
    """1/(1 + exp(-u))."""
    return 1 / (1 + exp(-u))


def tanh(u: Numbers) -> Numbers:
    """1 - 2/(exp(2u) + 1)."""
    return 1 - 2 / (exp(2 * u) + 1)


def softplus(u: Numbers) -> Numbers:
    """log(1 + exp(u))."""
    return log(1 + exp(u))


def arcsin(u: Numbers) -> Numbers:
    """arctan(u/√(1 - u²))."""
    return arctan(u * (1 - u * u) ** -HALF)


def gelu_tanh(u: Numbers) -> Numbers:
    """u (1 + tanh(√(2/π) (u + 0.044715 u³)))/2."""
    return HALF * u * (1 + tanh((2 / u.pi) ** HALF * (u + Fraction(44715, 1000000) * u**3)))


@dataclass(frozen=True)
class Known:
    """A function and the number of its arguments."""

    arity: int
    rule: Callable[..., Numbers]


KNOWN: dict[str, Known] = {
    "floordiv": Known(2, lambda a, b: a),  # of integers only: the evaluation computes it
    **{name: Known(1, _primitive(name)) for name in DERIVATIVES},
    "sigmoid": Known(1, sigmoid),
    "tanh": Known(1, tanh),
    "softplus": Known(1, softplus),
    "silu": Known(1, lambda u: u * sigmoid(u)),
    "gelu": Known(1, lambda u: HALF * u * (1 + erf(u * u.at(2) ** -HALF))),
    "gelu_tanh": Known(1, gelu_tanh),
    "mish": Known(1, lambda u: u * tanh(softplus(u))),
    "erfc": Known(1, lambda u: 1 - erf(u)),
    "sinh": Known(1, lambda u: (exp(u) - exp(-u)) * HALF),
    "cosh": Known(1, lambda u: (exp(u) + exp(-u)) * HALF),
    "tan": Known(1, lambda u: sin(u) / cos(u)),
    "arcsin": Known(1, arcsin),
    "arccos": Known(1, lambda u: u.pi * HALF - arcsin(u)),
    "arcsinh": Known(1, lambda u: log(u + (1 + u * u) ** HALF)),
    "arccosh": Known(1, lambda u: log(u + (u * u - 1) ** HALF)),
    "arctanh": Known(1, lambda u: (log(1 + u) - log(1 - u)) * HALF),
    "log1p": Known(1, lambda u: log(1 + u)),
    "expm1": Known(1, lambda u: exp(u) - 1),
    "exp2": Known(1, lambda u: exp(u * log(u.at(2)))),
    "log2": Known(1, lambda u: log(u) / log(u.at(2))),
    "log10": Known(1, lambda u: log(u) / log(u.at(10))),
    "logaddexp": Known(2, lambda a, b: log(exp(a) + exp(b))),
    "pow": Known(2, lambda a, b: exp(b * log(a))),
}
