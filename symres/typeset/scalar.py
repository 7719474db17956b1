"""Scalar Python functions, activation functions say, as LaTeX by latexify-py, where that is right.

latexify prints the source text and does not know arrays: axes, broadcasting and products of matrices go wrong without
a warning. So the source is checked first, against a list of what is printed right: arithmetic, comparisons, ``if`` and
``else``, assignments, and a few functions of :mod:`math` or NumPy. Everything else is refused; functions of arrays are
traced and printed from the trace.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from symres.errors import Place, Unsupported, UsageError

FUNCTIONS = frozenset(("exp", "log", "sqrt", "tanh", "sin", "cos", "tan", "sinh", "cosh"))
"""Functions of one argument, written ``math.f`` or ``np.f``."""

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.And, ast.Or, ast.Not)
_COMPARISONS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq)

_PLAIN = re.compile(r"\d+(\.\d+)?")


def scalar_latex(function: Callable[..., Any]) -> str:
    """The function as an equation, ``f(x) = …``, with its cases.

    Raises:
        UsageError: if it is no Python function, or its source is not to be had.
        Unsupported: for a construct that latexify-py does not print right, named with its line; or without latexify-py.
    """
    tree = _source(function)
    problem = next(_problems(tree, function), None)
    if problem is not None:
        node, what = problem
        code = function.__code__ if isinstance(function, FunctionType) else None
        file, first = (code.co_filename, code.co_firstlineno) if code else ("", 1)
        raise Unsupported(
            f"{what} cannot be typeset in the scalar function {tree.name}",
            remedy="A function of arrays is typeset from its trace: give its shapes.",
            place=Place(file, first + node.lineno - 1, ast.unparse(node).partition("\n")[0]),
        )
    try:
        latexify = importlib.import_module("latexify")
    except ImportError:
        raise Unsupported("typesetting scalar functions needs latexify-py", remedy="pip install latexify-py") from None
    try:
        text: str = latexify.get_latex(function, use_math_symbols=True, reduce_assignments=True)
    except latexify.exceptions.LatexifyError as error:
        raise Unsupported(f"latexify-py cannot typeset {tree.name}: {error}") from error
    return text


def _source(function: Callable[..., Any]) -> ast.FunctionDef:
    if not isinstance(function, FunctionType):
        raise UsageError(f"{function!r} is no Python function")
    try:
        module = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        raise UsageError(f"the source of {function.__name__} cannot be read") from None
    found = module.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise Unsupported(f"{function.__name__} is no function written with def")
    return found


def _problems(tree: ast.FunctionDef, function: Any) -> Iterator[tuple[Any, str]]:
    """What cannot be printed right, with the node that shows the line."""
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or tree.decorator_list:
        yield tree, "a decorator, *args or **kwargs"
    body = tree.body
    if (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        body = body[1:]
    taken = {arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    yield from _statements(body, taken, function.__globals__)


def _statements(body: list[ast.stmt], taken: set[str], names: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    for position, statement in enumerate(body):
        last = position == len(body) - 1
        if isinstance(statement, ast.Assign) and not last:
            (target, *others) = statement.targets
            if others or not isinstance(target, ast.Name) or target.id in taken:
                yield statement, "an assignment to several names, or to one that has a value"
            else:
                taken.add(target.id)
            yield from _values(statement.value, taken, names, False)
        elif isinstance(statement, ast.Return) and statement.value is not None and last:
            yield from _values(statement.value, taken, names, True)
        elif isinstance(statement, ast.If) and last and statement.orelse:
            yield from _values(statement.test, taken, names, False)
            for branch in (statement.body, statement.orelse):
                if not isinstance(branch[0], (ast.Return, ast.If)):
                    yield branch[0], "a branch that does not return at once"
                yield from _statements(branch, taken, names)
        else:
            yield statement, "this statement"


def _values(node: ast.expr, taken: set[str], names: dict[str, Any], whole: bool) -> Iterator[tuple[Any, str]]:
    """``whole``: the expression is all of a returned value, where a case distinction may stand."""
    if isinstance(node, ast.IfExp) and whole:
        yield from _values(node.test, taken, names, False)
        yield from _values(node.body, taken, names, False)
        yield from _values(node.orelse, taken, names, True)
    elif isinstance(node, ast.Constant):
        if type(node.value) not in (int, float) or not _PLAIN.fullmatch(repr(node.value)):
            yield node, f"the constant {node.value!r}"
    elif isinstance(node, ast.Name):
        if node.id not in taken:
            yield node, f"the outer name {node.id}"
    elif isinstance(node, ast.Call):
        if not _is_known(node, names):
            yield node, f"a call of {ast.unparse(node.func)}"
        for argument in node.args:
            yield from _values(argument, taken, names, False)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)):
        yield from _operation(node, taken, names)
    else:
        yield node, "this expression"


def _operation(
    node: ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp, taken: set[str], names: dict[str, Any]
) -> Iterator[tuple[Any, str]]:
    signs = node.ops if isinstance(node, ast.Compare) else [node.op]
    if not all(isinstance(sign, (*_OPERATORS, *_COMPARISONS)) for sign in signs):
        yield node, "this operator"
    operands = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    arithmetic = isinstance(node, ast.BinOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub))
    for position, operand in enumerate(operands):
        truth = isinstance(operand, (ast.Compare, ast.BoolOp)) or (
            isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not)
        )
        if arithmetic and truth:
            yield operand, "a comparison used as a number"
        # latexify writes a - -b and --a, which nobody reads with certainty.
        exponent = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
        second = isinstance(node, ast.BinOp) and position == 1 and not exponent
        if isinstance(operand, ast.UnaryOp) and arithmetic and not truth and (second or isinstance(node, ast.UnaryOp)):
            yield operand, "a minus after another sign"
        yield from _values(operand, taken, names, False)


def _is_known(node: ast.Call, names: dict[str, Any]) -> bool:
    """``abs(x)``, or a listed function of the real modules ``math`` or ``numpy`` with one argument."""
    if len(node.args) != 1 or node.keywords:
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "abs" and "abs" not in names
    attribute = node.func
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.value, ast.Name):
        return False
    module = attribute.value.id
    return names.get(module) in (math, np) and module in ("math", "np", "numpy") and attribute.attr in FUNCTIONS
