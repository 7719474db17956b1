"""Comprehensions over symbolic ranges, and the value that nobody may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from symres.kernel.terms import Var
from symres.trace.array import as_array
from symres.trace.loops import Stacked, items_of
from symres.trace.signals import NeedsConcreteSizes
from symres.trace.snapshot import Snapshot

if TYPE_CHECKING:
    from symres.trace.session import Session


class Poison:
    """A value that is not known for all sizes: every use of it needs concrete ones."""

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __init__(self, reason: str) -> None:
        self.__dict__["reason"] = reason

    def _used(self, *_: Any, **__: Any) -> Any:
        raise NeedsConcreteSizes(self.__dict__["reason"])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._used()

    __setattr__ = __call__ = __getitem__ = __setitem__ = __iter__ = __len__ = __bool__ = __index__ = _used
    __float__ = __int__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _used
    __eq__ = __ne__ = _used
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _used
    __matmul__ = __rmatmul__ = __pow__ = __rpow__ = __floordiv__ = __mod__ = _used


class Gathered:
    """One evaluation of a comprehension; its generators run over :meth:`spread`."""

    def __init__(self, session: Session, scope: dict[str, Any]) -> None:
        self._session, self._scope = session, scope
        self._indices: list[Var] = []
        self._before: Snapshot | None = None

    def spread(self, iterable: Any, hint: str) -> Iterator[Any]:
        """The elements of an iterable; of one of symbolic length a single one, at a symbolic index."""
        items = items_of(iterable)
        if items is None:
            yield from iterable
            return
        if self._before is None:
            self._before = Snapshot(self._scope, self._session)
        k = Var(hint or "i", items.count)
        self._indices.append(k)
        self._session.indices.append(k)
        yield items.at(k)
        self._session.indices.remove(k)

    def result(self, elements: list[Any]) -> Any:
        """The list, or for a symbolic range the array that it stacks to."""
        if self._before is None:
            return elements
        changes = self._before.changes(self._scope, ())
        if changes.slots or changes.buffers or changes.lists or changes.drawn:
            raise NeedsConcreteSizes("a comprehension over a symbolic range changes something")
        if len(elements) != 1:
            raise NeedsConcreteSizes("a comprehension runs over several ranges, or leaves elements out")
        return Stacked.of(tuple(self._indices), as_array(elements[0]))
