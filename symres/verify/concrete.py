"""The verdict at concrete sizes, for code that cannot be summarised for all of them: loops are unrolled, sums written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from symres.errors import SymresError, UsageError
from symres.kernel.terms import Size, walk
from symres.language.shapes import parse_shapes
from symres.trace.run import trace_pair
from symres.trace.traced import Traced
from symres.verify.verdict import PROVED, REFUTED, UNDECIDED, GradientVerdict, Verdict
from symres.verify.witness import varied_sizes

_TRIED, _WANTED, _LARGEST = 24, 4, 5
Judge = Callable[[Traced, Mapping[str, int]], Verdict]


def at_concrete_sizes(
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None,
    options: Mapping[str, Any],
    judge: Judge,
    why: str,
) -> Verdict:
    """The verdicts at several small sizes together: proved only if proved at each; the first refutation ends it.

    Raises:
        SymresError: if no size could be traced.
    """
    verdicts: list[Verdict] = []
    sizes_used: list[Mapping[str, int]] = []
    problem: SymresError | None = None
    names = size_names(options["shapes"])
    for sizes in _choices(names):
        if len(verdicts) == _WANTED:
            break
        try:
            verdict = judge(trace_pair(forward, backward, **options, sizes=sizes), sizes)
        except UsageError:
            raise
        except SymresError as error:
            problem = problem or error
            continue
        verdicts.append(verdict)
        sizes_used.append(sizes)
        if verdict.verdict == REFUTED:
            return verdict
    if not verdicts:
        hint = "" if names else "\nWith --shapes it can be tried at concrete sizes."
        reason = f"{why}{hint}" if problem is None else f"{why}; at concrete sizes: {problem}"
        wanted = asked_for(options)
        return Verdict({name: GradientVerdict(name, UNDECIDED, reason) for name in wanted}, 0.0, reason=reason)
    note = f"proved at the sizes listed only: {why}"
    gradients = {
        name: _together([v.gradients[name] for v in verdicts], tuple(sizes_used), note)
        for name in verdicts[0].gradients
    }
    return replace(verdicts[0], gradients=gradients, notes=(*verdicts[0].notes, note))


def asked_for(options: Mapping[str, Any]) -> list[str]:
    """The gradients that a caller names, or those of the real arrays whose shapes it gives."""
    if options["grads"]:
        return list(options["grads"])
    shapes = parse_shapes(options["shapes"])
    return [name for name, shape in shapes.items() if shape.kind == "real" and shape.axes] or ["?"]


def _choices(names: list[str]) -> Iterator[dict[str, int]]:
    """Sizes to try: all different in small numbers first, then at random, so that no two sizes are always equal."""
    if not names:
        return
    yield {name: 2 + k for k, name in enumerate(names)}
    yield {name: 2 + k for k, name in enumerate(reversed(names))}
    yield from varied_sizes(names, 3, _TRIED, _LARGEST)


def size_names(shapes: str | Mapping[str, Any] | None) -> list[str]:
    """The symbolic sizes that the shapes name, in order."""
    parsed = parse_shapes(shapes).values()
    terms = [size for shape in parsed for axis in shape.axes for size in axis]
    terms += [shape.bound for shape in parsed if shape.bound is not None]
    return list(dict.fromkeys(node.name for term in terms for node in walk(term) if isinstance(node, Size)))


def _together(gradients: list[GradientVerdict], sizes: tuple[Mapping[str, int], ...], note: str) -> GradientVerdict:
    for gradient in gradients:
        if gradient.verdict != PROVED:
            return gradient
    return replace(gradients[0], sizes=sizes, reason=note)
