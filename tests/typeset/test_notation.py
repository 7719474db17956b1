"""Names become the symbols of the field, no name is misread, and no two names share a symbol."""

from __future__ import annotations

import pytest

from symres.errors import UsageError
from symres.kernel.terms import Size, Tensor, Var, sum_
from symres.language.formula import adjoint, equation
from symres.typeset.names import symbols
from symres.typeset.notation import Notation
from symres.typeset.printer import Printer, inline_latex
from symres.typeset.tex import latex
from symres.typeset.words import escape

B, D, T = Size("B"), Size("D"), Size("T")


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("x_hat", r"\hat{x}"),
        ("xhat", r"\hat{x}"),
        ("that", r"\mathrm{that}"),
        ("hat", r"\mathrm{hat}"),
        ("mu", r"\mu"),
        ("mean", r"\mu"),
        ("var", r"\sigma^{2}"),
        ("rstd", r"\rho"),
        ("gamma", r"\gamma"),
        ("beta", r"\beta"),
        ("eps", r"\varepsilon"),
        ("lambda_", r"\lambda"),
        ("dout", "g"),
        ("dgamma", r"\mathrm{d}\gamma"),
        ("dW1", r"\mathrm{d}W_{1}"),
        ("dL_dx", r"\frac{\partial L}{\partial x}"),
        ("W1", "W_{1}"),
        ("W_q", "W_{q}"),
        ("Wq", "W_{q}"),
        ("We", r"\mathrm{We}"),
        ("h_prev", r"h_{\mathrm{prev}}"),
        ("gamma_hat", r"\hat{\gamma}"),
        ("data", r"\mathrm{data}"),
        ("sum", r"\mathrm{sum}"),
        ("running_var", r"\sigma_{\mathrm{run}}^{2}"),
        ("x̂", r"\hat{x}"),
        ("μ", r"\mu"),
        ("my_var", r"\mathrm{my}_{\mathrm{var}}"),
        ("_x", r"\mathrm{\_x}"),
    ],
)
def test_symbols_of_names(name: str, symbol: str) -> None:
    assert latex(symbols(name)[0]) == symbol


@pytest.mark.parametrize("name", ["a%b", "a&b", "a#b", "x}", "\\input{y}", "$x$", "变", "a\nb", "^", "~", "{"])
def test_no_name_is_read_as_a_command(name: str) -> None:
    printed = latex(symbols(name)[-1])
    assert "\\input{" not in printed.replace(r"\textbackslash{}input\{", "")
    assert printed.isascii()
    depth = 0
    for sign in printed.replace(r"\{", "").replace(r"\}", ""):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0


def test_escape_leaves_no_active_sign() -> None:
    assert escape("50% of $5 & #1_a^b~{c}\\d") == (
        r"50\% of \$5 \& \#1\_a\textasciicircum{}b\textasciitilde{}\{c\}\textbackslash{}d"
    )
    assert escape("x̂ → μ").isascii()


def test_two_names_never_share_a_symbol() -> None:
    names = ["x_hat", "xhat", "g", "dout", "dy", "mu", "mean", "var", "sigma2", "W1", "W_1", "eps", "epsilon"]
    notation = Notation().of(*(Tensor(name)() for name in names))
    printed = {name: latex(notation.symbol(name)) for name in names}
    assert len(set(printed.values())) == len(names)
    assert printed["g"] == "g"


def test_adjoint_is_a_partial_derivative_with_its_indices_below() -> None:
    x_hat = Tensor("x_hat", (B, D))
    entry = adjoint(x_hat)(Var("b", B), Var("i", D))
    assert inline_latex(entry) == r"\frac{\partial\ell}{\partial\hat{x}_{bi}}"


def test_overrides_rename_symbols() -> None:
    x_hat, rstd = Tensor("x_hat", (B, D))(Var("b", B), Var("i", D)), Tensor("rstd", (B,))(Var("b", B))
    notation = Notation({"x_hat": "z", "rstd": "s_inv"})
    assert Printer.of(x_hat, notation=notation).inline(x_hat) == "z_{bi}"
    assert Printer.of(rstd, notation=notation).inline(rstd) == r"s_{\mathrm{inv},b}"


@pytest.mark.parametrize("wanted", ["\\alpha", "a b", "", "x}", "1x", "z$"])
def test_an_override_is_a_name_and_never_latex(wanted: str) -> None:
    with pytest.raises(UsageError, match="is no name"):
        Notation({"x": wanted}).of(Tensor("x")())


def test_an_override_that_collides_is_refused() -> None:
    with pytest.raises(UsageError, match="both be printed as y"):
        Notation({"x": "y", "z": "y"}).of(Tensor("x")(), Tensor("z")())


def test_letters_follow_the_sizes() -> None:
    x = Tensor("x", (B, T, D))
    assert inline_latex(x(Var("u", B), Var("v", T), Var("w", D))) == "x_{bti}"


def test_letters_avoid_tensor_names() -> None:
    b, x = Tensor("b", (B,)), Tensor("x", (B, D))
    term = b(Var("b", B)) + x(Var("b", B), Var("i", D))
    printed = inline_latex(term)
    assert "b_{b}" not in printed
    assert printed.startswith("b_{n} + x_{m")


def test_nested_and_free_indices_differ_and_siblings_share() -> None:
    x = Tensor("x", (D,))
    i, j, k = (Var("i", D) for _ in range(3))
    assert inline_latex(x(i) * sum_(j, x(j) * sum_(k, x(k)))) == r"x_{i}\sum_{j=1}^{D}x_{j}\sum_{k=1}^{D}x_{k}"
    assert inline_latex(sum_(j, x(j)) - sum_(k, x(k) ** 2)) == r"\sum_{i=1}^{D}x_{i} - \sum_{i=1}^{D}x_{i}^{2}"


def test_letters_run_out_into_primes() -> None:
    x = Tensor("x", (D,) * 7)
    printed = inline_latex(x(*(Var("i", D) for _ in range(7))))
    assert printed == "x_{ijkpqi'j'}"


def test_one_variable_keeps_its_letter_in_a_document() -> None:
    x = Tensor("x", (D,))
    i, j = Var("", D), Var("", D)
    first, second = equation(x(i), x(j)), equation(x(j), 2 * x(j))
    printer = Printer.of((first, second))
    assert printer.inline(first) == "x_{i} = x_{j}"
    assert printer.inline(second) == "x_{j} = 2x_{j}"


def test_a_bound_variable_differs_from_one_free_on_the_other_side() -> None:
    x, y = Tensor("x", (D,)), Tensor("y", (D,))
    i = Var("i", D)
    relation = equation(y(i), sum_(i, x(i)))
    assert Printer.of(relation).inline(relation) == r"y_{i} = \sum_{j=1}^{D}x_{j}"


def test_print_is_the_same_for_new_variables() -> None:
    def made() -> str:
        x = Tensor("x", (B, D))
        b, i, j = Var("b", B), Var("i", D), Var("i", D)
        return inline_latex(x(b, i) - sum_(j, x(b, j)))

    assert made() == made()


def test_common_signs_are_set_as_mathematics() -> None:
    assert escape("x̂ᵀ ≤ ρ²") == r"\(\hat{x}\)\(^{\top}\) \(\le\) \(\rho\)\(^{2}\)"
