"""Where a function of the user stands in the source: files that are run as Python, and the syntax tree of live objects.

Nothing here changes what the code means; :mod:`symres.trace.world` compiles the trees found here again.
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib.util
import linecache
import sys
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from symres.errors import Place, SymresError, UsageError
from symres.trace.frameworks import placeholders

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_ROOM = Path(__file__).parent.parent
_LIBRARIES = tuple(
    str(Path(path).resolve())
    for path in {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
)


def load(place: str) -> Any:
    """The function or class that ``FILE.py:NAME`` names (``FILE.py:Class.method`` for a method). The file is run.

    Raises:
        UsageError: if there is no such file or name, or the file itself raises.
    """
    file, colon, name = place.rpartition(":")
    if not (colon and file and name):
        raise UsageError(f"{place!r} is not FILE.py:NAME")
    found: Any = run_file(Path(file))
    for part in name.split("."):
        if not hasattr(found, part):
            names = [known for known, value in vars(found).items() if callable(value) and not known.startswith("__")]
            near = difflib.get_close_matches(part, names, n=3, cutoff=0.4)
            remedy = f"Did you mean {' or '.join(near)}?" if near else f"It has {', '.join(names) or 'no functions'}."
            raise UsageError(f"{file} has no {name!r}", remedy=remedy)
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{name!r} in {file} is no function or class")
    return found


_modules: dict[Path, ModuleType] = {}


def run_file(path: Path) -> ModuleType:
    """The module of a file, run once; its folder is importable while it runs.

    Raises:
        UsageError: if there is no such file, or it is no Python, or it raises, with the line.
    """
    path = path.resolve()
    if path in _modules:
        return _modules[path]
    if not path.is_file():
        raise UsageError(f"there is no file {path.name!r} in {path.parent}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    shadowed = sys.modules.get(path.stem)
    sys.modules[path.stem] = module
    try:
        with placeholders():
            spec.loader.exec_module(module)
    except SymresError:
        raise
    except Exception as error:
        raise UsageError(
            f"{path.name} raised {type(error).__name__}: {error}", place=place_of(error, [str(path)])
        ) from error
    finally:
        if shadowed is not None:
            sys.modules[path.stem] = shadowed
    _modules[path] = module
    return module


def place_of(error: BaseException, files: Iterable[str]) -> Place | None:
    """The innermost place in one of the files where the error passed."""
    if isinstance(error, SyntaxError) and error.filename in (known := set(files)) | {None}:
        return Place(Path(error.filename or next(iter(known))).name, error.lineno or 1, error.text or "")
    known = set(files)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in known:
            return Place(Path(frame.filename).name, frame.lineno or 1, frame.line or "")
    return None


@functools.cache
def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to symres itself: such code is not traced."""
    if filename.startswith("<frozen"):
        return True
    path = Path(filename)
    if _ROOM in path.parents:
        return "derivations" not in path.relative_to(_ROOM).parts
    parents = set(map(str, path.parents))
    return any(library in parents for library in _LIBRARIES)


# ---------------------------------------------------------------- syntax trees


def tree_of(filename: str, module_globals: dict[str, Any] | None = None) -> ast.Module | None:
    """The syntax tree of a source file, or of a notebook cell; ``None`` if there is no source."""
    lines = linecache.getlines(filename, module_globals)
    return _parsed("".join(lines)) if lines else None


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def function_node(function: FunctionType) -> FunctionNode | None:
    """The definition of a function, found by its name and first line."""
    code = function.__code__
    tree = tree_of(code.co_filename, function.__globals__)
    if tree is None:
        return None
    found = [node for node in _functions(tree) if _first_line(node) == code.co_firstlineno and _fits(node, code)]
    return found[0] if len(found) == 1 else None


@functools.lru_cache(maxsize=64)
def _functions(tree: ast.Module) -> tuple[FunctionNode, ...]:
    return tuple(
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    )


def _first_line(node: FunctionNode) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _fits(node: FunctionNode, code: CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    taken = code.co_argcount + code.co_kwonlyargcount
    return code.co_name == name and list(code.co_varnames[:taken]) == names


def class_node(cls: type) -> tuple[ast.ClassDef, str] | None:
    """The definition of a class and its file, found by its name and one of its methods."""
    methods = [
        function
        for value in vars(cls).values()
        if isinstance(function := getattr(value, "__func__", value), FunctionType)
        and function.__module__ == cls.__module__
    ]
    module = sys.modules.get(cls.__module__)
    filename = methods[0].__code__.co_filename if methods else getattr(module, "__file__", None)
    tree = tree_of(filename, methods[0].__globals__ if methods else None) if filename else None
    if tree is None or filename is None:
        return None
    lines = {method.__code__.co_firstlineno for method in methods}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            inside = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if not lines or any(line in inside for line in lines):
                return node, filename
    return None
