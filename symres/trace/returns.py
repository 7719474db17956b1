"""The names in return statements: ``return dx, grads["W"], db.sum(0)`` says which result is which."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from symres.trace.source import function_node

Labels = tuple["str | Labels | None", ...]
"""The name of each element of what is returned; a tuple for a nested one."""

_KEEPING = frozenset(
    {"T", "reshape", "transpose", "squeeze", "copy", "astype", "sum", "ravel", "flatten", "view", "swapaxes", "mean"}
)
_DEPTH = 4


def return_labels(function: Any, depth: int = 0) -> str | Labels | None:
    """The name, or the names, of what the last ``return`` of a function gives back; ``None`` where it tells nothing.

    ``depth`` counts the functions whose results are returned as they are.
    """
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        return None
    node = function_node(function)
    if node is None:
        return None
    if isinstance(node, ast.Lambda):
        return _label(node.body, {}, function, depth)
    returns: list[ast.expr] = []
    assigned: dict[str, ast.expr] = {}
    for part in _own(node):
        if isinstance(part, ast.Return) and part.value is not None:
            returns.append(part.value)
        elif isinstance(part, ast.Assign):
            assigned |= {target.id: part.value for target in part.targets if isinstance(target, ast.Name)}
    return _label(returns[-1], assigned, function, depth) if returns else None


def _own(node: ast.AST) -> list[ast.AST]:
    """The nodes of a function in order, without those of functions inside it."""
    found: list[ast.AST] = []
    for child in ast.iter_child_nodes(node):
        found.append(child)
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            found += _own(child)
    return found


def _label(node: ast.expr, assigned: dict[str, ast.expr], function: FunctionType, depth: int) -> str | Labels | None:
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_label(element, assigned, function, depth) for element in node.elts)
    if isinstance(node, ast.Name):
        value = assigned.get(node.id)
        return _label(value, {}, function, depth) if isinstance(value, (ast.Tuple, ast.List)) else node.id
    if isinstance(node, ast.Attribute):
        return _label(node.value, {}, function, depth) if node.attr in _KEEPING else node.attr
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        return _label(node.value, {}, function, depth)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
            return _label(node.func.value, {}, function, depth)
        inner = function.__globals__.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if isinstance(inner, FunctionType) and depth < _DEPTH:
            return return_labels(inner, depth + 1)
    return None
