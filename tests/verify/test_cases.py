"""Small functions taken from real faults, with the verdict each must get (``cases/index.json``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import symres
from symres.testing import assert_gradient_proved

FOLDER = Path(__file__).parent / "cases"
CASES = json.loads((FOLDER / "index.json").read_text())["cases"]


def functions(case: dict[str, Any]) -> tuple[str, str | None]:
    file = FOLDER / case["file"]
    if "class" in case:
        return f"{file}:{case['class']}", None
    return f"{file}:{case['forward']}", f"{file}:{case['backward']}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    forward, backward = functions(case)
    verdict = symres.verify(forward, backward, shapes=case["shapes"], grads=case["grads"], set=case.get("set"))
    wrong = [name for name, gradient in verdict.gradients.items() if gradient.verdict == "refuted"]
    assert (verdict.verdict, wrong) == (case["verdict"], case.get("wrong", [])), verdict.report()
    assert verdict.to_json()["sizes"] == "all"
    for name in wrong:
        witness = verdict.gradients[name].witness
        assert witness is not None
        assert witness.claimed != witness.expected


def test_a_test_suite_fails_with_the_report() -> None:
    cases = {case["id"]: case for case in CASES}
    right, wrong = cases["bn-fused"], cases["bn-constant-statistics"]
    assert_gradient_proved(*functions(right), shapes=right["shapes"])
    with pytest.raises(AssertionError, match="statistics are treated as constants"):
        assert_gradient_proved(*functions(wrong), shapes=wrong["shapes"])
