"""What a theorem rests on, in plain text: its conditions, the theorems it uses, the sources, who checked it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from symres.derivation.document import Derivation
from symres.export.bibliography import reference
from symres.export.prose import fill
from symres.kernel.plain import plain
from symres.kernel.terms import Term
from symres.language.formula import Formula, Relation
from symres.typeset.printer import inline_latex

EVERYWHERE = (
    "Sizes are positive integers and values are real numbers; nothing is said about floating point.",
    "Where a function has a kink (ReLU at 0, a tie in a maximum), the statement holds off the kink.",
)


def assumptions(derivation: Derivation, load: Callable[[str], Derivation]) -> str:
    """All that the theorem rests on; ``load`` gives the derivations it uses, which are followed in turn."""
    return "\n".join(_lines(derivation, load)) + "\n"


def _lines(derivation: Derivation, load: Callable[[str], Derivation]) -> Iterator[str]:
    yield f"{derivation.id}: {derivation.verdict}"
    yield "Conditions:"
    yield from (f"  {fill(text, str, _plain)}" for text in derivation.assumptions)
    yield from (f"  {line}" for line in EVERYWHERE)
    used = list(_used(derivation, load, {derivation.id}))
    if used:
        yield "Theorems used:"
        yield from (f"  {other.id}: {other.title} ({other.verdict})" for other in used)
    sources = dict.fromkeys(source for each in (derivation, *used) for source in each.sources)
    if sources:
        yield "Sources, for the statement; nothing is taken from them without a check:"
        yield from (f"  {reference(source.key)}{f' {source.place}.' if source.place else ''}" for source in sources)
    yield "Checked by:"
    yield from (f"  {check.judge}: {check.method}" for check in derivation.record)


def _used(derivation: Derivation, load: Callable[[str], Derivation], seen: set[str]) -> Iterator[Derivation]:
    for id in derivation.uses:
        if id not in seen:
            seen.add(id)
            other = load(id)
            yield other
            yield from _used(other, load, seen)


def _plain(formula: Formula) -> str:
    """A formula in one line of text: terms as the kernel writes them, anything else in LaTeX."""
    if isinstance(formula, Relation):
        parts = [_plain(part) for part in formula.parts]
        return parts[0] + "".join(f" {op} {part}" for op, part in zip(formula.ops, parts[1:], strict=True))
    return plain(formula) if isinstance(formula, Term) else inline_latex(formula)
