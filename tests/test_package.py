"""What is installed: the wheel holds the package, the catalogue and its data, and the public names are there."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import symres

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy so that the working tree stays clean."""
    import shutil

    copy = tmp_path_factory.mktemp("source") / "symres"
    left_out = shutil.ignore_patterns(".git", "*.egg-info", "build", "__pycache__", ".*_cache", ".hypothesis", "out")
    shutil.copytree(ROOT, copy, ignore=left_out)
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", target, copy]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return zipfile.ZipFile(next(target.glob("*.whl")))


def test_the_wheel_holds_every_module_of_the_package(wheel: zipfile.ZipFile) -> None:
    expected = {str(path.relative_to(ROOT)) for path in (ROOT / "symres").rglob("*.py")}
    assert expected - set(wheel.namelist()) == set()


def test_the_wheel_holds_the_catalogue(wheel: zipfile.ZipFile) -> None:
    files = [path.relative_to(ROOT) for path in (ROOT / "derivations").rglob("*") if path.suffix in (".py", ".bib")]
    assert {f"symres/{path}" for path in files} - set(wheel.namelist()) == set()


def test_the_wheel_holds_the_data(wheel: zipfile.ZipFile) -> None:
    kinds = {".sty", ".v", ".css", ".js", ".j2", ".woff2", ".txt", ".typed"}
    expected = {str(path.relative_to(ROOT)) for path in (ROOT / "symres").rglob("*") if path.suffix in kinds}
    assert expected - set(wheel.namelist()) == set()
    assert "symres/py.typed" in expected


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"symres", f"symres-{symres.__version__}.dist-info"}
    assert not [name for name in wheel.namelist() if "__pycache__" in name or "tests" in name.split("/")]


def test_the_metadata(wheel: zipfile.ZipFile) -> None:
    metadata = wheel.read(f"symres-{symres.__version__}.dist-info/METADATA").decode()
    assert "Requires-Python: >=3.11\n" in metadata
    assert "License-Expression: BSD-3-Clause\n" in metadata
    # latexify-py refuses Python 3.14 in its own metadata: symres must install there without it.
    assert [line for line in metadata.splitlines() if "latexify" in line] == [
        'Requires-Dist: latexify-py>=0.4.4; python_version < "3.14"'
    ]


def test_the_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {symres.__version__}\n" in citation
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]


def test_the_license_is_sympys() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert text.startswith("BSD 3-Clause License")
    assert "symres developers" in text


def test_ci_runs_the_readmes_test_command() -> None:
    commands = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("python3 -m pip")]
    assert commands == [
        "python3 -m pip install . && python3 -m symres derive layernorm-backward -o out",
        'python3 -m pip install -e ".[test]" && python3 -m pytest -n auto',
    ]


def test_importing_symres_imports_neither_sympy_nor_numpy() -> None:
    code = "import sys, symres; print([name for name in ('sympy', 'numpy', 'typer', 'rich') if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def test_a_copy_of_the_repository_finds_its_catalogue_without_being_installed() -> None:
    code = "from symres import catalogue; print('layernorm-backward' in catalogue.entries())"
    # -S: without the folder that installed packages, and the editable install, are found in.
    run = subprocess.run([sys.executable, "-S", "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.strip() == "True"


def test_the_public_names_are_functions_even_when_rooms_have_the_same_name() -> None:
    code = (
        "import symres, symres.verify, symres.trace\nprint(*(callable(getattr(symres, n)) for n in symres.__all__[1:]))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["True"] * 5


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'prove'"):
        symres.prove
