"""The changes made to a user's function before it runs on symbolic arrays: hooks that observe, no change of meaning.

* After an assignment the value is reported with its name: ``x = f(y)`` is followed by ``hook.name("x", x, line)``. So
  are arrays that a statement may have changed in place: the target of ``x[i] = …`` and the arguments of a call.
* A ``for`` loop runs over ``hook.loop(…)``, which runs the body with a symbolic index where the range is symbolic; at
  the start and at the end of the body it may replace the local variables. Comprehensions likewise.
* An ``assert`` becomes a call, so that one that depends on sizes can be noted instead of decided.
* An ``except`` lets the errors of the trace pass: they are not what the code meant to catch.

Line numbers stay those of the source.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import TypeVar

from symres.trace.source import FunctionNode

HOOK = "__symres__"
_Node = TypeVar("_Node", bound=ast.AST)
_GROWING = ("append", "insert", "extend")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def rewritten(node: FunctionNode | ast.ClassDef) -> ast.stmt:
    """The definition with hooks; a lambda becomes the statement that returns it.

    Decorators, defaults and annotations of a function are dropped: its live object has their effects already.
    """
    new = copy.deepcopy(node)
    if isinstance(new, ast.ClassDef):
        result: ast.stmt = _Rewriter().visit(new)
        return result
    new.args.defaults = []
    new.args.kw_defaults = [None] * len(new.args.kwonlyargs)
    if isinstance(new, ast.Lambda):
        return _at(ast.Return(_Rewriter(inside=True).visit(new)), new)
    new.decorator_list, new.returns = [], None
    function: ast.stmt = _Rewriter().visit(new)
    return function


def _at(new: _Node, place: ast.AST) -> _Node:
    return ast.fix_missing_locations(ast.copy_location(new, place))


def _call(method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(HOOK, ast.Load()), method, ast.Load()), list(arguments), [])


def _text(value: str | int | bool) -> ast.Constant:
    return ast.Constant(value)


def _loaded(node: ast.expr) -> ast.expr:
    """The same expression, read instead of assigned to."""
    new = copy.deepcopy(node)
    if isinstance(new, (ast.Name, ast.Attribute, ast.Subscript)):
        new.ctx = ast.Load()
    return new


class _Rewriter(ast.NodeTransformer):
    def __init__(self, inside: bool = False) -> None:
        self._inside = inside  # a function: in the body of a class a lambda does not see the names
        self._loops = 0
        self._locals: set[str] = set()

    # definitions

    def _definition(self, node: ast.AST, inside: bool) -> ast.AST:
        outer, self._inside = self._inside, inside
        self.generic_visit(node)
        self._inside = outer
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        node.returns = None
        outer = self._locals
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self._locals = {argument.arg for argument in arguments} | set(_stored(node.body))
        self._definition(node, True)
        self._locals = outer
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._definition(node, True)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._definition(node, False)

    # names

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, *self._named(node.targets, node)]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, *self._named([node.target], node)]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node.value is None or not self._inside:
            return node
        plain = _at(ast.Assign([node.target], node.value), node)
        return [plain, *self._named([node.target], node)]

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call):
            return node
        touched = [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            touched.append(call.func.value)
        named = [one for one in touched if isinstance(one, ast.Name) and one.id != HOOK]
        return [node, *self._named(named, node)]

    def _named(self, targets: Iterable[ast.expr], place: ast.stmt) -> list[ast.stmt]:
        hooks: list[ast.stmt] = []
        for name, value in (pair for target in targets for pair in _names_in(target)):
            call = _call("name", _text(name), _loaded(value), _text(place.lineno))
            hooks.append(_at(ast.Expr(call), place))
        return hooks

    # loops

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        stored = set(_stored([node.target, *node.body]))
        names = sorted(stored | (set(_growing(node.body)) & self._locals))
        escapes = any(_escapes(statement) for statement in node.body)
        self._loops += 1
        loop = f"__loop{self._loops}__"
        self.generic_visit(node)

        def exchange(method: str) -> ast.stmt:
            call = ast.Call(
                ast.Attribute(ast.Name(loop, ast.Load()), method, ast.Load()),
                [ast.Call(ast.Name("locals", ast.Load()), [], [])],
                [],
            )
            variables = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
            test = ast.Attribute(ast.Name(loop, ast.Load()), "symbolic", ast.Load())
            return _at(ast.If(test, [ast.Assign([variables], call)], []), node)

        words = ast.Tuple([_text(name) for name in names], ast.Load())
        targets = ast.Tuple([_text(name) for name in sorted(set(_stored([node.target])))], ast.Load())
        call = _call("loop", node.iter, words, targets, _text(node.lineno), _text(escapes))
        start = _at(ast.Assign([ast.Name(loop, ast.Store())], call), node.iter)
        node.iter = _at(ast.Name(loop, ast.Load()), node.iter)
        node.body = [exchange("enter"), *node.body, exchange("leave")]
        return [start, node]

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> ast.AST:
        walrus = any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))
        self.generic_visit(node)
        if walrus or not self._inside or any(generator.is_async for generator in node.generators):
            return node
        for generator in node.generators:
            hint = _text(generator.target.id if isinstance(generator.target, ast.Name) else "")
            spread = ast.Attribute(ast.Name("__gathered__", ast.Load()), "spread", ast.Load())
            generator.iter = _at(ast.Call(spread, [generator.iter, hint], []), generator.iter)
        arguments = ast.arguments([], [ast.arg("__gathered__")], None, [], [], None, [])
        body = ast.Lambda(arguments, ast.ListComp(node.elt, node.generators))
        scope = ast.Call(ast.Name("locals", ast.Load()), [], [])
        return _at(_call("gather", body, scope), node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    # errors

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, _at(ast.Expr(_call("caught")), node))
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return node
        arguments = ast.arguments([], [], None, [], [], None, [])
        message = node.msg or ast.Constant(None)
        call = _call("assertion", ast.Lambda(arguments, node.test), ast.Lambda(arguments, message), _text(node.lineno))
        return _at(ast.Expr(call), node)


def _names_in(target: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment target gives or changes, with the expressions that read them."""
    if isinstance(target, ast.Name):
        yield target.id, target
    elif isinstance(target, ast.Attribute):
        yield target.attr, target
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names_in(element)
    elif isinstance(target, ast.Subscript):
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        if isinstance(key, str):
            yield key, target
        else:
            yield from _names_in(target.value)


def _within(node: ast.AST, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    """The nodes below, without those of inner scopes and below nodes of the given kinds."""
    yield node
    if isinstance(node, (*_SCOPES, *_COMPREHENSIONS, *kinds)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _within(child, *kinds)


def _stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in (part for root in nodes for part in _within(root)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _growing(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The variables whose lists may grow: such a list may be replaced by an array."""
    for node in (part for root in nodes for part in _within(root)):
        if isinstance(node, ast.Attribute) and node.attr in _GROWING and isinstance(node.value, ast.Name):
            yield node.value.id


def _escapes(statement: ast.stmt) -> bool:
    """Whether a statement may leave the body of the loop around it early."""
    if any(isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)) for node in _within(statement)):
        return True
    return any(isinstance(node, (ast.Break, ast.Continue)) for node in _within(statement, ast.For, ast.While))
