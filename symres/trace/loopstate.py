"""Loops that are run once for all iterations: what the body may change is found, put aside and summarised.

The body runs twice. The first run finds which variables, attributes, items and buffers it changes; then everything is
put back. In the second run each of them starts as a placeholder, and :mod:`symres.trace.recurrences` gives the value
after the loop. A variable whose value is not known becomes a :class:`~symres.trace.gathered.Poison`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symres.errors import Unsupported
from symres.kernel.terms import Term, Var
from symres.language.program import Value
from symres.trace.array import Array, Buffer, as_array
from symres.trace.axes import moved
from symres.trace.elementwise import broadcast
from symres.trace.gathered import Poison
from symres.trace.indexterms import is_integer, nonnegative
from symres.trace.loops import Items, Stacked, items_of
from symres.trace.polynomials import index
from symres.trace.recurrences import Carried, Closed, solve, with_known
from symres.trace.signals import NeedsConcreteSizes, notes
from symres.trace.sizes import Dim, integer
from symres.trace.snapshot import MISSING, Changes, Slot, Snapshot
from symres.trace.tidy import at

if TYPE_CHECKING:
    from symres.trace.session import Session

_NUMERIC = (int, float, Dim, Array)
_SEED = object()
"""What stands in a list before the second run, to tell ``append`` from ``insert(0, …)``."""


class Loop:
    """A ``for`` loop; ``symbolic`` tells whether its body runs for all iterations at once."""

    def __init__(
        self,
        session: Session,
        iterable: Any,
        names: Sequence[str],
        targets: Sequence[str],
        line: int,
        escapes: bool,
    ) -> None:
        self.session, self.iterable, self.names, self.targets, self.line = session, iterable, names, targets, line
        self.escapes = escapes
        self.items: Items | None = items_of(iterable)
        self.symbolic = self.items is not None

    def __iter__(self) -> Iterator[Any]:
        if self.items is None:
            yield from self.iterable
            return
        if self.escapes:
            raise NeedsConcreteSizes(f"the loop in line {self.line} may end early")
        self.k = Var(self.targets[0] if len(self.targets) == 1 else "i", self.items.count)
        for self._first in (True, False):
            self._inside = True
            yield self.items.at(self.k)
            if self._inside:
                raise NeedsConcreteSizes(f"the body of the loop in line {self.line} ends early")

    def enter(self, scope: dict[str, Any]) -> tuple[Any, ...]:
        """The values of the loop's variables at the start of the body."""
        if self._first:
            # The assignment to the target has happened already; it is no part of the state before the loop.
            self._scope = {name: value for name, value in scope.items() if name not in self.targets}
            self._before = Snapshot(self._scope, self.session)
            start = self._scope
        else:
            start = {**self._scope, **self._open()}
        self.session.indices.append(self.k)
        return self._values(start, scope)

    def leave(self, scope: dict[str, Any]) -> tuple[Any, ...]:
        """The values of the loop's variables after the body, or after the whole loop."""
        self.session.indices.pop()
        self._inside = False
        if self._first:
            self._check_others(scope)
            self._changes = self._before.changes(scope, self._carriable)
            self._before.restore()
            if self._changes.drawn:
                raise NeedsConcreteSizes(f"the loop in line {self.line} draws random numbers")
            return self._values(self._scope, scope)
        final = self._close(scope)
        written = {id(buffer) for buffer in self._changes.buffers}
        for name, value in {**scope, **final}.items():
            if name in final or (isinstance(value, Array) and id(value.buffer) in written):
                self.session.name(name, value, self.line)
        return tuple(final.get(name, scope.get(name)) for name in self.names)

    def _check_others(self, scope: Mapping[str, Any]) -> None:
        """Variables that the loop does not assign to may still be changed, by a function that declares them nonlocal."""
        for name, value in scope.items():
            known = name in self.names or name not in self._scope or name.startswith("__loop")
            if not known and value is not self._scope[name]:
                raise NeedsConcreteSizes(f"{name} is changed from outside the loop in line {self.line}")

    @property
    def _carriable(self) -> list[str]:
        return [name for name in self.names if name not in self.targets]

    def _values(self, known: Mapping[str, Any], scope: Mapping[str, Any]) -> tuple[Any, ...]:
        def value(name: str) -> Any:
            if name in self.targets:
                return scope[name]
            return known[name] if name in known else Poison(f"{name} has no value before the loop")

        return tuple(map(value, self.names))

    # the second run starts

    def _open(self) -> dict[str, Any]:
        """Put placeholders where the first run found changes."""
        self._written: dict[int, Carried] = {}
        self._starts: dict[Slot, tuple[Carried, Array]] = {}
        for buffer in self._changes.buffers:
            value = buffer.value
            kind = "real" if buffer.kind == "float" else buffer.kind
            tensor = self.session.placeholder("buffer", [var.dim for var in value.vars], kind)
            self._written[id(buffer)] = Carried(tensor, value.vars, value.body, value.body, self._name_of(buffer))
            buffer.value = Value(value.axes, value.vars, tensor(*value.vars))
        opened: dict[str, Any] = {}
        for slot, (old, new) in self._changes.slots.items():
            start = self._start(slot, old, new)
            held: Any = Poison(f"{slot.name} of the previous iteration is read")
            if start is not None:
                self._starts[slot] = start
                held = start[1]
            if slot.container is None:
                opened[slot.name] = held
            elif old is not MISSING:
                slot.store(held)
        self._opened = Snapshot({**self._scope, **opened}, self.session)
        for items in self._changes.lists:
            items.append(_SEED)
        return opened

    def _name_of(self, buffer: Buffer) -> str:
        names = [name for name, value in self._scope.items() if isinstance(value, Array) and value.buffer is buffer]
        return names[0] if names else ""

    def _start(self, slot: Slot, old: Any, new: Any) -> tuple[Carried, Array] | None:
        """The placeholder of a variable that holds a number or an array before and after the body."""
        if not all(isinstance(one, _NUMERIC) and not isinstance(one, bool) for one in (old, new)):
            return None
        before, after = as_array(old), as_array(new)
        try:
            axes, variables, (body, _) = broadcast([before, after])
        except Unsupported:
            return None
        if axes != after.axes:
            return None
        kind = before.kind if after.kind == "int" else after.kind
        dims = [var.dim for var in variables]
        tensor = self.session.placeholder(slot.name, dims, "real" if kind == "float" else kind)
        array = Array.from_value(Value(axes, variables, tensor(*variables)), kind, scalar=after.scalar)
        return Carried(tensor, variables, body, body, slot.name), array

    # the second run ends

    def _close(self, scope: dict[str, Any]) -> dict[str, Any]:
        again = self._opened.changes(scope, self._carriable)
        if again.drawn or not {id(buffer) for buffer in again.buffers} <= set(self._written):
            raise NeedsConcreteSizes(f"the iterations of the loop in line {self.line} differ in what they change")
        finals = {slot: new for slot, (_, new) in again.slots.items()}
        for slot, (carried, start) in self._starts.items():
            carried.step = self._after(carried, start, finals.get(slot, start))
        for buffer in again.buffers:
            self._written[id(buffer)].step = buffer.value.body
        self._carried = [*self._written.values(), *(carried for carried, _ in self._starts.values())]
        self._closed = solve(self._carried, self.k)
        self._check_facts()
        for buffer in self._changes.buffers:
            carried = self._written[id(buffer)]
            buffer.value = Value(buffer.value.axes, carried.vars, self._closed[carried.placeholder].after)
            buffer.version += 1
        final: dict[str, Any] = {}
        for slot in {**self._starts, **finals}:
            value = self._solved(slot) if slot in self._starts else self._last(finals[slot], slot.name)
            if slot.container is None:
                final[slot.name] = value
            else:
                slot.store(value)
        final |= {name: self._last(scope[name], name) for name in self.targets}
        final |= self._lists(scope, again)
        self.session.placeholders -= {carried.placeholder for carried in self._carried}
        return final

    def _check_facts(self) -> None:
        """What was assumed of placeholders (a counter used as an index) must hold for what they turned out to be."""
        names = [carried.placeholder.name for carried in self._carried]
        for fact in list(notes().facts):
            if not self.session.settled(fact):
                if not nonnegative(index(self._known(fact))):
                    raise NeedsConcreteSizes(f"an index in the loop in line {self.line} is not known to be in range")
                notes().facts.remove(fact)
        notes().assumptions[:] = [one for one in notes().assumptions if not any(name in one for name in names)]

    def _after(self, carried: Carried, start: Array, new: Any) -> Term:
        """One iteration's result of a variable, at the variables of its placeholder."""
        if isinstance(new, bool) or not isinstance(new, _NUMERIC):
            raise NeedsConcreteSizes(f"{carried.name} changes its type in the loop in line {self.line}")
        axes, variables, (place, body) = broadcast([start, as_array(new)])
        if axes != start.axes or place is not carried.placeholder(*variables):
            raise NeedsConcreteSizes(f"{carried.name} changes its shape in the loop in line {self.line}")
        return at(body, dict(zip(variables, carried.vars, strict=True)))

    def _solved(self, slot: Slot) -> Any:
        carried, start = self._starts[slot]
        after = self._closed[carried.placeholder].after
        if start.kind == "int" and start.scalar and is_integer(after):
            return integer(after)
        return Array.from_value(Value(start.axes, carried.vars, after), start.kind, scalar=start.scalar)

    def _known(self, term: Term) -> Term:
        """A term of the body with the placeholders replaced by their values in iteration k."""
        closed: dict[Any, Closed] = self._closed
        known = with_known(term, self._carried, closed, self.k)
        if not self.session.settled(known):
            raise NeedsConcreteSizes(f"a value of the loop in line {self.line} depends on the iteration before it")
        return known

    def _last(self, value: Any, name: str) -> Any:
        """A value of the body after the last iteration."""
        if not nonnegative(index(self.k.dim - 1)):
            return Poison(f"{name} is read after a loop that may have no iteration")
        return self._read(value, name, {self.k: index(self.k.dim - 1)})

    def _read(self, value: Any, name: str, reading: dict[Var, Term]) -> Any:
        """A value of the body at another index: arrays made there by content, views of older ones as views."""
        if isinstance(value, Array):
            if id(value.buffer) in self._written or self.k not in value.buffer.value.body.free | self._indices(value):
                return Array(value.buffer, value.axes, value.vars, moved(reading, value.index), value.scalar)
            whole = value.value
            body = at(self._known(whole.body), reading)
            return Array.from_value(Value(whole.axes, whole.vars, body), value.kind, scalar=value.scalar)
        if isinstance(value, Dim):
            return integer(at(value.term, reading))
        if type(value) in (tuple, list):
            return type(value)(self._read(one, name, reading) for one in value)
        if type(value) is dict:
            return {key: self._read(one, name, reading) for key, one in value.items()}
        return Poison(f"{name} is read after the loop") if hasattr(value, "__dict__") else value

    def _indices(self, value: Array) -> frozenset[Var]:
        return frozenset().union(*(term.free for term in value.index))

    def _lists(self, scope: dict[str, Any], again: Changes) -> dict[str, Any]:
        """Lists to which each iteration adds one element: arrays with one axis more."""
        found: dict[str, Any] = {}
        for items in self._changes.lists:
            seed = next((place for place, one in enumerate(items) if one is _SEED), None)
            if seed is None or len(items) != 2:
                raise NeedsConcreteSizes(f"the loop in line {self.line} changes a list other than by append")
            element = as_array(items[1 - seed])
            body = self._known(element.value.body)
            if seed == 1:
                body = at(body, {self.k: index(self.k.dim - 1 - self.k)})
            value = Value(element.axes, element.value.vars, body)
            stacked = Stacked.of((self.k,), Array.from_value(value, element.kind))
            for slot in self._opened.holders(items):
                slot.store(stacked)
            names = [name for name, value in scope.items() if value is items]
            if not set(names) <= set(self.names):
                raise NeedsConcreteSizes(f"the list that the loop in line {self.line} fills has several names")
            found |= dict.fromkeys(names, stacked)
        return found
