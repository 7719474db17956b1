"""What a piece of code can change, and what it did change: buffers, attributes, items and lists within its reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from symres.language.program import Value
from symres.trace.array import Array, Buffer
from symres.trace.signals import NeedsConcreteSizes, notes
from symres.trace.sizes import Dim

if TYPE_CHECKING:
    from symres.trace.session import Session

MISSING: Any = object()
"""The value of a variable that is not bound."""


@dataclass(frozen=True)
class Slot:
    """A place that holds a value: a local variable, or an item of a container (``owner`` tells them apart)."""

    owner: int
    key: Any
    container: Any = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The variable, attribute or key."""
        return str(self.key)

    def store(self, value: Any) -> None:
        """Put a value into an item of a container."""
        self.container[self.key] = value


@dataclass
class Changes:
    """Slots with old and new values, buffers that were written, lists that grew, whether random numbers were drawn."""

    slots: dict[Slot, tuple[Any, Any]]
    buffers: list[Buffer]
    lists: list[list[Any]]
    drawn: bool


class Snapshot:
    """The state reachable from some variables."""

    def __init__(self, scope: Mapping[str, Any], session: Session) -> None:
        self.scope = dict(scope)
        self.session = session
        self._buffers: dict[int, tuple[Buffer, Value, int]] = {}
        self._dicts: dict[int, tuple[dict[Any, Any], dict[Any, Any]]] = {}
        self._lists: dict[int, tuple[list[Any], list[Any]]] = {}
        self._definitions, self._taken = dict(session.definitions), set(session.taken)
        self._drawn = dict(notes().opaque)
        seen: set[int] = set()
        for value in (*self.scope.values(), *session.roots):
            self._visit(value, seen)

    def _visit(self, value: Any, seen: set[int]) -> None:
        if isinstance(value, Array):
            buffer = value.buffer
            self._buffers[id(buffer)] = (buffer, buffer.value, buffer.version)
            return
        content = contents(value)
        if content is None or id(value) in seen:
            return
        seen.add(id(value))
        inside: Iterable[Any] = content
        if isinstance(content, dict):
            self._dicts[id(content)] = (content, dict(content))
            inside = list(content.values())
        elif isinstance(content, list):
            self._lists[id(content)] = (content, list(content))
        for one in inside:
            self._visit(one, seen)

    def changes(self, scope: Mapping[str, Any], names: Iterable[str]) -> Changes:
        """What is different now; ``names`` are the variables to compare.

        Raises:
            NeedsConcreteSizes: for changes that have no meaning for all iterations at once.
        """
        slots: dict[Slot, tuple[Any, Any]] = {}
        for name in names:
            old, new = self.scope.get(name, MISSING), scope.get(name, MISSING)
            if old is not new:
                slots[Slot(0, name)] = (old, new)
        for number, (container, saved) in self._dicts.items():
            for key in {**saved, **container}:
                old, new = saved.get(key, MISSING), container.get(key, MISSING)
                if old is not new:
                    if isinstance(key, Dim) or new is MISSING:
                        raise NeedsConcreteSizes("a loop enters or removes items of a dict")
                    slots[Slot(number, key, container)] = (old, new)
        grown: list[list[Any]] = []
        for number, (items, before) in self._lists.items():
            if len(items) == len(before):
                pairs = enumerate(zip(before, items, strict=True))
                slots |= {Slot(number, k, items): (old, new) for k, (old, new) in pairs if old is not new}
            elif before:
                raise NeedsConcreteSizes("a loop changes the length of a list that is not empty before it")
            else:
                grown.append(items)
        buffers = [buffer for buffer, _, version in self._buffers.values() if buffer.version != version]
        return Changes(slots, buffers, grown, notes().opaque != self._drawn)

    def restore(self) -> None:
        """Put everything back but the local variables, which their function has to."""
        for buffer, value, version in self._buffers.values():
            buffer.value, buffer.version = value, version
        for container, saved in self._dicts.values():
            container.clear()
            container.update(saved)
        for items, before in self._lists.values():
            items[:] = before
        self.session.definitions = dict(self._definitions)
        self.session.taken = set(self._taken)
        notes().opaque.clear()
        notes().opaque.update(self._drawn)

    def holders(self, value: Any) -> list[Slot]:
        """The items of containers that hold a value."""
        found = [
            Slot(number, key, container)
            for number, (container, _) in self._dicts.items()
            for key, one in container.items()
            if one is value
        ]
        return found + [
            Slot(number, k, items)
            for number, (items, _) in self._lists.items()
            for k, one in enumerate(items)
            if one is value
        ]


def contents(value: Any) -> Any:
    """What can be changed inside a value: a list, a tuple, a dict, or the attributes of an object of a user's class."""
    if isinstance(value, (list, tuple, dict)):
        return value
    attributes = getattr(value, "__dict__", None)
    if not isinstance(attributes, dict) or isinstance(value, (type, FunctionType, ModuleType)):
        return None
    return None if type(value).__module__.startswith("symres.") else attributes
