"""What a trace reports besides its values: assumptions, conventions at kinks, and two ways out of symbolic sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import Size, Tensor, Term
from symres.language.program import Axis


class NeedsConcreteSizes(Unsupported):
    """The code cannot be summarised for all sizes; at concrete sizes it still can be traced.

    ``shapes`` are those of the arguments, where they were inferred; ``lengths`` two whose equality was in question.
    """

    shapes: str | None = None
    lengths: tuple[Term, Term] | None = None


class ShapeMismatch(Unsupported):
    """Shapes that do not fit together when different size symbols stand for different numbers: NumPy would raise.

    ``lengths`` are the two that would have to be equal, where it is two.
    """

    lengths: tuple[Term, Term] | None = None


class OutOfTime(BaseException):
    """The time limit is reached; not an ``Exception``, so that a ``try`` in the user's code does not catch it."""


class Refine(Exception):
    """The code assumes that the size ``size_name`` is a product of ``factors``; trace again with that product axis.

    A factor ``None`` is a new size for which the caller finds a name: ``Refine("D", (Size("H"), None))`` asks for
    D = H·E. It is no error: the trace is restarted, and the divisibility is stated with the result.
    """

    def __init__(self, size_name: str, factors: tuple[Term | None, ...]) -> None:
        shown = "·".join("?" if factor is None else _plain(factor) for factor in factors)
        super().__init__(f"{size_name} = {shown}")
        self.size_name, self.factors = size_name, factors


def _plain(term: Term) -> str:
    return term.name if isinstance(term, Size) else str(getattr(term, "value", term))


_FLOOR = re.compile(r"floordiv\(([^(),]*),([^(),]*)\)")


@dataclass
class Notes:
    """What was noticed during one trace.

    ``assumptions`` are sentences; ``kinks`` the conventions of the code where a comparison holds with equality;
    ``facts`` index terms assumed to be ≥ 0; ``opaque`` the tensors that the code drew at random and that count as
    inputs; ``torch`` that functions follow PyTorch's conventions where they differ. The rest are caches, of what holds
    under the facts.
    """

    assumptions: list[str] = field(default_factory=list)
    kinks: list[str] = field(default_factory=list)
    facts: list[Term] = field(default_factory=list)
    opaque: dict[str, tuple[Tensor, tuple[Axis, ...]]] = field(default_factory=dict)
    torch: bool = False
    memo: dict[Term, Term] = field(default_factory=dict)
    signs: dict[Term, bool] = field(default_factory=dict)
    polynomials: dict[Term, Any] = field(default_factory=dict)

    def assume(self, sentence: str) -> None:
        """Record a sentence once."""
        if sentence not in self.assumptions:
            self.assumptions.append(sentence)

    def kink(self, sentence: str) -> None:
        """Record a convention at a kink once."""
        if sentence not in self.kinks:
            self.kinks.append(sentence)

    def fact(self, term: Term, sentence: str) -> None:
        """Assume that an index term is not negative."""
        if term not in self.facts:
            self.facts.append(term)
            self.memo.clear()
            self.signs.clear()
            self.assume(_FLOOR.sub(r"((\1) // \2)", sentence))


_notes: ContextVar[Notes] = ContextVar("symres.trace.notes")
_default = Notes()


def notes() -> Notes:
    """The notes of the running trace."""
    return _notes.get(_default)


@contextmanager
def recording(torch: bool = False) -> Iterator[Notes]:
    """Collect the notes of one trace; ``torch`` says that the code is written for PyTorch."""
    token = _notes.set(Notes(torch=torch))
    try:
        yield _notes.get()
    finally:
        _notes.reset(token)
