"""The content hash changes when the statement or a step changes, and not otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symres.derivation.document import Check, Derivation, Part, Source, Step
from symres.errors import Unsupported
from symres.export.fingerprint import fingerprint
from symres.kernel.terms import Size, Tensor, Term, Var, mul, sum_
from symres.language.formula import Display, Text, equation

D = Size("D")
X = Tensor("x", (D,))
Y = Tensor("y", (D,))


def total(tensor: Tensor, factor: int = 1, letter: str = "i") -> Term:
    i = Var(letter, D)
    return sum_(i, mul(factor, tensor(i)))


def build(factor: int = 1, letter: str = "i", reason: str = "contract") -> Derivation:
    relation = equation(total(X, factor, letter), total(Y))
    step = Step("first", relation, "contract", Text(reason))
    statement = (Text("For every {d},", {"d": D}), Display(relation))
    return Derivation("some-id", "Title", "subject", "identity", "theorem", statement, parts=(Part("", (step,)),))


def test_two_runs_agree() -> None:
    # Every run makes new index variables.
    assert fingerprint(build()) == fingerprint(build())


@pytest.mark.parametrize("other", [build(factor=2), build(letter="j"), build(reason="because")])
def test_a_change_of_the_statement_or_a_step_changes_it(other: Derivation) -> None:
    assert fingerprint(other) != fingerprint(build())


def test_the_verdict_and_the_assumptions_belong_to_the_statement() -> None:
    assert fingerprint(replace(build(), verdict="refuted")) != fingerprint(build())
    assert fingerprint(replace(build(), assumptions=(Text("x is positive"),))) != fingerprint(build())


def test_the_rest_does_not_enter() -> None:
    other = replace(
        build(),
        record=(Check("judge", "prime field", True, error=1e-15),),
        sources=(Source("ba2016"),),
        remarks=(Text("a remark"),),
        listing="def f(): ...",
        certificate={"version": 2},
        title="Another title",
    )
    assert fingerprint(other) == fingerprint(build())


def test_swapped_index_variables_are_told_apart() -> None:
    i, j = Var("i", D), Var("i", D)
    matrix = Tensor("m", (D, D))
    one, two = (
        replace(build(), statement=(Display(matrix(*pair)), Display(matrix(i, j)))) for pair in ((i, j), (j, i))
    )
    assert fingerprint(one) != fingerprint(two)


def test_an_unknown_kind_of_formula_is_refused() -> None:
    with pytest.raises(Unsupported, match="object"):
        fingerprint(replace(build(), statement=(Display(object()),)))  # type: ignore[arg-type]
