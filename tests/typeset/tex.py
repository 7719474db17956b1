"""Compiling LaTeX in tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

needs_tex = [
    pytest.mark.tex,
    pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex on this machine"),
]

ONE, TWO = "", "twocolumn,"


def compiled(folder: Path, name: str, engine: str = "pdflatex", runs: int = 1) -> str:
    """The log of the compilation; the test fails if it ends with an error."""
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name]
    for _ in range(runs):
        run = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
        assert run.returncode == 0, run.stdout.decode(errors="replace")[-1500:]
    return (folder / name).with_suffix(".log").read_text(errors="replace")


def overfull(log: str) -> list[str]:
    """The complaints about lines that are too long, in text and in displays."""
    return re.findall(r"Overfull \\hbox.*", log)


def sheet(formulas: list[str], options: str = ONE) -> str:
    """A document with numbered displays."""
    body = "\n".join(f"\\begin{{equation}}\n{formula}\n\\end{{equation}}" for formula in formulas)
    return (
        f"\\documentclass[{options}10pt]{{article}}\n\\usepackage[T1]{{fontenc}}\\usepackage{{lmodern,amsmath}}\n"
        f"\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )
