"""What runs for one entry in a worker process; the rooms are loaded only here, where they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from symres import catalogue
from symres.cli.limits import limited

if TYPE_CHECKING:
    from symres.export import Made
    from symres.export.paper import Options

METHODS_AGAINST = {"numpy": ("forward", "numpy", "finite", "complex", "sympy"), "jax": ("jax",)}

Result = TypeVar("Result")


def bounded(id: str, *, work: Callable[[str], Result], seconds: float, megabytes: int) -> Result:
    """``work(id)`` within limits of time and memory."""
    with limited(seconds, megabytes):
        return work(id)


def made(id: str, *, formats: tuple[str, ...], options: Options, fresh: bool = False, pictures: bool = False) -> Made:
    """The documents of one entry."""
    from symres.export.make import make

    entry = catalogue.load(id)
    return make(entry.derive, catalogue.content(entry), formats, options, fresh, entry.pictures if pictures else None)


def page(id: str) -> dict[str, Any]:
    """All that the page of one entry shows."""
    from symres.export.html import view

    entry = catalogue.load(id)
    return view(entry.derive(), entry.pictures())


def drawn(id: str) -> dict[str, bytes]:
    """The pictures of one entry as files."""
    from symres.export.plot import files

    return files(id, catalogue.load(id).pictures())


def checked(id: str, *, against: tuple[str, ...]) -> list[dict[str, Any]]:
    """The cross-check of one entry: one row for each method that applies."""
    derivation = catalogue.derive(id)
    if derivation.crosscheck is None:
        # It has no numerical side of its own; what was evaluated while it was derived stands in its record.
        found = derivation.record[1:]
    else:
        found = derivation.crosscheck([name for library in against for name in METHODS_AGAINST[library]])
    return [asdict(check) for check in found]
