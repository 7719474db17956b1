"""Terms in print: each line is what a careful author would write, and has one reading."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symres.errors import Unsupported
from symres.kernel.terms import Apply, Fun, Iverson, Lam, Maximum, Num, Size, Tensor, Term, Var, delta, power, sum_
from symres.language.constants import INFINITY, PI
from symres.language.functions import absolute, maximum, minimum, relu, step
from symres.language.program import Program
from symres.typeset import layout as tree
from symres.typeset.notation import Notation
from symres.typeset.printer import Printer, inline_latex
from symres.typeset.setting import Setting, layout
from symres.typeset.tex import latex

B, D, N, K, S, C, L, T = (Size(name) for name in "BDNKSCLT")
b, i, j = Var("b", B), Var("i", D), Var("j", D)
n, k = Var("n", N), Var("k", K)
x, x_hat, g = (Tensor(name, (B, D)) for name in ("x", "x_hat", "g"))
mu, rstd, var = (Tensor(name, (B,)) for name in ("mu", "rstd", "var"))
eps = Tensor("eps", (), "positive")
w = Tensor("w", (K,))
HALF = Fraction(1, 2)
c, t, s = Var("c", C), Var("t", T), Var("s", T)
label = Tensor("y", (B,), "int", C)
p = Tensor("p", (B, C))
layers = Tensor("x", (L + 1, D))
layer = Var("l", L)


def vector(*front: Term) -> Lam:
    """A row of x as an argument."""
    m = Var("m", D)
    tensor = layers if front and front[0].free & {layer} else x
    return Lam((m,), tensor(*front, m))


PRINTED: list[tuple[Term, str]] = [
    # the author's order
    (x(b, i) - mu(b), r"x_{bi} - \mu_{b}"),
    (-mu(b) + x(b, i), r"-\mu_{b} + x_{bi}"),
    # fractions
    (1 / D * sum_(j, x(b, j)), r"\frac{1}{D}\sum_{j=1}^{D}x_{bj}"),
    (sum_(j, x(b, j)) / D, r"\frac{1}{D}\sum_{j=1}^{D}x_{bj}"),
    ((x(b, i) - mu(b)) * (var(b) + eps()) ** -HALF, r"\frac{x_{bi}-\mu_{b}}{\sqrt{\sigma_{b}^{2}+\varepsilon}}"),
    ((var(b) + eps()) ** Fraction(-3, 2), r"\frac{1}{(\sigma_{b}^{2}+\varepsilon)^{3/2}}"),
    (Fraction(-3, 2) * x(b, i) / D, r"-\frac{3x_{bi}}{2D}"),
    (x(b, i) / D / D, r"\frac{x_{bi}}{D^{2}}"),
    (1 / (N - 1) * sum_(i, x(b, i)), r"\frac{1}{N-1}\sum_{i=1}^{D}x_{bi}"),
    (Fun("exp", x(b, i)) / sum_(j, Fun("exp", x(b, j))), r"\frac{e^{x_{bi}}}{\sum_{j=1}^{D}e^{x_{bj}}}"),
    # powers and roots
    (rstd(b) ** 3, r"\rho_{b}^{3}"),
    (var(b) ** 2, r"(\sigma_{b}^{2})^{2}"),
    ((x(b, i) - 1) ** 2, r"(x_{bi}-1)^{2}"),
    ((-x(b, i)) ** 2, r"(-x_{bi})^{2}"),
    (2 * power(Num(2), HALF), r"2\sqrt{2}"),
    (2 * power(PI(), -HALF), r"\frac{2}{\sqrt{\pi}}"),
    # sums reach over products and no further
    (sum_(j, x(b, j) + mu(b)), r"\sum_{j=1}^{D}(x_{bj}+\mu_{b})"),
    (sum_(j, x(b, j)) + mu(b), r"\sum_{j=1}^{D}x_{bj}+\mu_{b}"),
    (sum_(j, -x(b, j)), r"-\sum_{j=1}^{D}x_{bj}"),
    (mu(b) + sum_(j, -2 * x(b, j)), r"\mu_{b}-\sum_{j=1}^{D}2x_{bj}"),
    (mu(b) * sum_(j, -x(b, j)), r"-\mu_{b}\sum_{j=1}^{D}x_{bj}"),
    # a bound variable that is free around it gets a letter of its own
    (x(b, j) - sum_(j, x(b, j)), r"x_{bj}-\sum_{i=1}^{D}x_{bi}"),
    (sum_(j, x(b, j) * sum_(j, x(b, j))), r"\sum_{j=1}^{D}x_{bj}\sum_{i=1}^{D}x_{bi}"),
    (x(b, j) * Apply("F", (D,), (i,), (Lam((j,), x(b, j) ** 2),)), r"x_{bj}F_{i}((x_{bk}^{2})_{k})"),
    (sum_(j, x(b, j)) * mu(b), r"\mu_{b}\sum_{j=1}^{D}x_{bj}"),
    (sum_(j, x(b, j)) ** 2, r"(\sum_{j=1}^{D}x_{bj})^{2}"),
    # functions
    (relu(x(b, i) + mu(b)), r"\operatorname{ReLU}(x_{bi}+\mu_{b})"),
    (g(b, i) * relu(x(b, i)), r"g_{bi}\operatorname{ReLU}(x_{bi})"),
    (g(b, i) * step(x(b, i)), r"g_{bi}\mathbf{1}[x_{bi}>0]"),
    (1 - step(x(b, i)), r"\mathbf{1}[x_{bi}\le0]"),
    (step(x(b, i) - mu(b)), r"\mathbf{1}[x_{bi}>\mu_{b}]"),
    (absolute(x(b, i)), r"\lvert x_{bi}\rvert"),
    (maximum(x(b, i), mu(b)), r"\max(x_{bi},\mu_{b})"),
    (minimum(x(b, i), mu(b)), r"\min(x_{bi},\mu_{b})"),
    (Fun("tanh", x(b, i)) ** 2, r"\tanh^{2}(x_{bi})"),
    (Fun("f'", x(b, i)), r"f'(x_{bi})"),
    (Fun("f''", x(b, i)) * g(b, i), r"f''(x_{bi})g_{bi}"),
    (Fun("f.1.2", x(b, i), mu(b)), r"\partial_{12}f(x_{bi},\mu_{b})"),
    (Maximum(j, x(b, j)), r"\max_{j}x_{bj}"),
    (Fun("exp", -(x(b, i) ** 2) * HALF), r"\exp(-\frac{x_{bi}^{2}}{2})"),
    # indices count from 1 in print and from 0 inside
    (delta(i, j), r"\delta_{ij}"),
    (delta(c, label(b)), r"[c=y_{b}]"),
    (p(b, label(b)), r"p_{b,y_{b}}"),
    (Iverson(">=", t - s), r"[t\ges]"),
    (Iverson(">=", t - s - 1), r"[t>s]"),
    (Iverson(">=", n - 3), r"[n\ge4]"),
    (Iverson("=", n - k - 1), r"[n=k+1]"),
    (sum_(k, Tensor("z", (N + K,))(n + k) * w(k)), r"\sum_{k=1}^{K}z_{n+k-1}w_{k}"),
    (sum_(k, Tensor("z", (N * S + K,))(S * n + k) * w(k)), r"\sum_{k=1}^{K}z_{S(n-1)+k}w_{k}"),
    (n * w(k), r"(n-1)w_{k}"),
    (w(Num(0)), r"w_{1}"),
    # depth
    (layers(layer + 1, i) - layers(layer, i), r"x_{i}^{(l+1)}-x_{i}^{(l)}"),
    (layers(layer + 1, i) - Apply("F", (L, D), (layer, i), (vector(layer),)), r"x_{i}^{(l+1)}-F_{i}^{(l)}(x^{(l)})"),
    (Tensor("x", (B, L, D))(b, Var("l", L), i), r"x_{bli}"),
    # general functions
    (Apply("F", (D,), (i,), (vector(b),)), r"F_{i}(x_{b})"),
    (Apply("F", (D,), (i,), (vector(b),), ((0, (j,)),)), r"\frac{\partialF_{i}}{\partialx_{bj}}(x_{b})"),
    (Apply("F", (D,), (i,), (Lam((j,), x(b, j) + g(b, j)),)), r"F_{i}(x_{b}+g_{b})"),
    (Apply("F", (D,), (i,), (Lam((j,), x(b, j) * g(b, j)),)), r"F_{i}((x_{bj}g_{bj})_{j})"),
]


def squeezed(text: str) -> str:
    """Without spaces and without the sizes of brackets."""
    for size in ("\\bigl", "\\bigr", "\\Bigl", "\\Bigr", "\\biggl", "\\biggr", "\\Biggl", "\\Biggr", " "):
        text = text.replace(size, "")
    return text


@pytest.mark.parametrize(("term", "expected"), PRINTED, ids=range(len(PRINTED)))
def test_print(term: Term, expected: str) -> None:
    assert squeezed(inline_latex(term)) == squeezed(expected)


def test_masked_minus_infinity_is_a_case_distinction() -> None:
    score, mask = Tensor("s", (T, T))(t, s), Iverson(">=", t - s)
    printed = inline_latex(mask * score - (1 - mask) * INFINITY())
    assert printed == r"\begin{cases} s_{tu} & \text{if }t \ge u \\ -\infty & \text{otherwise} \end{cases}"


def test_counting_from_zero() -> None:
    notation = Notation(first=0)
    term = sum_(k, Tensor("z", (N * S + K,))(S * n + k) * w(k))
    assert Printer.of(term, notation=notation).inline(term) == r"\sum_{k=0}^{K - 1}z_{Sn+k}w_{k}".replace(" ", "")


def test_ranges_that_depend_on_an_index() -> None:
    inner = Var("s", t + 1)
    assert inline_latex(sum_(inner, Tensor("a", (T, T))(t, inner))) == r"\sum_{s=1}^{t}a_{ts}"


def test_sizes_of_brackets_follow_what_they_hold() -> None:
    term = rstd(b) * (x(b, i) - 1 / D * sum_(j, x(b, j)))
    assert Printer.of(term).display(term).startswith(r"\rho_{b}\biggl(")
    assert inline_latex(x(b, i) * (mu(b) - 1)) == r"x_{bi}(\mu_{b} - 1)"


def test_double_struck_one_never_occurs() -> None:
    assert all("mathbb" not in inline_latex(term) for term, _ in PRINTED)


def test_unknown_formula_is_refused() -> None:
    with pytest.raises(Unsupported, match="a str cannot be typeset"):
        layout("x", Setting(Notation()))
    with pytest.raises(TypeError):
        latex("x")  # type: ignore[arg-type]


def test_axes_of_several_sizes_are_grouped() -> None:
    G = Size("G")
    tensor, row_, group, member = Tensor("x", (B, G, K)), Var("b", B), Var("g", G), Var("k", K)
    program = Program("f", {"x": tensor}, {"x": ((B,), (G, K))})
    entry = tensor(row_, group, member)
    assert inline_latex(entry) == "x_{bgk}"
    assert Printer.of(program, entry).inline(entry) == "x_{b,(g,k)}"


def test_grids() -> None:
    grid = tree.Grid(((tree.Digits("1"), tree.Digits("0")), (tree.Digits("0"), tree.Digits("2"))))
    assert latex(grid) == r"\begin{pmatrix} 1 & 0 \\ 0 & 2 \end{pmatrix}"
