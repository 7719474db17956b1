"""A picture of a theorem: data from the checked expressions, drawn by matplotlib when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Picture:
    """A picture with a name that is unique in its derivation.

    ``draw`` is given the axes of matplotlib to draw on; ``caption`` says in words what is seen.
    """

    name: str
    caption: str
    draw: Callable[[Any], None]
    width: float = 6.0
    height: float = 3.6
