"""People's code a second time, for symbolic arrays: functions and classes compiled again from their syntax trees.

A function is compiled with the hooks of :mod:`symres.trace.rewrite` and with globals of its own, in which the modules
of NumPy and its kin are the stand-ins of :mod:`symres.trace.modules` and every other function, class or instance of the
user's is translated likewise, when a compiled function first names it. Code of installed packages is left alone.
Where there is no source (a lambda typed at a prompt), the compiled code is run as it is, with the new globals.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from typing import Any

from symres.trace.builtins import BUILTINS
from symres.trace.loops import LOOP_BUILTINS
from symres.trace.rewrite import HOOK
from symres.trace.translations import ROWS, names_in

_FACTORY = "__symres_factory__"


class World:
    """The translations made in one trace. ``hook`` is what the rewritten code calls; ``files`` are the user's."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook
        self.files: set[str] = set()
        self._globals: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._memo: dict[int, tuple[Any, Any]] = {}
        self._open: set[int] = set()
        self._waiting: list[tuple[str, dict[str, Any]]] = []

    def translate(self, value: Any) -> Any:
        """The value as traced code sees it; the same one each time."""
        known = self._memo.get(id(value))
        if known is not None:
            return known[1]
        translation = next((found for predicate, found in ROWS if predicate(value)), None)
        if translation is None or id(value) in self._open:
            return value
        self._open.add(id(value))
        try:
            new = translation(self, value)
        finally:
            self._open.discard(id(value))
        self.remember(value, new)
        if not self._open:
            waiting, self._waiting = self._waiting, []
            for name, original in waiting:
                self.fill(iter((name,)), original)
        return new

    def remember(self, value: Any, new: Any) -> None:
        """Fix the translation of a value, before what it refers to is translated."""
        self._memo[id(value)] = (value, new)

    def globals_of(self, original: dict[str, Any]) -> dict[str, Any]:
        """The globals of the translations of one module's functions."""
        known = self._globals.get(id(original))
        if known is None:
            own = {**vars(builtins), **BUILTINS, **LOOP_BUILTINS}
            new = {"__builtins__": own, "__name__": original.get("__name__", "__main__"), HOOK: self.hook}
            known = self._globals[id(original)] = (original, new)
        return known[1]

    def scopes(self) -> list[dict[str, Any]]:
        """The globals of all translated modules, without Python's own names."""
        return [{n: one for n, one in new.items() if n != "__builtins__"} for _, new in self._globals.values()]

    def fill(self, names: Iterator[str], original: dict[str, Any]) -> None:
        """Translate those of the names that are globals of the original module.

        What is being translated already (functions that call each other) gets its name when that is done.
        """
        new = self.globals_of(original)
        for name in names:
            if name in new or name not in original:
                continue
            if id(original[name]) in self._open:
                self._waiting.append((name, original))
            else:
                new[name] = self.translate(original[name])

    def build(self, body: ast.stmt, filename: str, original: dict[str, Any], cells: dict[str, Any]) -> Any:
        """Compile a definition inside a function whose arguments are the variables of its closure, and run it."""
        name = getattr(body, "name", "<lambda>")
        arguments = ast.arguments([], [ast.arg(cell) for cell in cells], None, [], [], None, [])
        result: ast.stmt = body if isinstance(body, ast.Return) else ast.Return(ast.Name(name, ast.Load()))
        steps = [body] if body is result else [body, result]
        factory = ast.FunctionDef(_FACTORY, arguments, steps, [])
        if sys.version_info >= (3, 12):
            factory.type_params = []
        ast.fix_missing_locations(ast.copy_location(factory, body))
        code = compile(ast.Module([factory], []), filename, "exec", dont_inherit=True)
        self.files.add(filename)
        self.fill(names_in(code), original)
        scope: dict[str, Any] = {}
        exec(code, self.globals_of(original), scope)
        return scope[_FACTORY](**cells)
