"""The Python door: results that write themselves in every format and show themselves in notebooks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symres import catalogue
from symres.derivation.document import Check, Derivation, Step
from symres.language.formula import Block


@dataclass(frozen=True)
class Proof:
    """A derivation of the catalogue, every step checked."""

    derivation: Derivation

    @property
    def id(self) -> str:
        """Its id in the catalogue."""
        return self.derivation.id

    @property
    def title(self) -> str:
        """What is derived, in one line."""
        return self.derivation.title

    @property
    def verdict(self) -> str:
        """``theorem``, ``theorem under conditions`` or ``refuted``."""
        return self.derivation.verdict

    @property
    def statement(self) -> tuple[Block, ...]:
        """The statement, paragraph by paragraph."""
        return self.derivation.statement

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the proof, in order."""
        return self.derivation.steps

    @property
    def record(self) -> tuple[Check, ...]:
        """Who checked what, and how."""
        return self.derivation.record

    @property
    def result(self) -> Mapping[str, Any]:
        """What was derived, as SymPy expressions by name."""
        return self.derivation.result

    def certificate(self) -> Mapping[str, Any]:
        """What the second judge reads; empty for the kinds of statement that are checked in other ways."""
        return self.derivation.certificate

    def to_latex(self, **options: Any) -> str:
        """A fragment for ``\\\\input``; options as for :class:`symres.export.paper.Options`."""
        from symres.export.paper import Options
        from symres.export.tex import fragment

        return fragment(self.derivation, Options(**options))

    def to_markdown(self, *, github: bool = False) -> str:
        """The whole derivation in Markdown, for notes programs or for GitHub."""
        from symres.export.markdown import GITHUB, PLAIN, markdown

        return markdown(self.derivation, GITHUB if github else PLAIN)

    def to_html(self) -> str:
        """One page of HTML that needs nothing else."""
        from symres.export.html import page, view

        return page(view(self.derivation, catalogue.load(self.id).pictures()))

    def to_numpy(self) -> str:
        """The NumPy reference, as source text."""
        return self.derivation.listing

    def bibtex(self) -> str:
        """What to cite: this derivation and its sources."""
        from symres.export.bibliography import bibtex

        return bibtex([self.derivation])

    def __str__(self) -> str:
        judges = ", ".join(dict.fromkeys(check.judge for check in self.record))
        return f"{self.title} [{self.id}]\n{self.verdict}; {len(self.steps)} steps; checked by {judges}"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """The statement, for notebooks: Markdown and LaTeX take the colours of the page they stand on."""
        from symres.export.markdown import displays, statement

        title = f"**{self.title}** · {self.verdict} · `{self.id}`"
        rows = r" \\ ".join(displays(self.derivation))
        bundle = {
            "text/markdown": "\n\n".join([title, *statement(self.derivation)]),
            "text/latex": f"$$\\begin{{gathered}} {rows} \\end{{gathered}}$$",
            "text/plain": str(self),
        }
        wanted = (set(include) if include else set(bundle)) - set(exclude or ())
        return {kind: text for kind, text in bundle.items() if kind in wanted}


@dataclass(frozen=True)
class Gradient(Proof):
    """The gradients of a function, derived and proved. ``source`` is a NumPy module with the backward function."""

    source: str

    def to_numpy(self) -> str:
        """A module with one function: it takes the upstream gradients and the arguments, and returns the gradients."""
        return self.source


def derive(id: str) -> Proof:
    """The derivation with this id, every step checked.

    Raises:
        UsageError: if there is no such id; the nearest are named.
        SymresError: if a step is refused.
    """
    return Proof(catalogue.derive(id))


def gradient(
    function: Callable[..., Any],
    wrt: str | Sequence[str] | None = None,
    *,
    shapes: str | None = None,
    set: Mapping[str, Any] | None = None,
) -> Gradient:
    """The gradients of a NumPy function, for symbolic sizes. The function is run once, on symbolic arrays.

    Args:
        function: the layer; where it returns a cache beside its output, the cache is left alone.
        wrt: the arguments to differentiate by; by default every real array among them.
        shapes: the shapes of the arguments, ``"x: B D, gamma: D"``, where the function has no annotations.
        set: values of arguments that are not symbolic.

    Raises:
        UsageError: if the shapes do not fit or ``wrt`` names no argument.
        Unsupported: for what tracing does not know, with the line of the source.
    """
    from symres.derivation.gradient import derive as begin
    from symres.derivation.heading import Heading

    proof = begin(function, wrt=wrt, shapes=shapes, fixed=dict(set or {})).conclude()
    name = function.__name__
    id = "-".join(re.findall("[a-z0-9]+", name.lower())) or "function"
    heading = Heading(f"{id}-gradient", f"The gradient of {name}", "own layers", "gradient", "theorem", ())
    return Gradient(proof.document(heading), proof.source())


def latex(formula: Any, *, shapes: str | None = None, width: float = 30.0) -> str:
    """LaTeX of a NumPy function, a scalar Python function, a term, a relation or a traced program.

    A function of arrays is printed from its trace, where axes and sizes are known: give ``shapes``, or annotate it.

    Raises:
        Unsupported: for what cannot be traced or has no rule.
    """
    from symres.typeset import latex as typeset

    if callable(formula) and (shapes is not None or getattr(formula, "__annotations__", None)):
        from symres.trace import trace

        formula = trace(formula, shapes=shapes)
    return typeset(formula, width=width)
