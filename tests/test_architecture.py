"""The floors: a room imports only from floors below it, the kernel and the judge stand alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "symres"

FLOORS = {
    "errors": 0,
    "kernel": 1,
    "judge": 1,
    "language": 2,
    "trace": 3,
    "calculus": 3,
    "numeric": 3,
    "typeset": 3,
    "derivation": 4,
    "verify": 4,
    "catalogue": 5,
    "export": 5,
    "api": 6,
    "cli": 6,
    "testing": 6,
    "__main__": 6,
}

# ``python -m symres`` is the command line.
TOP_FLOOR = {("__main__", "cli")}


def imports(path: Path, *, lazy: bool = True) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a file imports; without ``lazy`` only those its import runs."""
    package = ".".join(path.relative_to(ROOT).parent.parts)
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(part for part in (package if node.level else "", node.module or "") if part)
            yield from ((node.lineno, f"{base}.{alias.name}" if base == "symres" else base) for alias in node.names)
        elif lazy or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting.extend(ast.iter_child_nodes(node))


def room(name: str) -> str | None:
    """The room of a module of symres: ``kernel`` for ``symres.kernel.terms``."""
    parts = name.split(".")
    return parts[1] if parts[0] == "symres" and len(parts) > 1 else None


def files(*rooms: str) -> list[Path]:
    """The files of some rooms, or of all."""
    found = sorted(PACKAGE.rglob("*.py"))
    return [path for path in found if not rooms or path.relative_to(PACKAGE).parts[0].removesuffix(".py") in rooms]


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


ROOMS = [path for path in files() if path.parent != PACKAGE or path.stem != "__init__"]


@pytest.mark.parametrize("path", ROOMS, ids=names(ROOMS))
def test_a_room_imports_only_from_floors_below(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for line, name in imports(path):
        target = room(name)
        if target in (None, own, "__version__", "derivations") or (own, target) in TOP_FLOOR:
            continue
        assert target in FLOORS, f"{path}:{line} imports {name}, which is on no floor"
        assert FLOORS[target] < FLOORS[own], f"{path}:{line} imports {name} from floor {FLOORS[target]}"


@pytest.mark.parametrize("path", files("kernel"), ids=names(files("kernel")))
def test_the_kernel_imports_the_standard_library_and_the_errors_only(path: Path) -> None:
    for line, name in imports(path):
        assert name.split(".")[0] in sys.stdlib_module_names or room(name) in ("kernel", "errors"), (
            f"{path}:{line}: {name}"
        )


@pytest.mark.parametrize("path", files("judge"), ids=names(files("judge")))
def test_the_judge_imports_nothing_of_symres(path: Path) -> None:
    for line, name in imports(path):
        assert room(name) in (None, "judge"), f"{path}:{line}: {name}"
        assert name.split(".")[0] in sys.stdlib_module_names | {"symres"}, f"{path}:{line}: {name}"


# The terms are one closed set of classes and their constructors: to split them would hide that.
LONGER = {"symres/kernel/terms.py": 560}


def test_every_file_can_be_read_at_one_sitting() -> None:
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files()}
    assert {name: count for name, count in lines.items() if count > LONGER.get(name, 400)} == {}


def test_the_checker_itself_sees_a_wrong_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[__name__]
    monkeypatch.setattr(module, "ROOT", tmp_path)
    planted = tmp_path / "symres" / "kernel" / "bad.py"
    planted.parent.mkdir(parents=True)
    planted.write_text("def f():\n    from symres.verify import verify\n    import numpy\n")
    assert {name for _, name in imports(planted)} == {"symres.verify", "numpy"}
    assert list(imports(planted, lazy=False)) == []
