"""Moments: wrong closed forms are refused, and what is no polynomial in the entries too."""

from __future__ import annotations

import numpy as np
import pytest

from symres.derivation.ledger import RefusedStep
from symres.derivation.moments import MEAN, MOMENTS, B, Moments, partitions
from symres.errors import UsageError
from symres.kernel.terms import Term, Var


def batch_mean(x):
    return x.mean()


def biased(x):
    return ((x - x.mean()) ** 2).mean()


def deviation(x):
    return np.sqrt(((x - x.mean()) ** 2).mean())


def test_there_are_as_many_partitions_as_bell_numbers() -> None:
    assert [len(list(partitions([Var("i", B) for _ in range(n)]))) for n in range(6)] == [1, 1, 2, 5, 15, 52]


@pytest.mark.parametrize(
    "wrong", [MOMENTS[2], MOMENTS[2] * (B - 1), MOMENTS[2] * (B + 1) / B, -MOMENTS[2] * (B - 1) / B]
)
def test_a_wrong_expectation_is_refused(wrong: Term) -> None:
    with pytest.raises(RefusedStep):
        Moments().expectation("v", biased, wrong, reason="")


@pytest.mark.parametrize("wrong", [MOMENTS[2], MOMENTS[2] / (B - 1), MOMENTS[2] / B + MEAN() ** 2])
def test_a_wrong_variance_is_refused(wrong: Term) -> None:
    with pytest.raises(RefusedStep):
        Moments().expectation("mu", batch_mean, MEAN(), reason="").variance("mu", batch_mean, wrong, reason="")


def test_a_root_is_no_polynomial() -> None:
    with pytest.raises(UsageError, match="no polynomial"):
        Moments().expectation("d", deviation, MOMENTS[2], reason="")
