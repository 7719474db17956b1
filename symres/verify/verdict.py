"""What ``verify`` answers: one verdict for each gradient, and one for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symres.kernel.terms import Term, Var
from symres.language.program import Program

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"
EXIT_STATUS = {PROVED: 0, REFUTED: 1, UNDECIDED: 3}
Sizes = tuple[Mapping[str, int], ...]


@dataclass(frozen=True)
class Witness:
    """A counterexample: sizes, all inputs, and the entry at which claimed and expected gradient differ.

    ``claimed`` and ``expected`` are exact where they are rational, otherwise decimals of which every digit is certain.
    """

    sizes: Mapping[str, int]
    inputs: Mapping[str, Any]
    index: tuple[int, ...]
    claimed: str
    expected: str

    def to_json(self) -> dict[str, Any]:
        """The witness as plain data."""
        return {
            "sizes": dict(self.sizes),
            "inputs": dict(self.inputs),
            "index": list(self.index),
            "claimed": self.claimed,
            "expected": self.expected,
        }


@dataclass(frozen=True)
class Diagnosis:
    """The kind of fault a wrong gradient matches, in words, and the NumPy lines to put in its place.

    ``kind`` is a stable name such as ``variance-path-missing``. ``proved`` says that the kernel found the claim equal to
    the gradient with just this fault; otherwise the match was seen at several sizes only.
    """

    kind: str
    explanation: str
    proved: bool = True
    guard: bool = False


@dataclass(frozen=True)
class GradientVerdict:
    """The verdict on one gradient.

    ``difference`` is claimed − true in closed form at the indices ``vars``; ``sizes`` is empty when the verdict holds
    for all sizes.
    """

    name: str
    verdict: str
    reason: str = ""
    vars: tuple[Var, ...] = ()
    difference: Term | None = None
    expected: Term | None = None
    witness: Witness | None = None
    diagnosis: Diagnosis | None = None
    sizes: Sizes = ()
    code: str = ""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a whole backward function.

    ``notes`` state the assumptions and conventions under which it holds: divisibility, masks read as −∞, what the code
    does at a kink, what the call changed for its caller.
    """

    gradients: Mapping[str, GradientVerdict]
    seconds: float
    shapes: str = ""
    notes: tuple[str, ...] = ()
    program: Program | None = None
    certificate: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def verdict(self) -> str:
        """``refuted`` if any gradient is; else ``undecided`` if any is, or there is none; else ``proved``."""
        found = {gradient.verdict for gradient in self.gradients.values()}
        if REFUTED in found:
            return REFUTED
        return PROVED if found == {PROVED} else UNDECIDED

    @property
    def sizes(self) -> Sizes:
        """The concrete sizes at which the verdict was reached; empty when it holds for all sizes."""
        return next((gradient.sizes for gradient in self.gradients.values() if gradient.sizes), ())

    @property
    def exit_status(self) -> int:
        """0 proved, 1 refuted, 3 undecided."""
        return EXIT_STATUS[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """The object that ``symres verify --json`` prints."""
        from symres.typeset import latex

        def one(gradient: GradientVerdict) -> dict[str, Any]:
            diagnosis = gradient.diagnosis
            return {
                "verdict": gradient.verdict,
                "difference": None if gradient.difference is None else latex(gradient.difference),
                "witness": None if gradient.witness is None else gradient.witness.to_json(),
                "diagnosis": None if diagnosis is None else {"kind": diagnosis.kind, "text": diagnosis.explanation},
                "reason": gradient.reason,
                "correction": gradient.code or None,
            }

        return {
            "verdict": self.verdict,
            "sizes": [dict(sizes) for sizes in self.sizes] or "all",
            "gradients": {name: one(gradient) for name, gradient in self.gradients.items()},
            "shapes": self.shapes,
            "notes": list(self.notes),
            "reason": self.reason,
            "seconds": round(self.seconds, 4),
        }

    def to_markdown(self) -> str:
        """The report as Markdown."""
        from symres.verify.report import markdown

        return markdown(self)

    def to_latex(self) -> str:
        """The report as LaTeX."""
        from symres.verify.report import latex_report

        return latex_report(self)

    def report(self, width: int = 100) -> str:
        """The report for a terminal."""
        from symres.verify.report import plain_report

        return plain_report(self, width)

    def __str__(self) -> str:
        return self.report()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/markdown": self.to_markdown(), "text/plain": self.report()}
