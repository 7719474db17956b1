"""Terms in one line of text."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symres.kernel.plain import plain
from symres.kernel.terms import Apply, Fun, Iverson, Lam, Maximum, Num, Size, Tensor, Term, Var, delta, sum_

B, D = Size("B"), Size("D")
b, i, j = Var("b", B), Var("i", D), Var("j", D)
x, rho = Tensor("x", (B, D)), Tensor("rstd", (B,))
twin = Var("i", D)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (x(b, i) - rho(b), "x[b,i] - rstd[b]"),
        (-x(b, i), "-x[b,i]"),
        (rho(b) * (x(b, i) - 1), "rstd[b]*(x[b,i] - 1)"),
        (1 / D * sum_(j, x(b, j)), "1/D*Σ_j x[b,j]"),
        (sum_(j, x(b, j)) - rho(b), "(Σ_j x[b,j]) - rstd[b]"),
        (sum_(j, x(b, j) - rho(b)), "Σ_j (x[b,j] - rstd[b])"),
        (x(b, i) / (D - 1) ** 2, "x[b,i]/(D - 1)^2"),
        ((rho(b) + 1) ** Fraction(1, 2), "sqrt(rstd[b] + 1)"),
        ((rho(b) + 1) ** Fraction(-3, 2), "(rstd[b] + 1)^(-3/2)"),
        (Num(Fraction(1, 2)) * x(b, i), "1/2*x[b,i]"),
        (Fun("exp", -x(b, i)), "exp(-x[b,i])"),
        (Maximum(j, x(b, j)), "max_j x[b,j]"),
        (delta(i, j), "[i = j]"),
        (Iverson(">=", i - j - 1), "[i ≥ j + 1]"),
        (x(b, i) * sum_(twin, x(b, twin)), "x[b,i]*Σ_i' x[b,i']"),
        (Apply("F", (D,), (i,), (Lam((j,), x(b, j)),)), "F[i](x[b,:])"),
        (Apply("F", (D,), (i,), (Lam((j,), x(b, j) + 1),), ((0, (i,)),)), "∂0[i]F[i]((j -> x[b,j] + 1))"),
    ],
)
def test_plain(term: Term, text: str) -> None:
    assert plain(term) == text
    assert repr(term) == text
