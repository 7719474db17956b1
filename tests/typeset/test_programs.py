"""Traced programs print with axes and sizes: what latexify-py gets wrong on array code is right here."""

from __future__ import annotations

import pytest

from symres.errors import Unsupported
from symres.kernel.terms import Size, Tensor, Term, Var, sum_
from symres.language.program import Definition, Program, Value
from symres.typeset import latex
from symres.typeset.programs import latex_program

N, D = Size("N"), Size("D")
n, d, e = Var("n", N), Var("d", D), Var("e", D)
x = Tensor("x", (N, D))
mu = Tensor("mu", (N,))


def program(vars: tuple[Var, ...], body: Term, *definitions: Definition) -> Program:
    value = Value(tuple((var.dim,) for var in vars), vars, body)
    return Program("f", {"x": x}, {}, {found.tensor: found for found in definitions}, {"out": value})


def test_means_keep_their_axis() -> None:
    mean = Definition(mu, ((N,),), (n,), 1 / D * sum_(d, x(n, d)))
    assert latex_program(program((n, d), x(n, d) - mu(n), mean)) == (
        "\\begin{aligned}\n\\mu_{n} &:= \\frac{1}{D}\\sum_{i=1}^{D}x_{ni}, \\\\\n"
        "y_{ni} &= x_{ni} - \\mu_{n}.\n\\end{aligned}"
    )


def test_sums_over_different_axes_differ() -> None:
    square = Tensor("A", (N, N))
    m, k = Var("m", N), Var("k", N)
    printed = latex(program((n,), sum_(m, square(m, n)) - sum_(k, square(n, k))))
    assert printed == r"y_{n} = \sum_{m=1}^{N}A_{mn} - \sum_{m=1}^{N}A_{nm}"


def test_matrix_product_and_product_differ() -> None:
    A, B = Tensor("A", (D, D)), Tensor("B", (D, D))
    k = Var("k", D)
    printed = latex(program((d, e), sum_(k, A(d, k) * B(k, e)) + A(d, e) * B(d, e)))
    assert printed == r"y_{ij} = \sum_{k=1}^{D}A_{ik}B_{kj} + A_{ij}B_{ij}"


def test_latex_of_a_term_and_of_an_array_function() -> None:
    assert latex(x(n, d)) == "x_{ni}"
    with pytest.raises(Unsupported, match="give its shapes"):
        latex(lambda_sum)


def lambda_sum(x):  # type: ignore[no-untyped-def]
    return x.sum(axis=0)
