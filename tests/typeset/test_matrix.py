"""Matrix forms print as people write them, and expand back to what they were found in."""

from __future__ import annotations

import pytest

from symres.kernel.decide import equal
from symres.kernel.terms import Apply, Fun, Lam, Size, Tensor, Term, Var, delta, sum_
from symres.typeset.matrix import Chain, Identity, Matrix, Ones, Scaled, Total, Transpose, Whole
from symres.typeset.printer import display_latex
from symres.typeset.recognise import matrix_form
from tests.typeset.test_terms import squeezed

B, D, M = Size("B"), Size("D"), Size("M")
b, i, j, k, o = Var("b", B), Var("i", D), Var("j", D), Var("k", D), Var("o", M)
X, G, W = Tensor("X", (B, D)), Tensor("G", (B, M)), Tensor("W", (D, M))
g, x_hat, mask = (Tensor(name, (B, D)) for name in ("g", "x_hat", "m"))
rho, u = Tensor("rstd", (B,)), Tensor("u", (D,))
THREE = rho(b) * (g(b, i) - 1 / D * sum_(j, g(b, j)) - x_hat(b, i) / D * sum_(j, g(b, j) * x_hat(b, j)))
row = Var("n", D)
JACOBIAN = Apply("F", (D,), (k,), (Lam((row,), X(b, row)),), ((0, (i,)),))

FOUND: list[tuple[Term, Var, Var | None, str]] = [
    (sum_(o, G(b, o) * W(i, o)), b, i, r"GW^{\top}"),
    (sum_(b, X(b, i) * G(b, o)), i, o, r"X^{\top}G"),
    (sum_(b, G(b, o)), o, None, r"G^{\top}\mathbf{1}"),
    (
        rho(b) * (delta(i, j) - 1 / D - x_hat(b, i) * x_hat(b, j) / D),
        i,
        j,
        r"\rho_{b}(I-\frac{\mathbf{1}\mathbf{1}^{\top}}{D}-\frac{\hat{x}_{b}\hat{x}_{b}^{\top}}{D})",
    ),
    (
        THREE,
        i,
        None,
        r"\rho_{b}(g_{b}-\frac{\mathbf{1}\mathbf{1}^{\top}g_{b}}{D}-\frac{\hat{x}_{b}\hat{x}_{b}^{\top}g_{b}}{D})",
    ),
    (g(b, i) * mask(b, i), b, i, r"g\odotm"),
    (sum_(o, Fun("step", G(b, o)) * G(b, o) * W(i, o)), i, None, r"W(\mathbf{1}[G_{b}>0]\odotG_{b})"),
    (sum_(o, (sum_(k, X(b, k) * W(k, o)) - G(b, o)) * W(i, o)), b, i, r"(XW-G)W^{\top}"),
    (
        sum_(k, (delta(k, i) + JACOBIAN) * g(b, k)),
        i,
        None,
        r"(I+(\frac{\partialF}{\partialx_{b}}(x_{b}))^{\top})g_{b}".replace("x_{b}", "X_{b}"),
    ),
    (2 * sum_(o, G(b, o) * W(i, o)) / B, b, i, r"\frac{2GW^{\top}}{B}"),
    (THREE, b, i, r"\operatorname{diag}(\rho)(g-\frac{g\mathbf{1}\mathbf{1}^{\top}}{D}"
                  r"-\frac{\operatorname{diag}((g\odot\hat{x})\mathbf{1})\hat{x}}{D})"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "first", "second", "expected"), FOUND, ids=range(len(FOUND)))
def test_found_printed_and_expanded(body: Term, first: Var, second: Var | None, expected: str) -> None:
    found = matrix_form(body, first, second)
    assert found is not None
    assert squeezed(display_latex(found)) == expected
    assert equal(found.at(first, second), body)


@pytest.mark.parametrize(
    "body",
    [
        sum_(k, g(b, k) * x_hat(b, k) * X(b, i) * u(k) * Fun("exp", X(b, k))),
        Fun("exp", X(b, i)),
        sum_(k, W(k, o) * X(b, k + 1)),
    ],
)
def test_what_has_no_form_gives_none(body: Term) -> None:
    assert matrix_form(body, b, i) is None


WRONG: list[tuple[Matrix, Term]] = [
    (Chain((Whole(W(i, o), i, o), Transpose(Whole(G(b, o), b, o)))), sum_(o, G(b, o) * W(j, o))),
    (Total((Identity(D), Scaled(-1 / B, Chain((Ones(D), Transpose(Ones(D))))))), delta(i, j) - 1 / D),
]


@pytest.mark.parametrize(("matrix", "body"), WRONG, ids=["order", "size"])
def test_expansion_shows_a_wrong_form(matrix: Matrix, body: Term) -> None:
    assert not equal(matrix.at(i, j), body)
