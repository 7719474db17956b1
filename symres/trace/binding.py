"""Calling conventions: which parameter of the backward function gets what.

``backward(dout, cache)``, ``backward(dout, x, gamma)``, ``backward(dout, *cache)``, several upstream gradients, the
upstream gradient first or where its name stands, or none at all for a scalar loss.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symres.errors import UsageError
from symres.trace.gradnames import cache_like, owner, upstream_like
from symres.trace.returns import Labels

_OUTPUTS = ("out", "output", "y", "result", "outputs", "z")
_CACHE_KEYS = ("cache", "saved", "ctx", "context", "memory")


@dataclass
class Bound:
    """The outputs by name, the upstream parameter of each, and the other parameters of the backward function."""

    outputs: dict[str, Any]
    upstream: dict[str, str]
    values: dict[str, Any]
    how: dict[str, str]


@dataclass
class Returned:
    """What the forward function returned: arrays by name in order, and what else there is."""

    items: list[Any]
    names: list[str | None]

    @classmethod
    def read(cls, result: Any, labels: str | Labels | None) -> Returned:
        """Split a result into its items; a tuple or list is several of them, a dict too."""
        if isinstance(result, dict):
            return cls(list(result.values()), [str(key) for key in result])
        if isinstance(result, (tuple, list)):
            fits = isinstance(labels, tuple) and len(labels) == len(result)
            known = labels if fits and isinstance(labels, tuple) else (None,) * len(result)
            return cls(list(result), [label if isinstance(label, str) else None for label in known])
        return cls([result], [labels if isinstance(labels, str) else None])


def bind(
    returned: Returned,
    parameters: Sequence[inspect.Parameter],
    arguments: Mapping[str, Any],
    is_array: Callable[[Any], bool],
    name: str,
) -> Bound:
    """Match the parameters of the backward function ``name`` with the results and the ``arguments`` of the forward one.

    Raises:
        UsageError: if a parameter matches nothing, saying what is there.
    """
    needed = [p.name for p in parameters if p.default is p.empty and p.kind in _POSITIONAL]
    optional = [p.name for p in parameters if p.default is not p.empty]
    arrays = [k for k, item in enumerate(returned.items) if is_array(item)]
    upstream = _upstream(needed, arguments, returned, len(arrays))
    rest = [one for one in needed if one not in upstream]
    outputs = _outputs(returned, arrays, max(len(upstream), 1))
    if len(outputs) < max(len(upstream), 1):
        raise UsageError(f"{name} takes {len(upstream)} upstream gradients, there are {len(outputs)} outputs")
    pairs = list(enumerate(zip(returned.names, returned.items, strict=True)))
    labelled = {label: item for k, (label, item) in pairs if label is not None and k not in outputs}
    kept = [item for k, (label, item) in pairs if k not in outputs and label not in rest]
    results = {label: returned.items[k] for k in outputs if (label := returned.names[k]) is not None}
    pool = {**dict.fromkeys(_OUTPUTS, returned.items[outputs[0]]), **results, **arguments, **labelled}
    # What the forward function returned under the name of a parameter is meant, before an argument of that name.
    values = {one: labelled[one] for one in rest if one in labelled}
    values |= _rest([one for one in rest if one not in values], kept, pool, arguments, is_array, name)
    values |= {one: arguments[one] for one in optional if one in arguments}
    named = dict(zip(_named(returned, outputs), (returned.items[k] for k in outputs), strict=True))
    owners = [owner(one, list(named)) for one in upstream]
    if None not in owners and len(set(owners)) == len(named):
        upstream = [upstream[owners.index(out)] for out in named]
    how = {one: f"the gradient of {out}" for one, out in zip(upstream, named, strict=False)}
    how |= {
        one: f"{one} of the forward pass" if value is pool.get(one) else "the cache" for one, value in values.items()
    }
    return Bound(named, dict(zip(named, upstream, strict=False)), values, how)


_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def _upstream(needed: Sequence[str], arguments: Mapping[str, Any], returned: Returned, arrays: int) -> list[str]:
    """The parameters that take upstream gradients: those named after outputs or as such gradients are, else the first.

    None, when the parameters are arguments and results of the forward function only: its result is a loss then.
    """
    labels = [label for label in returned.names if label]
    free = [one for one in needed if one not in arguments and one not in labels and not cache_like(one)]
    liked = [one for one in free if owner(one, labels) is not None or upstream_like(one)]
    return liked[:arrays] if liked else free[:1] if needed[:1] == free[:1] else []


def _outputs(returned: Returned, arrays: Sequence[int], wanted: int) -> list[int]:
    by_name = [k for k in arrays if returned.names[k] in _OUTPUTS]
    if wanted == 1 and by_name and not any(returned.names[k] is None for k in arrays[:1]):
        return by_name[:1]
    free = [k for k in arrays if returned.names[k] not in _CACHE_KEYS]
    return list(free[:wanted] if len(free) >= wanted else arrays[:wanted])


def _named(returned: Returned, outputs: Sequence[int]) -> list[str]:
    names: list[str] = []
    for position, k in enumerate(outputs):
        name = returned.names[k] or ("out" if len(outputs) == 1 else f"out{position + 1}")
        names.append(name if name not in names else f"{name}_{position + 1}")
    return names


def _rest(
    rest: Sequence[str],
    kept: Sequence[Any],
    pool: Mapping[str, Any],
    arguments: Mapping[str, Any],
    is_array: Callable[[Any], bool],
    name: str,
) -> dict[str, Any]:
    """The values of the parameters that take no upstream gradient."""
    if not rest:
        return {}
    cache = kept[0] if len(kept) == 1 else tuple(kept) if kept else None
    unnamed = [one for one in rest if one not in pool or (cache_like(one) and kept)]
    if isinstance(cache, dict):
        unnamed = [one for one in unnamed if one not in cache]
    values = {one: cache[one] if isinstance(cache, dict) and one in cache else pool[one]
              for one in rest if one not in unnamed}  # fmt: skip
    if not unnamed:
        return values
    if len(unnamed) == 1 and kept:
        return {**values, unnamed[0]: cache}
    if isinstance(cache, (tuple, list)) and len(cache) == len(rest):
        return dict(zip(rest, cache, strict=True))
    if isinstance(cache, (tuple, list)) and len(cache) == len(unnamed):
        return {**values, **dict(zip(unnamed, cache, strict=True))}
    given = [value for value in arguments.values() if is_array(value)]
    if not kept and len(given) == len(rest):
        return dict(zip(rest, given, strict=True))
    if not kept and len(unnamed) == 1 and cache_like(unnamed[0]) and given:
        return {**values, unnamed[0]: given[0] if len(given) == 1 else tuple(given)}
    raise UsageError(
        f"it is not clear what the parameter {unnamed[0]!r} of {name} takes",
        remedy=f"Known are the arguments {', '.join(arguments)} and what the forward function returns. "
        f"Give it the name of an argument, or set a value for it.",
    )
