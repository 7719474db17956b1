"""The function table against SymPy's derivatives, finite differences and NumPy."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

from symres.errors import UsageError
from symres.kernel.terms import Add, Entry, Fun, Mul, Num, Pow, Tensor, Term, Var, walk
from symres.language.constants import PI
from symres.language.functions import (
    ATOMS,
    FUNCTIONS,
    Row,
    absolute,
    derivative_name,
    expand_functions,
    log,
    maximum,
    minimum,
    partial,
    relu,
    sign,
    split_name,
    step,
    table,
)

X, Y = Tensor("x"), Tensor("y")

# Written here, not taken from the table.
BY_MATH = {
    "exp": math.exp,
    "log": math.log,
    "step": lambda u: float(u > 0),
    "eq0": lambda u: float(u == 0),
    "sin": math.sin,
    "cos": math.cos,
    "arctan": math.atan,
    "arcsin": math.asin,
    "arccos": math.acos,
    "erf": math.erf,
    "erfc": math.erfc,
    "sigmoid": lambda u: 1 / (1 + math.exp(-u)),
    "tanh": math.tanh,
    "softplus": lambda u: math.log1p(math.exp(u)),
    "silu": lambda u: u / (1 + math.exp(-u)),
    "gelu": lambda u: u * 0.5 * math.erfc(-u / math.sqrt(2)),
    "gelu_tanh": lambda u: u / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3))),
    "mish": lambda u: u * math.tanh(math.log(1 + math.exp(u))),
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tan": math.tan,
    "arcsinh": math.asinh,
    "arccosh": math.acosh,
    "arctanh": math.atanh,
    "log1p": math.log1p,
    "expm1": math.expm1,
    "exp2": lambda u: 2.0**u,
    "log2": math.log2,
    "log10": math.log10,
    "logaddexp": lambda a, b: math.log(math.exp(a) + math.exp(b)),
    "pow": lambda a, b: a**b,
    "floordiv": lambda a, b: float(a // b),
}
POINTS = {"log": 1.7, "log2": 1.7, "log10": 1.7, "arccosh": 1.7, "pow": 1.7}
SMOOTH = sorted(set(FUNCTIONS) - {"floordiv"})


def value(term: Term, at: dict[Tensor, float]) -> float:
    """The value of a scalar term, from the meaning of the nodes."""
    if isinstance(term, Num):
        return float(term.value)
    if isinstance(term, Entry):
        return math.pi if term.tensor == PI else at[term.tensor]
    values = [value(child, at) for child in term.children]
    if isinstance(term, Add):
        return math.fsum(values)
    if isinstance(term, Mul):
        return math.prod(values)
    if isinstance(term, Pow):
        return values[0] ** float(term.exponent)
    assert isinstance(term, Fun)
    return BY_MATH[term.name](*values)


def point(name: str) -> dict[Tensor, float]:
    return {X: POINTS.get(name, 0.37), Y: 0.61}


def apply(name: str) -> Fun:
    return Fun(name, *(X(), Y())[: FUNCTIONS[name].arity])


@pytest.mark.parametrize("name", SMOOTH)
def test_derivative_is_the_limit_of_difference_quotients(name: str) -> None:
    at, h = point(name), 1e-5
    for position, tensor in zip(range(FUNCTIONS[name].arity), (X, Y), strict=False):
        up, down = ({**at, tensor: at[tensor] + s * h} for s in (1, -1))
        quotient = (value(apply(name), up) - value(apply(name), down)) / (2 * h)
        assert value(partial(apply(name), position), at) == pytest.approx(quotient, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", [n for n in SMOOTH if FUNCTIONS[n].sympy and n not in ("step", "eq0")])
def test_derivative_is_the_one_of_sympy(name: str) -> None:
    row, at = FUNCTIONS[name], point(name)
    symbols = sp.symbols("x y", real=True)[: row.arity]
    assert row.sympy is not None
    for position, symbol in enumerate(symbols):
        theirs = sp.diff(row.sympy(sp, *symbols), symbol)
        numbers = dict(zip(symbols, at.values(), strict=False))
        assert value(partial(apply(name), position), at) == pytest.approx(float(theirs.subs(numbers)), rel=1e-12)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_expansion_keeps_the_value_and_uses_only_the_kernel_and_atoms(name: str) -> None:
    for x in (-0.8, -0.3, 0.0, 0.37, 1.0) if name not in (*POINTS, "floordiv") else (1.2, 2.5):
        if name == "arctanh" and x == 1.0:
            continue
        at = {X: x, Y: 0.61}
        expanded = expand_functions(apply(name))
        assert value(expanded, at) == pytest.approx(BY_MATH[name](*list(at.values())[: FUNCTIONS[name].arity]))
        assert {node.name for node in walk(expanded) if isinstance(node, Fun)} <= ATOMS


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if FUNCTIONS[n].numpy])
def test_numpy_spelling(name: str) -> None:
    row, at = FUNCTIONS[name], point(name)
    values = [np.array([v, v]) for v in list(at.values())[: row.arity]]
    source = "\n".join(("import numpy as np", *row.prelude, f"result = {row.numpy.format('a', 'b')}"))
    scope = dict(zip("ab", values, strict=False))
    exec(source, scope)
    expected = BY_MATH[name](*(v[0] for v in values))
    np.testing.assert_allclose(np.asarray(scope["result"], float), [expected, expected], rtol=1e-14)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if FUNCTIONS[n].parity])
def test_parity(name: str) -> None:
    x = POINTS.get(name, 0.37)
    factor = 1 if FUNCTIONS[name].parity == "even" else -1
    assert BY_MATH[name](-x) == pytest.approx(factor * BY_MATH[name](x))


def test_every_defined_function_without_a_numpy_spelling_has_a_definition() -> None:
    assert not [name for name, row in FUNCTIONS.items() if not row.numpy and row.definition is None]
    assert not [name for name, row in FUNCTIONS.items() if row.sympy is None and row.definition is None]


@pytest.mark.parametrize(("a", "b"), [(2.0, -3.0), (-3.0, 2.0), (-1.0, -4.0)])
def test_piecewise_helpers(a: float, b: float) -> None:
    at = {X: a, Y: b}
    assert value(relu(X()), at) == max(0, a)
    assert value(absolute(X()), at) == abs(a)
    assert value(sign(X()), at) == math.copysign(1, a)
    assert value(maximum(X(), Y()), at) == max(a, b)
    assert value(minimum(X(), Y()), at) == min(a, b)


def test_numbers_are_folded() -> None:
    assert step(3) is Num(1) and step(0) is Num(0) and log(1) is Num(0)
    assert maximum(X(), 0) is relu(X())


def test_unknown_functions_are_differentiated_by_name() -> None:
    u, v = X(), Y()
    assert partial(Fun("f", u), 0) is Fun("f'", u)
    assert partial(Fun("f'", u), 0) is Fun("f''", u)
    assert partial(partial(Fun("f", u, v), 1), 0) is partial(partial(Fun("f", u, v), 0), 1) is Fun("f.1.2", u, v)
    assert split_name("f''") == ("f", (0, 0)) and split_name("f.1.2") == ("f", (0, 1)) and split_name("f") == ("f", ())
    assert derivative_name("f.2", 1, 2) == "f.2.2"


def test_the_table_refuses_a_second_row_and_a_derivative_name() -> None:
    row = FUNCTIONS["exp"]
    with pytest.raises(UsageError, match="two rows of the function table are named 'exp'"):
        table((row, row))
    with pytest.raises(UsageError, match="read as a derivative"):
        table((Row("f'", (lambda u: u,)),))


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(UsageError, match=r"exp takes 1 argument\(s\), 2 were given"):
        partial(Fun("exp", X(), Y()), 0)


def test_expansion_under_a_sum_keeps_the_bound_variable() -> None:
    from symres.kernel.terms import Size, Sum

    n = Size("N")
    i = Var("i", n)
    x = Tensor("x", (n,))
    expanded = expand_functions(Sum(i, Fun("sigmoid", x(i))))
    assert not expanded.free


def test_sympy_is_not_imported() -> None:
    code = "import symres.language.functions, sys; raise SystemExit('sympy' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
