"""One trace: what the hooks in rewritten code do. Named arrays become definitions, loops are summarised."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from symres.errors import SymresError, Unsupported
from symres.kernel.terms import Entry, Tensor, Term, Var, walk
from symres.language.constants import VALUES
from symres.language.program import Definition, Value
from symres.trace.array import Array
from symres.trace.gathered import Gathered
from symres.trace.indexterms import is_binary
from symres.trace.loopstate import Loop
from symres.trace.signals import OutOfTime, Refine, notes


class Session:
    """The definitions made so far, in order, and the names in use.

    ``indices`` are the indices of the symbolic loops that are open, ``placeholders`` the unknowns in them, and
    ``roots`` what code can reach besides its variables: the globals of its modules.
    """

    def __init__(self) -> None:
        self.definitions: dict[Tensor, Definition] = {}
        self.taken: set[str] = {tensor.name for tensor in VALUES} | {"uninitialised"}
        self.indices: list[Var] = []
        self.placeholders: set[Tensor] = set()
        self.naming = True
        self.roots: list[Any] = []
        self._numbers = itertools.count(1)

    # names

    def unique(self, name: str) -> str:
        """The name, or ``name_2``, ``name_3``, … if it is taken."""
        found = next(
            candidate
            for candidate in itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
            if candidate not in self.taken
        )
        self.taken.add(found)
        return found

    def placeholder(self, name: str, dims: Sequence[Term], kind: str) -> Tensor:
        """A tensor for a value that is not known yet; it never stays in a result."""
        tensor = Tensor(f"<{name} {next(self._numbers)}>", tuple(dims), kind)
        self.placeholders.add(tensor)
        return tensor

    def name(self, name: str, value: Any, line: int) -> None:
        """``name = value``: an array with a body of its own becomes a definition, and refers to it from then on.

        Inside a symbolic loop the definition gets the loop's index as its first index.
        """
        if not self.naming or not isinstance(value, Array) or name.strip("_") == "" or not value.nameable:
            return
        whole = value.value
        if _trivial(whole.body) or not self.settled(whole.body):
            return
        base = value.buffer.value
        if set(value.index) != set(value.vars) or len(value.index) != len(value.vars):
            return  # a part of an array: the array itself gets the name, where it has one
        free = whole.body.free - set(whole.vars)
        outer = tuple(var for var in self.indices if var in free)
        if len(outer) < len(free):
            return
        variables = (*outer, *whole.vars)
        tensor = Tensor(self.unique(name.strip("_")), tuple(var.dim for var in variables))
        axes = (*((var.dim,) for var in outer), *whole.axes)
        self.definitions[tensor] = Definition(tensor, axes, variables, whole.body, line)
        # The view is a permutation of its buffer, which from now on holds the entries of the definition.
        place = dict(zip(value.index, base.vars, strict=True))
        value.buffer.value = Value(base.axes, base.vars, tensor(*outer, *(place[var] for var in whole.vars)))

    def settled(self, body: Term) -> bool:
        """Whether the body refers to no placeholder of an open loop."""
        if not self.placeholders:
            return True
        return not any(isinstance(node, Entry) and node.tensor in self.placeholders for node in walk(body))

    # statements

    def loop(self, iterable: Any, names: Sequence[str], targets: Sequence[str], line: int, escapes: bool) -> Loop:
        """``for targets in iterable``; ``names`` are the variables that the loop assigns to."""
        return Loop(self, iterable, names, targets, line, escapes)

    def gather(self, comprehension: Callable[[Gathered], list[Any]], scope: dict[str, Any]) -> Any:
        """``[element for … in …]``."""
        gathered = Gathered(self, scope)
        return gathered.result(comprehension(gathered))

    def caught(self) -> None:
        """The start of an ``except`` clause: what the trace itself raised goes on."""
        error = sys.exc_info()[1]
        if isinstance(error, (SymresError, Refine, OutOfTime)):
            raise error

    def assertion(self, test: Callable[[], Any], message: Callable[[], Any], line: int) -> None:
        """``assert test, message``: taken to hold where it depends on sizes or data."""
        try:
            holds = bool(test())
        except Unsupported:
            notes().assume(f"the assertion in line {line} holds")
            return
        if not holds:
            given = message()
            raise AssertionError(*(() if given is None else (given,)))


def _trivial(body: Term) -> bool:
    """Whether a name for the body would say nothing: an entry, a mask, or a number that depends on sizes only."""
    if isinstance(body, Entry) or is_binary(body):
        return True
    return not any(isinstance(node, Entry) and node.tensor not in VALUES for node in walk(body))
