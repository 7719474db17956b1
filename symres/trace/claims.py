"""Which result of the backward function is the gradient of which argument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symres.errors import UsageError
from symres.trace.gradnames import owner
from symres.trace.returns import Labels
from symres.trace.state import IsArray, kept, mark


@dataclass
class Result:
    """One array that came back, with the name under which it came, and whether it was returned (or kept).

    ``keyed`` tells that the name is the key of a dict, which may be that of the variable itself.
    """

    value: Any
    label: str | None
    returned: bool = True
    keyed: bool = False

    def argument(self, arguments: Sequence[str]) -> str | None:
        """The argument whose gradient the name says it is."""
        if self.label is None:
            return None
        return self.label if self.keyed and self.label in arguments else owner(self.label, arguments)


def results(returned: Any, labels: str | Labels | None, is_array: IsArray, keyed: bool = False) -> list[Result]:
    """The arrays in a returned value, in order; ``None`` elements are left out."""
    found: list[Result] = []
    if isinstance(returned, dict):
        for key, value in returned.items():
            found += results(value, str(key), is_array, keyed=True)
    elif isinstance(returned, (tuple, list)):
        fits = isinstance(labels, tuple) and len(labels) == len(returned)
        known: Sequence[Any] = labels if fits and isinstance(labels, tuple) else (None,) * len(returned)
        for value, label in zip(returned, known, strict=True):
            found += results(value, label, is_array)
    elif is_array(returned) or (isinstance(returned, (int, float)) and not isinstance(returned, bool)):
        found.append(Result(returned, labels if isinstance(labels, str) else None, keyed=keyed))
    return found


def marks(instance: Any, names: Mapping[int, str], is_array: IsArray) -> dict[str, Any]:
    """A mark of every array that an object keeps."""
    return {one.label: mark(one.value) for one in kept(instance, names) if is_array(one.value)}


def kept_results(instance: Any, names: Mapping[int, str], before: Mapping[str, Any], is_array: IsArray) -> list[Result]:
    """The gradients that a call left on an object: attributes and items that are new or changed since ``before``."""
    return [
        Result(one.value, one.label, returned=False)
        for one in kept(instance, names)
        if is_array(one.value) and before.get(one.label) != mark(one.value)
    ]


def assign(
    found: Sequence[Result],
    arguments: Sequence[str],
    grads: Sequence[str] | None,
    upstream: Sequence[str],
    name: str,
) -> dict[str, Result]:
    """The result that is the gradient of each argument; arguments without one are left out.

    Raises:
        UsageError: if names and order leave it open, or ``grads`` does not fit.
    """
    returned = [one for one in found if one.returned]
    if grads is not None:
        return _in_order(found, returned, arguments, grads, name)
    matched: dict[str, Result] = {}
    open_: list[Result] = []
    for one in found:
        argument = None if one.label in upstream else one.argument(arguments)
        if argument is not None and (argument not in matched or (one.returned and not matched[argument].returned)):
            matched[argument] = one
        elif one.returned:
            open_.append(one)
    left = [argument for argument in arguments if argument not in matched]
    if not open_:
        return _ordered(matched, arguments, name)
    if (
        len(open_) == len(left)
        or (not matched and len(open_) == 1 and left)
        or _leading(open_, returned, left, arguments)
    ):
        matched |= dict(zip(left, open_, strict=False))
    elif not matched or any(one.label is None for one in open_):
        raise UsageError(
            f"it is not clear which of the {len(returned)} results of {name} belongs to which argument",
            remedy=f"Pass grads (--grads) with the arguments in that order, among {', '.join(arguments)}.",
        )
    return _ordered(matched, arguments, name)


def _leading(
    open_: Sequence[Result], returned: Sequence[Result], left: Sequence[str], arguments: Sequence[str]
) -> bool:
    """Whether the one result without a name is the first, and so belongs to the first argument."""
    return len(open_) == 1 and bool(left) and open_[0] is returned[0] and left[0] == arguments[0]


def _ordered(matched: Mapping[str, Result], arguments: Sequence[str], name: str) -> dict[str, Result]:
    if not matched:
        raise UsageError(
            f"{name} gives no gradient of {', '.join(arguments)}",
            remedy="It may return them, or keep them as self.dgamma or self.grads['gamma'].",
        )
    return {argument: matched[argument] for argument in arguments if argument in matched}


def _in_order(
    found: Sequence[Result], returned: Sequence[Result], arguments: Sequence[str], grads: Sequence[str], name: str
) -> dict[str, Result]:
    spelled = {plain: one for one in arguments for plain in (one.rstrip("_"), one)}
    grads = [spelled.get(one.replace(".", "_"), one) for one in grads]
    if unknown := [one for one in grads if one not in arguments]:
        raise UsageError(
            f"{', '.join(unknown)} is no argument whose gradient can be asked for",
            remedy=f"These are {', '.join(arguments)}.",
        )
    if len(returned) == len(grads):
        return dict(zip(grads, returned, strict=True))
    named = {argument: one for one in found if (argument := one.argument(grads))}
    rest = [one for one in grads if one not in named]
    spare = [one for one in returned if one not in named.values()]
    if len(rest) == len(spare):
        named |= dict(zip(rest, spare, strict=True))
    if set(named) != set(grads):
        raise UsageError(f"{name} gives {len(returned)} results, grads names {len(grads)}: {', '.join(grads)}")
    return {one: named[one] for one in grads}
