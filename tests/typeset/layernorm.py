"""A derivation written by hand: layer normalisation and its input gradient, for the tests of what is printed."""

from __future__ import annotations

from fractions import Fraction

from symres.derivation.document import Check, Derivation, Part, Source, Step
from symres.kernel.terms import Size, Tensor, Term, Var, sum_
from symres.language.formula import Display, Text, adjoint, definition, equation
from symres.language.program import Program

B, D = Size("B"), Size("D")
b, i, j = Var("b", B), Var("i", D), Var("j", D)
x, g, x_hat = (Tensor(name, (B, D)) for name in ("x", "dout", "x_hat"))
mu, rstd = (Tensor(name, (B,)) for name in ("mu", "rstd"))
var = Tensor("var", (B,), "nonnegative")
gamma, beta = Tensor("gamma", (D,)), Tensor("beta", (D,))
eps = Tensor("eps", (), "positive")
y = Tensor("y", (B, D))
HALF = Fraction(1, 2)


def mean(term: Term) -> Term:
    """The mean over the features, the term being one in j."""
    return 1 / D * sum_(j, term)


d_hat = adjoint(x_hat)
THREE_TERMS = rstd(b) * (d_hat(b, i) - mean(d_hat(b, j)) - x_hat(b, i) * mean(d_hat(b, j) * x_hat(b, j)))
SIX_TERMS = (
    d_hat(b, i) * rstd(b)
    - rstd(b) * mean(d_hat(b, j))
    - (x(b, i) - mu(b)) / D * rstd(b) ** 3 * sum_(j, d_hat(b, j) * (x(b, j) - mu(b)))
    + 1 / D * rstd(b) ** 3 * sum_(j, x(b, j) - mu(b)) / D * sum_(j, d_hat(b, j) * (x(b, j) - mu(b)))
)

LAYERNORM = Derivation(
    id="layernorm-backward",
    title="Layer normalisation: the gradient with respect to its input",
    subject="normalisation",
    kind="gradient",
    verdict="theorem",
    statement=(
        Text(
            "Let {l} be a differentiable function of {y} and {g} its gradient at {y}. For all sizes {B} and {D},",
            {
                "l": Tensor("loss"),
                "y": y,
                "g": g,
                "B": B,
                "D": D,
            },
        ),
        Display(equation(adjoint(x)(b, i), THREE_TERMS)),
        Text("and the gradients of the parameters are"),
        Display(equation(adjoint(gamma)(i), sum_(b, g(b, i) * x_hat(b, i)))),
        Display(equation(adjoint(beta)(i), sum_(b, g(b, i)))),
    ),
    assumptions=(
        Text("{eps} is positive, so that the root is differentiable", {"eps": eps()}),
        Text("{D} is at least 1", {"D": D}),
    ),
    notation=(
        (x(b, i), Text("feature {i} of sample {b}", {"i": i, "b": b})),
        (g(b, i), Text("the gradient arriving from above")),
    ),
    definitions=(
        definition(mu(b), mean(x(b, j))),
        definition(var(b), mean((x(b, j) - mu(b)) ** 2)),
        definition(rstd(b), (var(b) + eps()) ** -HALF),
        definition(x_hat(b, i), (x(b, i) - mu(b)) * rstd(b)),
        definition(y(b, i), gamma(i) * x_hat(b, i) + beta(i)),
    ),
    parts=(
        Part(
            "The normalised value",
            (
                Step(
                    "x-hat",
                    equation(d_hat(b, i), gamma(i) * g(b, i)),
                    "chain rule",
                    Text("the scale {gamma} multiplies each feature by itself", {"gamma": gamma(i)}),
                    key=True,
                ),
            ),
        ),
        Part(
            "The statistics",
            (
                Step(
                    "rstd",
                    equation(adjoint(rstd)(b), sum_(j, d_hat(b, j) * (x(b, j) - mu(b)))),
                    "chain rule",
                    Text("{r} scales every feature of its sample", {"r": rstd(b)}),
                ),
                Step(
                    "var",
                    equation(adjoint(var)(b), -adjoint(rstd)(b) * rstd(b) ** 3 * HALF),
                    "chain rule",
                    Text("the derivative of a power, by {v}", {"v": var(b)}),
                ),
                Step(
                    "zero",
                    equation(sum_(j, x(b, j) - mu(b)), 0 * D),
                    "lemma",
                    Text("the values of a sample, centred, sum to zero"),
                    key=True,
                ),
                Step(
                    "six",
                    equation(adjoint(x)(b, i), SIX_TERMS),
                    "chain rule",
                    Text("{x} enters its own normalised value, the mean and the variance", {"x": x(b, i)}),
                ),
            ),
            Text("The input reaches the output along three paths."),
        ),
        Part(
            "The closed form",
            (
                Step(
                    "dx",
                    equation(adjoint(x)(b, i), THREE_TERMS),
                    "fold",
                    Text(
                        "the path through the mean inside the variance vanishes, and {x} is put in", {"x": x_hat(b, i)}
                    ),
                    key=True,
                ),
            ),
        ),
    ),
    remarks=(Text("A person's own name like 100%_sure & {x} is harmless.", {"x": x(b, i)}),),
    sources=(Source("ba2016", "Section 3"),),
    record=(
        Check("kernel", "normal form of every step", True),
        Check("second judge", "exact evaluation in a prime field", True, ({"B": 1, "D": 1}, {"B": 2, "D": 3})),
        Check("NumPy", "finite differences of the forward function", True, ({"B": 3, "D": 5},), 3.2e-10),
    ),
    listing="def layer_norm(x, gamma, beta, eps=1e-5):\n    mu = x.mean(axis=-1, keepdims=True)\n"
    "    return gamma * (x - mu) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + beta  # 'x_hat' -- 100 %\n",
    program=Program("layer_norm"),
)
