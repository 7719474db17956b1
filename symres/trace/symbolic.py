"""The symbolic side of a trace: arguments are symbols, functions are compiled again, what they overwrite is noted."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from symres.kernel.terms import Entry, Tensor, walk
from symres.language.shapes import Shape, annotated_shape
from symres.trace.arguments import Inputs, Sizes
from symres.trace.array import Array, as_array
from symres.trace.gradnames import collection_like, gradient_like, stems
from symres.trace.guard import running
from symres.trace.session import Session
from symres.trace.signals import notes
from symres.trace.snapshot import contents
from symres.trace.state import input_name, kept, replace
from symres.trace.world import World


class SymbolicEnvironment:
    """Arguments are symbols, functions are compiled again for them.

    ``gradients`` are the upstream gradients in order, ``said`` what is to be reported about the runs, ``replaced`` the
    random numbers that were initial values only.
    """

    def __init__(self, shapes: Mapping[str, Shape], fixed: Mapping[str, Any], sizes: Sizes) -> None:
        self.inputs = Inputs(shapes, fixed, sizes)
        self.session = Session()
        self.session.taken |= set(shapes)
        self.world = World(self.session)
        self.said: list[str] = []
        self.gradients: dict[str, Tensor] = {}
        self.replaced: set[str] = set()

    def translate(self, value: Any) -> Any:
        """The function or class compiled again."""
        new = self.world.translate(value)
        self.session.roots = self.world.scopes()
        return new

    def argument(self, parameter: inspect.Parameter) -> Any:
        """A symbol, or the value it has."""
        name = parameter.name
        self.session.taken.add(name)
        if name not in self.inputs.shapes and name not in self.inputs.fixed:
            shape = annotated_shape(parameter.annotation, name)
            if shape is not None:
                return self.inputs.array(name, shape)
        return self.inputs.argument(parameter)

    def upstream(self, name: str, output: Any) -> Array:
        """A tensor of the output's axes."""
        array = as_array(output)
        # The name of the parameter may be taken by itself only: it was reserved when the arguments were looked at.
        self.session.taken.discard(name)
        tensor = Tensor(self.session.unique(name), tuple(dim for axis in array.axes for dim in axis))
        self.gradients[tensor.name] = tensor
        return Array.symbol(tensor, array.axes)

    @contextmanager
    def constructing(self) -> Iterator[None]:
        """Initial values get no names: most of them are replaced by symbols."""
        self.session.naming = False
        try:
            yield
        finally:
            self.session.naming = True

    def adopt(self, instance: Any, arguments: Mapping[str, Any]) -> None:
        """Arrays that the constructor made become inputs: a proof for all of their values, not for ones and zeros."""
        for name, value in self.inputs.fixed.items():
            if name not in arguments and hasattr(instance, name):
                setattr(instance, name, value)
        given = {id(value): name for name, value in self.named().items()}
        found = [one for one in kept(instance, given) if _real(one.value) and id(one.value) not in given]
        names = [one.name for one in found]
        for one in found:
            path = input_name(one, arguments)
            if one.gradient or gradient_like(one.name, [*names, *arguments]) or path in self.inputs.kept:
                continue
            kind = "nonnegative" if "var" in one.name else "real"
            shape = self.inputs.shapes.get(path, Shape(as_array(one.value).axes, kind))
            self.session.taken.add(path)
            self._forget(as_array(one.value))
            replace(instance, one.value, self.inputs.array(path, shape))

    def _forget(self, array: Array) -> None:
        """The random numbers in the initial value of a parameter play no part."""
        drawn = {node.tensor.name for node in walk(array.value.body) if isinstance(node, Entry)} & set(notes().opaque)
        self.replaced |= drawn
        notes().assumptions[:] = [one for one in notes().assumptions if not drawn & set(one.split())]

    def named(self) -> Mapping[str, Any]:
        """The symbolic arrays by name."""
        return {name: self.inputs.kept[name] for name in self.inputs.tensors}

    def differentiable(self) -> list[str]:
        """The real arrays among the arguments, and scalars that were given as such."""
        return [
            name
            for name, tensor in self.inputs.tensors.items()
            if tensor.kind in ("real", "positive", "nonnegative") and (tensor.dims or name in self.inputs.shapes)
        ]

    def is_array(self, value: Any) -> bool:
        """Whether the value is a symbolic array."""
        return isinstance(value, Array)

    @contextmanager
    def running(self, name: str, values: Mapping[str, Any]) -> Iterator[None]:
        """Errors get their places; arrays of the caller that the function overwrites are noted."""
        state = values.get("")
        before = list(_arrays({key: value for key, value in values.items() if key}))
        # An object may accumulate gradients in its own arrays: that is no news.
        before += [
            (what, array)
            for what, array in _arrays({"": state})
            if what in self.inputs.tensors or not (collection_like(what) or stems(what))
        ]
        versions = [array.buffer.version for _, array in before]
        with running(name, self.world.files, self.said):
            yield
        for (what, array), version in zip(before, versions, strict=True):
            sentence = f"{name} overwrites {what} in place"
            if array.buffer.version != version and sentence not in self.said:
                self.said.append(sentence)


def _real(value: Any) -> bool:
    if isinstance(value, Array):
        return value.kind == "float" and bool(value.axes)
    return getattr(getattr(value, "dtype", None), "kind", "") == "f" and bool(getattr(value, "shape", ()))


def _arrays(values: Mapping[str, Any]) -> Iterator[tuple[str, Array]]:
    """The arrays reachable from the values, each buffer once, with a name for it."""
    seen: set[int] = set()

    def visit(name: str, value: Any) -> Iterator[tuple[str, Array]]:
        if isinstance(value, Array):
            if id(value.buffer) not in seen:
                seen.add(id(value.buffer))
                body = value.buffer.value.body
                known = body.tensor.name if isinstance(body, Entry) else name
                yield known or "a value it keeps", value
            return
        content = contents(value)
        if content is None or id(value) in seen:
            return
        seen.add(id(value))
        for key, one in content.items() if isinstance(content, dict) else ((name, one) for one in content):
            yield from visit(str(key), one)

    for name, value in values.items():
        yield from visit(name, value)
