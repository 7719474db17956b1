"""The rows of the table of elementwise functions; :mod:`symres.language.functions` is the way to use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from symres.kernel.terms import ONE, ZERO, Fun, Num, Number, Term, as_term, power
from symres.language.constants import PI

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Row:
    """An elementwise function.

    Args:
        name: its name in :class:`~symres.kernel.terms.Fun`.
        partials: the derivative by each argument, as a function of the argument terms.
        definition: the function in terms of simpler ones; ``None`` for what the kernel knows and for atoms.
        numpy: NumPy source with ``{0}``, ``{1}`` for the arguments, each in a place that needs no parentheses; empty
            where the definition is the way to write it.
        sympy: the value on SymPy arguments, given the module (``lambda sp, u: sp.exp(u)``); ``None`` where the
            definition is the way to write it.
        latex: the operator's name in LaTeX.
        parity: ``odd`` or ``even`` in its one argument, or empty.
        prelude: source lines that the NumPy spelling needs in its module.
    """

    name: str
    partials: tuple[Callable[..., Term], ...]
    definition: Callable[..., Term] | None = None
    numpy: str = ""
    sympy: Callable[..., Any] | None = None
    latex: str = ""
    parity: Literal["odd", "even", ""] = ""
    prelude: tuple[str, ...] = ()

    @property
    def arity(self) -> int:
        """The number of arguments."""
        return len(self.partials)


def exp(u: Term | Number) -> Term:
    """The exponential; exp(0) is 1."""
    return ONE if as_term(u) is ZERO else Fun("exp", u)


def log(u: Term | Number) -> Term:
    """The natural logarithm; log(1) is 0."""
    return ZERO if as_term(u) is ONE else Fun("log", u)


def step(u: Term | Number) -> Term:
    """1 if u > 0, else 0."""
    u = as_term(u)
    return Num(int(u.value > 0)) if isinstance(u, Num) else Fun("step", u)


def sqrt(u: Term | Number) -> Term:
    """The square root, as a power."""
    return power(u, HALF)


def _f(name: str) -> Callable[..., Term]:
    return lambda *args: Fun(name, *args)


tanh, sigmoid, erf, sin, cos = map(_f, ("tanh", "sigmoid", "erf", "sin", "cos"))
_GELU_CUBIC = Fraction(44715, 1000000)


def _gelu_tanh_inner(u: Term) -> Term:
    return sqrt(2 / PI()) * (u + _GELU_CUBIC * u**3)


def _zero(*_: Term) -> Term:
    return ZERO


_ERF_PRELUDE = ("import math", "erf = np.vectorize(math.erf, otypes=[float])")

ROWS: tuple[Row, ...] = (
    # what the kernel knows
    Row("exp", (exp,), None, "np.exp({0})", lambda sp, u: sp.exp(u), r"\exp"),
    Row("log", (lambda u: 1 / u,), None, "np.log({0})", lambda sp, u: sp.log(u), r"\log"),
    Row("step", (_zero,), None, "({0} > 0)", lambda sp, u: sp.Heaviside(u, 0), r"\operatorname{step}"),
    Row(
        "eq0",
        (_zero,),
        None,
        "({0} == 0)",
        lambda sp, u: sp.KroneckerDelta(u, 0),
        r"\operatorname{eq}_0",
        "even",
    ),
    Row("floordiv", (_zero, _zero), None, "({0} // {1})", lambda sp, a, b: sp.floor(a / b), r"\operatorname{div}"),
    # atoms
    Row("sin", (cos,), None, "np.sin({0})", lambda sp, u: sp.sin(u), r"\sin", "odd"),
    Row("cos", (lambda u: -sin(u),), None, "np.cos({0})", lambda sp, u: sp.cos(u), r"\cos", "even"),
    Row("arctan", (lambda u: 1 / (1 + u**2),), None, "np.arctan({0})", lambda sp, u: sp.atan(u), r"\arctan", "odd"),
    Row(
        "arcsin",
        (lambda u: power(1 - u**2, -HALF),),
        None,
        "np.arcsin({0})",
        lambda sp, u: sp.asin(u),
        r"\arcsin",
        "odd",
    ),
    Row("arccos", (lambda u: -power(1 - u**2, -HALF),), None, "np.arccos({0})", lambda sp, u: sp.acos(u), r"\arccos"),
    Row(
        "erf",
        (lambda u: 2 * power(PI(), -HALF) * exp(-(u**2)),),
        None,
        "erf({0})",
        lambda sp, u: sp.erf(u),
        r"\operatorname{erf}",
        "odd",
        _ERF_PRELUDE,
    ),
    # defined by the functions above
    Row(
        "erfc",
        (lambda u: -2 * power(PI(), -HALF) * exp(-(u**2)),),
        lambda u: 1 - erf(u),
        sympy=lambda sp, u: sp.erfc(u),
        latex=r"\operatorname{erfc}",
    ),
    Row(
        "sigmoid",
        (lambda u: sigmoid(u) * (1 - sigmoid(u)),),
        lambda u: 1 / (1 + exp(-u)),
        latex=r"\sigma",
    ),
    Row(
        "tanh",
        (lambda u: 1 - tanh(u) ** 2,),
        lambda u: (exp(2 * u) - 1) / (exp(2 * u) + 1),
        "np.tanh({0})",
        lambda sp, u: sp.tanh(u),
        r"\tanh",
        "odd",
    ),
    Row(
        "softplus",
        (sigmoid,),
        lambda u: log(1 + exp(u)),
        "np.logaddexp(0, {0})",
        latex=r"\operatorname{softplus}",
    ),
    Row(
        "silu",
        (lambda u: sigmoid(u) * (1 + u * (1 - sigmoid(u))),),
        lambda u: u * sigmoid(u),
        latex=r"\operatorname{silu}",
    ),
    Row(
        "gelu",
        (lambda u: (1 + erf(u * power(2, -HALF))) * HALF + u * power(2 * PI(), -HALF) * exp(-(u**2) * HALF),),
        lambda u: HALF * u * (1 + erf(u * power(2, -HALF))),
        latex=r"\operatorname{gelu}",
    ),
    Row(
        "gelu_tanh",
        (
            lambda u: (
                HALF * (1 + tanh(_gelu_tanh_inner(u)))
                + HALF * u * (1 - tanh(_gelu_tanh_inner(u)) ** 2) * sqrt(2 / PI()) * (1 + 3 * _GELU_CUBIC * u**2)
            ),
        ),
        lambda u: HALF * u * (1 + tanh(_gelu_tanh_inner(u))),
        latex=r"\operatorname{gelu}",
    ),
    Row(
        "mish",
        (lambda u: tanh(Fun("softplus", u)) + u * (1 - tanh(Fun("softplus", u)) ** 2) * sigmoid(u),),
        lambda u: u * tanh(Fun("softplus", u)),
        latex=r"\operatorname{mish}",
    ),
    Row(
        "sinh",
        (_f("cosh"),),
        lambda u: (exp(u) - exp(-u)) * HALF,
        "np.sinh({0})",
        lambda sp, u: sp.sinh(u),
        r"\sinh",
        "odd",
    ),
    Row(
        "cosh",
        (_f("sinh"),),
        lambda u: (exp(u) + exp(-u)) * HALF,
        "np.cosh({0})",
        lambda sp, u: sp.cosh(u),
        r"\cosh",
        "even",
    ),
    Row(
        "tan",
        (lambda u: cos(u) ** -2,),
        lambda u: sin(u) / cos(u),
        "np.tan({0})",
        lambda sp, u: sp.tan(u),
        r"\tan",
        "odd",
    ),
    Row(
        "arcsinh",
        (lambda u: power(1 + u**2, -HALF),),
        lambda u: log(u + sqrt(1 + u**2)),
        "np.arcsinh({0})",
        lambda sp, u: sp.asinh(u),
        r"\operatorname{arsinh}",
        "odd",
    ),
    Row(
        "arccosh",
        (lambda u: power(u**2 - 1, -HALF),),
        lambda u: log(u + sqrt(u**2 - 1)),
        "np.arccosh({0})",
        lambda sp, u: sp.acosh(u),
        r"\operatorname{arcosh}",
    ),
    Row(
        "arctanh",
        (lambda u: 1 / (1 - u**2),),
        lambda u: (log(1 + u) - log(1 - u)) * HALF,
        "np.arctanh({0})",
        lambda sp, u: sp.atanh(u),
        r"\operatorname{artanh}",
        "odd",
    ),
    Row("log1p", (lambda u: 1 / (1 + u),), lambda u: log(1 + u), "np.log1p({0})", latex=r"\operatorname{log1p}"),
    Row("expm1", (exp,), lambda u: exp(u) - 1, "np.expm1({0})", latex=r"\operatorname{expm1}"),
    Row(
        "exp2",
        (lambda u: Fun("exp2", u) * log(2),),
        lambda u: exp(u * log(2)),
        "np.exp2({0})",
        lambda sp, u: 2**u,
        r"\operatorname{exp}_2",
    ),
    Row("log2", (lambda u: 1 / (u * log(2)),), lambda u: log(u) / log(2), "np.log2({0})", latex=r"\log_2"),
    Row("log10", (lambda u: 1 / (u * log(10)),), lambda u: log(u) / log(10), "np.log10({0})", latex=r"\log_{10}"),
    Row(
        "logaddexp",
        (lambda a, b: sigmoid(a - b), lambda a, b: sigmoid(b - a)),
        lambda a, b: log(exp(a) + exp(b)),
        "np.logaddexp({0}, {1})",
        latex=r"\operatorname{logaddexp}",
    ),
    Row(
        "pow",
        (lambda a, b: b * Fun("pow", a, b - 1), lambda a, b: Fun("pow", a, b) * log(a)),
        lambda a, b: exp(b * log(a)),
        "np.power({0}, {1})",
        lambda sp, a, b: a**b,
        r"\operatorname{pow}",
    ),
)
