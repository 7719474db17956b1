"""A finished derivation: what every export prints and every certificate stores. Nothing here computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symres.language.formula import Block, Formula, Relation, Text
from symres.language.program import Program


@dataclass(frozen=True)
class Source:
    """Where a statement comes from: a key of ``sources.bib`` and the place in it (``Eq. 3``, ``Section 3``)."""

    key: str
    place: str = ""


@dataclass(frozen=True)
class Step:
    """One line of a proof: a relation, the operation it results from, and the reason in words.

    ``label`` is stable from run to run and unique within its derivation. ``key`` marks the steps a short version keeps.
    """

    label: str
    relation: Relation
    operation: str
    reason: Text
    key: bool = False


@dataclass(frozen=True)
class Check:
    """One entry of the verification record: who checked, what it did, at which sizes, with which result."""

    judge: str
    method: str
    passed: bool
    sizes: tuple[Mapping[str, int], ...] = ()
    error: float | None = None
    detail: str = ""


@dataclass(frozen=True)
class Part:
    """A titled group of steps: a gradient with respect to one variable, the base or the step of an induction."""

    title: str
    steps: tuple[Step, ...]
    intro: Text | None = None


@dataclass(frozen=True)
class Derivation:
    """A theorem with its proof, or a refuted claim with its counterexample.

    ``kind``: gradient, identity, induction, bound, limit, moments, spectrum, count, independence, counterexample.
    ``verdict``: ``theorem``, ``theorem under conditions``, ``refuted``. ``statement`` is generated from the checked
    objects. ``listing`` is the source of the NumPy reference, ``matrix`` the statement in matrix form where there is one.
    ``crosscheck`` runs the numerical methods of the given names, where the derivation has a numerical side.
    """

    id: str
    title: str
    subject: str
    kind: str
    verdict: str
    statement: tuple[Block, ...]
    assumptions: tuple[Text, ...] = ()
    notation: tuple[tuple[Formula, Text], ...] = ()
    definitions: tuple[Relation, ...] = ()
    parts: tuple[Part, ...] = ()
    matrix: tuple[Block, ...] = ()
    remarks: tuple[Text, ...] = ()
    uses: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    record: tuple[Check, ...] = ()
    listing: str = ""
    program: Program | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    certificate: Mapping[str, Any] = field(default_factory=dict)
    crosscheck: Callable[[Sequence[str] | None], tuple[Check, ...]] | None = field(default=None, compare=False)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        return tuple(step for part in self.parts for step in part.steps)
