"""A derivation made by hand from terms: every part of a document is in it, with words that formats could misread."""

from __future__ import annotations

from symres.derivation.document import Check, Derivation, Part, Source, Step
from symres.kernel.terms import Size, Tensor, Term, Var, mul, power, sum_
from symres.language.formula import Display, Relation, Text, adjoint, definition, equation

B, D = Size("B"), Size("D")
X, OUT, X_HAT = (Tensor(name, (B, D)) for name in ("x", "dout", "x_hat"))
GAMMA, MU, VAR, RSTD = Tensor("gamma", (D,)), Tensor("mu", (B,)), Tensor("var", (B,)), Tensor("rstd", (B,))
EPS = Tensor("eps", (), "positive")


def mean(body: Term, index: Var) -> Term:
    return mul(power(D, -1), sum_(index, body))


def sample(**changes: object) -> Derivation:
    """The gradient of layer normalisation, as a finished document."""
    b, i, j = Var("b", B), Var("i", D), Var("j", D)
    scaled = mul(GAMMA(i), OUT(b, i))
    scaled_j = mul(GAMMA(j), OUT(b, j))
    closed = mul(RSTD(b), scaled - mean(scaled_j, j) - mul(X_HAT(b, i), mean(mul(scaled_j, X_HAT(b, j)), j)))
    result = equation(adjoint(X)(b, i), closed)
    vanishes = equation(sum_(j, X(b, j) - MU(b)), mul(0, D))
    fields: dict[str, object] = {
        "id": "sample-backward",
        "title": "Layer normalisation & its <gradient>, 100% of it",
        "subject": "normalisation",
        "kind": "gradient",
        "verdict": "theorem",
        "statement": (
            Text(
                "For every {B} and {D}, with *one* upstream_gradient {g} per entry,", {"B": B, "D": D, "g": OUT(b, i)}
            ),
            Display(result),
        ),
        "assumptions": (Text("{e} is positive", {"e": Relation((EPS(), mul(0, D)), (">",))}),),
        "notation": ((X_HAT(b, i), Text("the normalised input")),),
        "definitions": (
            definition(MU(b), mean(X(b, j), j)),
            definition(VAR(b), mean(power(X(b, j) - MU(b), 2), j)),
            definition(RSTD(b), power(VAR(b) + EPS(), "-1/2")),  # type: ignore[arg-type]
        ),
        "parts": (
            Part(
                "The reverse sweep",
                (Step("xhat", equation(adjoint(X_HAT)(b, i), scaled), "chain", Text("chain rule")),),
            ),
            Part(
                "Folding",
                (
                    Step("mean", vanishes, "lemma", Text("the centred values sum to zero"), key=True),
                    Step("closed", result, "fold", Text("folded into {x}", {"x": X_HAT(b, i)}), key=True),
                ),
                Text("What is left is named."),
            ),
        ),
        "remarks": (Text("A remark with a | bar and a `tick`."),),
        "uses": ("norm-three-terms",),
        "sources": (Source("ba2016", "Section 3"),),
        "record": (
            Check("kernel", "normal form of every step", True),
            Check("second judge", "prime field", True, ({"B": 1, "D": 3}, {"B": 2, "D": 5})),
            Check("NumPy", "complex step", True, ({"B": 4, "D": 7},), 3.1e-15, "random | upstream"),
        ),
        "listing": "def layer_norm(x, gamma):\n    return x < 1\n",
        "certificate": {"format": "symres-certificate", "version": 1},
    }
    return Derivation(**{**fields, **changes})  # type: ignore[arg-type]
