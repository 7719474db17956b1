"""The shift by the maximum of masked scores: −∞ stays with its mask, so that every part has a value."""

from __future__ import annotations

from symres.kernel.decide import equal
from symres.kernel.terms import Fun, Maximum, Size, Tensor, Term, Var, sum_
from symres.language.constants import INFINITY

N = Size("N")
X, M = Tensor("x", (N,)), Tensor("m", (N,), "bool")
HERE, J, K = (Var(name, N) for name in "ijk")


def test_a_masked_softmax_does_not_depend_on_its_shift() -> None:
    shift = Maximum(J, M(J) * X(J) - (1 - M(J)) * INFINITY())

    def weight(var: Var) -> Term:
        return M(var) * Fun("exp", X(var) - shift)

    shifted = weight(HERE) / sum_(K, weight(K))
    plain = M(HERE) * Fun("exp", X(HERE)) / sum_(K, M(K) * Fun("exp", X(K)))
    assert equal(shifted, plain)
    assert not equal(shifted, Fun("exp", X(HERE)) / sum_(K, Fun("exp", X(K))))
