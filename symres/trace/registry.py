"""The table of NumPy names: every function that traced code may call, and the methods of arrays among them.

A row is made by :func:`numpy_function`. The wrapper serves what all of NumPy's functions share: ``out=``, ``dtype=``,
the keywords of PyTorch (``dim=``, ``keepdim=``), and a refusal that names the function and the keyword.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from symres.errors import Unsupported, UsageError

Function = Callable[..., Any]
_F = TypeVar("_F", bound=Function)

FUNCTIONS: dict[str, Function] = {}
METHODS: dict[str, Function] = {}

_KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "dims": "axes"}
_WITHOUT_EFFECT = frozenset(
    {"order", "casting", "optimize", "subok", "like", "device", "requires_grad", "preferred_element_type"}
)
_ORDERS = ("C", "K", "A", None)


def call(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function of the table by its NumPy name.

    Raises:
        Unsupported: if the table has no such name.
    """
    return lookup(name)(*args, **kwargs)


def lookup(name: str) -> Function:
    """The function of that NumPy name."""
    found = FUNCTIONS.get(name)
    if found is None:
        raise unknown(f"np.{name}", name, FUNCTIONS)
    return found


def unknown(shown: str, name: str, table: Mapping[str, Any]) -> Unsupported:
    """The refusal of a name that a table does not have, with the nearest ones."""
    near = get_close_matches(name, table, n=3)
    remedy = f"Did you mean {' or '.join(near)}?" if near else "Write it with functions that symres knows."
    return Unsupported(f"{shown} is not known to symres", remedy=remedy)


def numpy_function(*names: str, method: bool | tuple[str, ...] = False) -> Callable[[_F], _F]:
    """Enter a function under its NumPy names, and as a method of arrays under the same or other names."""

    def enter(function: _F) -> _F:
        wrapped = _shared(names[0], function)
        for name in names:
            _enter(FUNCTIONS, name, wrapped)
        for name in names if method is True else method or ():
            _enter(METHODS, name, wrapped)
        return function

    return enter


def _enter(table: dict[str, Function], name: str, function: Function) -> None:
    if name in table:
        raise UsageError(f"two rows of the NumPy table are named {name!r}")
    table[name] = function


def _shared(name: str, function: Function) -> Function:
    signature = inspect.signature(function)
    accepted = signature.parameters
    anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        for foreign, own in _KEYWORDS.items():
            if foreign in kwargs and foreign not in accepted:
                kwargs[own] = kwargs.pop(foreign)
        out = kwargs.pop("out", None) if "out" not in accepted else None
        dtype = kwargs.pop("dtype", None) if "dtype" not in accepted else None
        if kwargs.get("order", "C") not in _ORDERS:
            raise Unsupported(f"np.{name} with order={kwargs['order']!r}")
        for keyword in [key for key in kwargs if key not in accepted and not anything]:
            if keyword not in _WITHOUT_EFFECT:
                raise Unsupported(f"np.{name} with the keyword {keyword}=")
            del kwargs[keyword]
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise Unsupported(f"np.{name}: {error}") from None
        result = function(*bound.args, **bound.kwargs)
        if dtype is not None:
            result = call("astype", result, dtype)
        return _written(result, out)

    return wrapped


def _written(result: Any, out: Any) -> Any:
    if isinstance(out, tuple):
        (out,) = out
    if out is None:
        return result
    out[...] = result
    return out
