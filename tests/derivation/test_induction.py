"""Induction over the depth: the statements that hold are proved, near misses are refused, each at the place it goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from symres.derivation.certificate import GradientClaim
from symres.derivation.induction import Induction
from symres.derivation.ledger import RefusedStep
from symres.derivation.notation import State, before, outside_functions, split_last, total
from symres.derivation.stack import StackInduction, jacobian_product
from symres.derivations.residual import _stacks as stacks
from symres.derivations.residual._stacks import INPUT, D, F, G, L, M, branch
from symres.errors import UsageError
from symres.kernel.terms import ZERO, Num, Sum, Term, Var, sum_
from symres.language.formula import Text

x = stacks.identity_stack()


def stated(right: Callable[..., Term]) -> Induction:
    return Induction(L, [x]).show("sum", "", lambda n, d: x(n, d), right, [D])


def test_the_sum_over_the_blocks() -> None:
    proof = stated(lambda n, d: x(0, d) + total(n, lambda i: branch(x, i, d))).instances(1, 2, 3, 8)
    (part,) = proof.parts
    assert [step.operation for step in part.steps] == ["base", "recurrence", "induction hypothesis", "collect"]


@pytest.mark.parametrize(
    ("right", "label"),
    [
        (lambda n, d: total(n, lambda i: branch(x, i, d)), "sum-base"),  # the input is lost
        (lambda n, d: x(0, d) - total(n, lambda i: branch(x, i, d)), "sum-step-from-0"),  # a sign
        (lambda n, d: x(0, d) + 2 * total(n, lambda i: branch(x, i, d)), "sum-step-from-0"),  # a factor
        (lambda n, d: x(0, d) + total(n, lambda i: branch(x, 0, d)), "sum-goal"),  # always the first block
        (lambda n, d: x(0, d) + total(n, lambda i: branch(x, i, Num(0))), "sum-step-from-0"),  # a wrong index
    ],
)
def test_near_misses_are_refused(right: Callable[..., Term], label: str) -> None:
    with pytest.raises(RefusedStep) as refused:
        stated(right)
    assert refused.value.label.startswith(label)
    assert "is not proved; left - right =" in str(refused.value)


def test_the_sum_form_is_refused_with_relu_after_the_addition() -> None:
    """The condition is needed: without the masks the statement is false, already for one block."""
    y = stacks.relu_stack()
    with pytest.raises(RefusedStep):
        Induction(L, [y]).show(
            "sum", "", lambda n, d: y(n, d), lambda n, d: y(0, d) + total(n, lambda i: branch(y, i, d)), [D]
        )


def gradient_proof(block: Callable[..., Term], wrong: Callable[..., Term] | None = None) -> StackInduction:
    y = stacks.output(x)
    product = jacobian_product("S", L, D, block)
    proof = StackInduction(L, [x, product, y])
    return proof.show_gradient("input", "", x, y.tensor, G, product, wrong or block).instances(1, 2, 3)


def test_the_gradient_of_a_stack() -> None:
    proof = gradient_proof(partial(stacks.identity_block, x))
    assert [type(claim) for claim in proof.ledger.claims].count(GradientClaim) == 1


@pytest.mark.parametrize(
    "block",
    [
        lambda n, e, c: stacks.jacobian(x, n, e, c),  # the identity path is lost
        lambda n, e, c: stacks.identity_block(x, n, c, e),  # transposed
        lambda n, e, c: M(n, e) * stacks.identity_block(x, n, e, c),  # a mask that is not there
        lambda n, e, c: 2 * stacks.identity_block(x, n, e, c) - stacks.jacobian(x, n, e, c),
    ],
)
def test_wrong_jacobians_are_refused(block: Callable[..., Term]) -> None:
    with pytest.raises(RefusedStep, match="block"):
        gradient_proof(block)


def test_a_wrong_product_is_refused() -> None:
    """The factors are right but multiplied in the wrong order: R[n + 1] = R[n] block(n)."""
    block = partial(stacks.identity_block, x)

    def step(n: Term, e: Term, d: Term) -> Term:
        c = Var("c", D)
        return sum_(c, wrong(n, e, c) * block(n, c, d))

    wrong = State("S", L, (D, D), base=jacobian_product("S", L, D, block).base, step=step)
    y = stacks.output(x)
    with pytest.raises(RefusedStep):
        StackInduction(L, [x, wrong, y]).show_gradient("input", "", x, y.tensor, G, wrong, block)


def test_a_consequence_needs_its_statement() -> None:
    with pytest.raises(UsageError, match="no statement 'other' was proved before"):
        stated(lambda n, d: x(0, d) + total(n, lambda i: branch(x, i, d))).consequence(
            "next", "", "other", lambda d: x(L, d), lambda d: x(L, d), [D]
        )


def test_unfolding_stays_outside_of_general_functions() -> None:
    d = Var("d", D)
    held = F(L, d)(x.at(L), stacks.weights(L))
    opened = x.unfold(x(L, d) + held, L)
    assert any(arg is held for arg in opened.children)


def test_nested_functions_come_back_whole() -> None:
    d = Var("d", D)
    inner = stacks.whole((D,), lambda k: F(0, k)(x.at(0), stacks.weights(0)))
    outer = F(1, d)(inner, stacks.weights(1))
    assert outside_functions(outer + x(0, d), lambda entry: ZERO if entry.tensor == x.tensor else None) is outer


def test_the_last_term_of_a_sum() -> None:
    term = total(L + 1, lambda i: INPUT(i))
    rest, last = split_last(term, L + 1).children
    assert isinstance(rest, Sum) and rest.var.dim is L and last is INPUT(L)
    assert total(3, lambda i: INPUT(i)) is INPUT(0) + INPUT(1) + INPUT(2)
    assert total(0, lambda i: INPUT(i)) is ZERO


@pytest.mark.parametrize(("depth", "wanted"), [(L, L - 1), (L + 1, L), (L + 2, L + 1), (Num(3), Num(2))])
def test_the_depth_before(depth: Term, wanted: Term) -> None:
    assert before(depth) is wanted


@pytest.mark.parametrize("depth", [ZERO, L - 1, L * 2])
def test_a_depth_that_may_be_zero_is_not_unfolded(depth: Term) -> None:
    with pytest.raises(UsageError, match="is not visibly a depth of at least 1"):
        before(depth)


def test_words_of_a_statement_are_kept() -> None:
    proof = Induction(L, [x]).let("For {L},", L=L).remark("A remark.").assume("a condition").where(L, "the depth")
    assert proof.opening == [Text("For {L},", {"L": L})]
    assert (proof.remarks, proof.conditions, proof.notes) == (
        [Text("A remark.")],
        [Text("a condition")],
        [(L, Text("the depth"))],
    )
