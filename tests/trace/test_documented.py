"""The page on NumPy names functions that are known, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from symres.trace import modules
from symres.trace.registry import FUNCTIONS

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"
TABLE = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| **")]
NAMES = sorted({name for line in TABLE for name in re.findall(r"`([a-z_0-9.]+)`", line)})
WORDS = {"axis", "keepdims", "ddof", "_like", "where"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WORDS])
def test_what_the_page_names_is_known(name: str) -> None:
    assert modules.TABLES
    assert name in FUNCTIONS


def test_the_page_names_most_of_what_numpy_has() -> None:
    assert len(NAMES) > 120
