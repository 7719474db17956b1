"""The arrays that an object of a user's class keeps: parameters, values for the backward pass, gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from symres.trace.gradnames import collection_like, stems
from symres.trace.snapshot import contents

_DEEPEST = 4
_DATA = ("data", "value", "values", "val", "param")
_GRAD = ("grad", "gradient", "g")
IsArray = Callable[[Any], bool]


@dataclass(frozen=True)
class Kept:
    """A value that an object keeps; ``layers`` are the attributes of the layers around it.

    ``gradient`` tells that it lies in a collection of gradients, under the name of its variable.
    """

    name: str
    value: Any
    layers: tuple[str, ...] = ()
    gradient: bool = False

    @property
    def path(self) -> str:
        """The name of the value as an input: ``norm_gamma`` for ``self.norm.gamma``."""
        return "_".join((*self.layers, self.name))

    @property
    def label(self) -> str:
        """The name of the value as a result: ``d_norm_gamma`` for ``self.norm.dgamma``."""
        if self.gradient:
            return f"d_{self.path}"
        stem = stems(self.name)
        return f"d_{'_'.join((*self.layers, stem[0]))}" if self.layers and stem else self.path


def kept(instance: Any, known: Mapping[int, str], layers: tuple[str, ...] = ()) -> Iterator[Kept]:
    """The values that an object keeps, itself and in its dicts, lists and layers.

    ``known`` are the names of arrays by identity: a list of gradients beside a list of parameters takes its names.
    """
    content = contents(instance)
    if not isinstance(content, dict) or len(layers) > _DEEPEST:
        return
    for name, value in content.items():
        gradient = collection_like(name)
        if isinstance(value, dict):
            for key, item in value.items():
                own = stems(str(key)) if gradient else []
                yield from _held(Kept(own[0] if own else str(key), item, layers, gradient), known)
        elif isinstance(value, (list, tuple)):
            names = _names(content, name, known) if gradient else []
            for position, item in enumerate(value):
                own_name = names[position] if position < len(names) else f"{name}{position}"
                if gradient or id(item) not in known:
                    yield from _held(Kept(own_name, item, layers, gradient), known)
        else:
            yield from _held(Kept(name, value, layers), known)


def _held(one: Kept, known: Mapping[int, str]) -> Iterator[Kept]:
    """A value; of a layer what it keeps; of an object that holds an array and its gradient these two."""
    content = contents(one.value)
    if not isinstance(content, dict) or isinstance(one.value, dict):
        yield one
        return
    data = next((content[key] for key in _DATA if key in content), None)
    grad = next((key for key in _GRAD if key in content), None)
    if data is None or grad is None:
        yield from kept(one.value, known, (*one.layers, one.name))
    else:
        yield Kept(one.name, data, one.layers)
        yield Kept(one.name, content[grad], one.layers, gradient=True)


def _names(content: Mapping[str, Any], name: str, known: Mapping[int, str]) -> list[str]:
    """The names of the parameters to which the gradients of a list belong."""
    owners = next((content[key] for key in ("params", "parameters", "weights", "variables") if key in content), ())
    if not isinstance(owners, (list, tuple)):
        return []
    attributes = {id(value): key for key, value in content.items()}
    return [known.get(id(one), attributes.get(id(one), f"params{k}")) for k, one in enumerate(owners)]


def input_name(one: Kept, arguments: Mapping[str, Any]) -> str:
    """The name of a kept array as an input: its path, or ``bias_`` where ``bias`` is an argument of the constructor."""
    return f"{one.path}_" if one.path in arguments else one.path


def mark(value: Any) -> Any:
    """Something that changes when an array is replaced or written to."""
    buffer = getattr(value, "buffer", None)
    if buffer is not None:
        return id(value), buffer.version
    return id(value), getattr(value, "tobytes", bytes)()


def replace(instance: Any, old: Any, new: Any) -> None:
    """Put an array in the place of another one, in an object and in the dicts, lists and layers that it holds."""
    content = contents(instance)
    pairs = (
        list(content.items())
        if isinstance(content, dict)
        else list(enumerate(content))
        if isinstance(content, list)
        else []
    )
    for key, value in pairs:
        if value is old:
            content[key] = new
        elif contents(value) is not None:
            replace(value, old, new)
