"""Functions named on the command line are found in their files, and what goes wrong is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from symres.errors import UsageError
from symres.trace.source import load


def test_functions_are_found_and_the_nearest_is_named(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("EPS = 1\n")
    file = tmp_path / "layer.py"
    file.write_text("import beside\ndef forward(x): return x\nclass Norm:\n    def forward(self, x): return x\nN = 3\n")
    assert load(f"{file}:forward")(2) == 2
    assert load(f"{file}:Norm.forward").__qualname__ == "Norm.forward"
    assert load(f"{file}:forward") is load(f"{file}:forward")
    with pytest.raises(UsageError, match="Did you mean forward"):
        load(f"{file}:froward")
    with pytest.raises(UsageError, match="no function or class"):
        load(f"{file}:N")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\nraise ValueError('boom')\n", r"raised ValueError: boom\nat bad.py:2"),
        ("def f(:\n", r"raised SyntaxError"),
        ("import no_such_module_anywhere\n", r"raised ModuleNotFoundError"),
    ],
)
def test_a_file_that_raises_is_reported_with_its_line(tmp_path: Path, source: str, message: str) -> None:
    (tmp_path / "bad.py").write_text(source)
    with pytest.raises(UsageError, match=message):
        load(f"{tmp_path / 'bad.py'}:f")
