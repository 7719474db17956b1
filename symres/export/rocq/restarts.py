"""Reasons to begin the algebra of a proof again, with something known from the start."""

from __future__ import annotations

from symres.kernel.terms import Tensor


class Refold(Exception):
    """A definition turns out to be needed as an atom: start again with it folded."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor.name)
        self.tensor = tensor


class Reroot(Exception):
    """A reciprocal came before the square root of the same expression: start again with the root first."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key
