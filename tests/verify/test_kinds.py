"""Every kind of wrong backward pass is refuted, and named where it has a name; every right one is proved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import symres
from tests.verify import kinds_norm, kinds_rest

CASES = [*kinds_norm.CASES, *kinds_rest.CASES]
SET = {**kinds_norm.SET, **kinds_rest.SET}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[1].__name__)
def test_kind(case: tuple[Callable[..., Any], Callable[..., Any], str, str, dict[str, str | None]]) -> None:
    forward, backward, shapes, grads, wrong = case
    verdict = symres.verify(forward, backward, shapes=shapes, grads=grads, set=SET.get(forward))
    found = {name: gradient.verdict for name, gradient in verdict.gradients.items()}
    expected = {name.strip(): "refuted" if name.strip() in wrong else "proved" for name in grads.split(",")}
    assert found == expected, verdict.report()
    for name, kind in wrong.items():
        gradient = verdict.gradients[name]
        if kind is not None:
            assert gradient.diagnosis is not None, verdict.report()
            assert gradient.diagnosis.kind == kind, verdict.report()
