"""An equation with a constant in it is not i = j: a shifted or squared index is never read as the index itself."""

from __future__ import annotations

import pytest

from symres.kernel.decide import equal
from symres.kernel.normal import normal_form
from symres.kernel.terms import Size, Tensor, Term, Var, delta, sum_

H, T = Size("H"), Size("T")


@pytest.mark.parametrize("dim", [H, H - 1, H - 2])
@pytest.mark.parametrize("shift", [1, 2])
def test_a_shift_stays(dim: Term, shift: int) -> None:
    g, x = Tensor("g", (dim,)), Tensor("x", (H,))
    p, h = Var("p", dim), Var("h", H)
    shifted = sum_(p, sum_(h, delta(h, p + shift) * g(p) * x(h)))
    assert not equal(shifted, sum_(p, g(p) * x(p)))
    assert equal(shifted, sum_(p, g(p) * x(p + shift)))


def test_a_shift_under_another_binder_order_stays() -> None:
    h, p, x = Var("h", H), Var("p", H), Tensor("x", (H,))
    for one in (delta(h, p + 1), delta(p + 1, h)):
        assert normal_form(one * x(h)).key() != normal_form(one * x(p)).key()


def test_a_square_is_not_the_index() -> None:
    i, j, x = Var("i", T), Var("j", T), Tensor("x", (T,))
    assert not equal(delta(i * i, j) * x(i), delta(i * i, j) * x(j))
    assert equal(delta(i, j) * x(i), delta(i, j) * x(j))
