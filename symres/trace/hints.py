"""What the text of a function says about shapes: hints that are tried, never relied on.

``N, D = x.shape`` tells a rank and names, ``x.shape[2]`` a smallest rank, a docstring ``x: array of shape (N, D)`` both.
"""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from symres.trace.source import function_node

_SHAPE = r"[\(\[]\s*([A-Za-z_]\w*|\d+)\s*((?:,\s*(?:[A-Za-z_]\w*|\d+)\s*)*),?\s*[\)\]]"


@dataclass
class Hint:
    """The rank of an argument, as far as the text tells it, and names for its axes."""

    rank: int | None = None
    least: int = 0
    names: dict[int, str] = field(default_factory=dict)


def hints(functions: list[Any]) -> dict[str, Hint]:
    """The hints in some functions, by argument."""
    found: dict[str, Hint] = {}
    for function in functions:
        plain = getattr(function, "__func__", function)
        node = function_node(plain) if isinstance(plain, FunctionType) else None
        if node is None or isinstance(node, ast.Lambda):
            continue
        _read_docstring(inspect.getdoc(plain) or "", [one.arg for one in node.args.args], found)
        for part in ast.walk(node):
            if isinstance(part, ast.Assign) and len(part.targets) == 1:
                _read_assignment(part.targets[0], part.value, found)
            elif isinstance(part, ast.Subscript):
                _read_axis(part, found)
    return found


def keys_of(function: Any, name: str) -> set[str]:
    """The keys by which a function reads an argument: ``p["W"]`` or ``p.W``."""
    node = function_node(function) if isinstance(function, FunctionType) else None
    found: set[str] = set()
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == name:
            found.add(part.attr)
        elif (
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and part.value.id == name
            and isinstance(part.slice, ast.Constant)
            and isinstance(part.slice.value, str)
        ):
            found.add(part.slice.value)
    return found


def _of_shape(node: ast.expr) -> str | None:
    """``x`` for the expression ``x.shape``."""
    if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name):
        return node.value.id
    return None


def _read_assignment(target: ast.expr, value: ast.expr, found: dict[str, Hint]) -> None:
    name = _of_shape(value)
    if name is not None and isinstance(target, (ast.Tuple, ast.List)):
        hint = found.setdefault(name, Hint())
        if not any(isinstance(element, ast.Starred) for element in target.elts):
            hint.rank = len(target.elts)
            for position, element in enumerate(target.elts):
                _name(hint, position, element)
    elif isinstance(target, ast.Name) and isinstance(value, ast.Subscript):
        name, axis = _of_shape(value.value), _number(value.slice)
        if name is not None and axis is not None and axis >= 0:
            _name(found.setdefault(name, Hint()), axis, target)


def _name(hint: Hint, position: int, node: ast.expr) -> None:
    if isinstance(node, ast.Name) and node.id.strip("_"):
        hint.names.setdefault(position, node.id)


def _read_axis(node: ast.Subscript, found: dict[str, Hint]) -> None:
    name, axis = _of_shape(node.value), _number(node.slice)
    if name is not None and axis is not None:
        hint = found.setdefault(name, Hint())
        hint.least = max(hint.least, axis + 1 if axis >= 0 else -axis)


def _number(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _read_docstring(text: str, names: list[str], found: dict[str, Hint]) -> None:
    for name in names:
        line = re.search(rf"\b{re.escape(name)}\b\s*[:\-–][^\n]*?{_SHAPE}", text)
        if line is None:
            continue
        words = [line.group(1), *re.findall(r"\w+", line.group(2))]
        hint = found.setdefault(name, Hint())
        if hint.rank is None:
            hint.rank = len(words)
        for position, word in enumerate(words):
            if not word.isdigit():
                hint.names.setdefault(position, word)
