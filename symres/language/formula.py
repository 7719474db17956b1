"""Formulas: what is stated and displayed. A formula is made of terms, never of strings.

The adjoint of a tensor ``T``, the derivative of the loss by its entries, is the tensor named ``∂T``: it prints as
∂ℓ/∂T, with the indices on T.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from symres.kernel.terms import Tensor

ADJOINT = "∂"


class Formula(Protocol):
    """Anything the typesetters know: a :class:`~symres.kernel.terms.Term`, a :class:`Relation`, a matrix expression.

    Typesetters dispatch on the class; a class that none of them knows is an error, never a ``str()``.
    """


@dataclass(frozen=True)
class Relation:
    """A chain ``parts[0] ops[0] parts[1] ops[1] …`` with operators ``=``, ``:=``, ``<=``, ``<``, ``>=``, ``->``, ``!=``."""

    parts: tuple[Formula, ...]
    ops: tuple[str, ...]


def equation(*parts: Formula) -> Relation:
    """The chain of equalities of the parts."""
    return Relation(parts, ("=",) * (len(parts) - 1))


def definition(left: Formula, right: Formula) -> Relation:
    """``left := right``."""
    return Relation((left, right), (":=",))


@dataclass(frozen=True)
class Text:
    """Prose with slots: ``Text("the sum of {c} over {i} is zero", {"c": term, "i": var})``."""

    words: str
    slots: Mapping[str, Formula] = field(default_factory=dict)


@dataclass(frozen=True)
class Display:
    """A formula on a line of its own."""

    formula: Formula


Block = Text | Display


def adjoint(tensor: Tensor) -> Tensor:
    """The tensor of derivatives of the loss by the entries of ``tensor``."""
    return Tensor(ADJOINT + tensor.name, tensor.dims)


def is_adjoint(tensor: Tensor) -> bool:
    """Whether the tensor is an adjoint."""
    return tensor.name.startswith(ADJOINT)
