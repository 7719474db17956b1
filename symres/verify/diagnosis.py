"""Naming the fault of a wrong gradient.

Each candidate of :mod:`symres.verify.candidates` is compared with the claim at a few random points; the first that
agrees everywhere is then put to the kernel, so that a diagnosis is a statement like the verdict itself: *the claim is
the gradient with just this fault*.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symres.calculus.reverse import Backward
from symres.errors import SymresError
from symres.kernel.terms import Entry, Num, Size, Tensor, Term, add, mul, neg, power, walk
from symres.language.equality import Expanded, proved_equal
from symres.language.program import Definition, Program
from symres.numeric.evaluate import Evaluation
from symres.verify.candidates import Candidate, candidates
from symres.verify.verdict import Diagnosis
from symres.verify.witness import Claim, differ, draw, floats, symbols, varied_sizes

_POINTS = 4
LONGEST = 5.0
"""Seconds after which a fault stays without a name."""


@dataclass(frozen=True)
class Point:
    """Values of everything at some sizes, with the claimed and the true gradient there."""

    sizes: Mapping[str, int]
    values: Mapping[str, Any]
    claimed: Any
    true: Any


def points(claim: Claim, fixed: Mapping[str, int] | None = None) -> list[Point]:
    """A few random points at different sizes, most of them points at which the gradients differ."""
    names = [name for name in symbols(claim) if name not in (fixed or {})]
    found: list[Point] = []
    for seed, chosen in enumerate(varied_sizes(names, 2, 30, largest=5)):
        sizes = {**chosen, **(fixed or {})}
        values = draw(claim, sizes, 100 + seed, real=True)
        both = None if values is None else floats(claim, sizes, values)
        if values is not None and both is not None and differ(*both):
            found.append(Point(sizes, values, *both))
        if len(found) == _POINTS:
            break
    return found


def diagnose(claim: Claim, backward: Backward, fixed: Mapping[str, int] | None = None) -> Diagnosis | None:
    """The kind of fault, or None when no known kind fits."""
    seen = points(claim, fixed)
    if len(seen) < 2:
        return None
    for matched in (*_scalings(claim, seen), *_matches(claim, backward, seen)):
        return matched
    return None


def _scalings(claim: Claim, seen: list[Point]) -> Iterator[Diagnosis]:
    """The whole gradient times a factor."""
    ratio = _common_ratio([(point.claimed, point.true) for point in seen], seen, claim)
    if ratio is None:
        return
    factor, shown = ratio
    proved = _proved(
        claim.claimed.body,
        mul(factor, _aligned(claim.derived, claim.claimed)),
        claim.definitions(),
        claim.upstream.values(),
    )
    if shown == "-1":
        yield Diagnosis("sign", "the sign is wrong: the claimed gradient is the negative of the true one", proved)
    elif shown == "0":
        yield Diagnosis("zero", "the claimed gradient is zero", proved)
    else:
        sizes = "√" not in shown and any(isinstance(node, Size) for node in walk(factor))
        hint = " (summed where it is averaged, or the other way round)" if sizes else ""
        yield Diagnosis("factor", f"the claimed gradient is {shown} times the true one{hint}", proved)


def _lengths(claim: Claim) -> list[Term]:
    """The lengths of axes that are no plain sizes, such as the number of windows of a convolution."""
    dims = [dim for tensor in claim.inputs().values() for dim in tensor.dims]
    return list(dict.fromkeys(dim for dim in dims if not isinstance(dim, (Size, Num))))


def _matches(claim: Claim, backward: Backward, seen: list[Point]) -> Iterator[Diagnosis]:
    start = time.monotonic()
    for candidate in candidates(claim, backward):
        if time.monotonic() - start > LONGEST:
            return
        try:
            arrays = [_evaluate(candidate, point) for point in seen]
        except (SymresError, ZeroDivisionError, IndexError, KeyError):
            continue
        if any(array is None or array.shape != point.claimed.shape for array, point in zip(arrays, seen, strict=True)):
            continue
        if not any(differ(array, point.true) for array, point in zip(arrays, seen, strict=True)):
            continue
        body = _aligned(candidate.gradient, claim.claimed)
        definitions = {**claim.definitions(), **candidate.backward.definitions}
        if all(not differ(point.claimed, array) for array, point in zip(arrays, seen, strict=True)):
            proved = _proved(claim.claimed.body, body, definitions, claim.upstream.values())
            yield Diagnosis(candidate.kind, candidate.explanation, proved)
        elif candidate.scaled and candidate.describe is not None:
            pairs = [(point.claimed - array, point.true - array) for array, point in zip(arrays, seen, strict=True)]
            ratio = _common_ratio(pairs, seen, claim)
            if ratio is not None and ratio[1] not in ("0", "1"):
                true = _aligned(claim.derived, claim.claimed)
                scaled = add(body, mul(ratio[0], add(true, neg(body))))
                kind, text = candidate.describe(ratio[1])
                yield Diagnosis(kind, text, _proved(claim.claimed.body, scaled, definitions, claim.upstream.values()))


def _aligned(definition: Definition, claimed: Definition) -> Term:
    return definition.at(claimed.vars)


def _proved(left: Term, right: Term, definitions: Mapping[Tensor, Definition], upstream: Iterable[Tensor]) -> bool:
    try:
        return proved_equal(left, right, Expanded(definitions, upstream=upstream))
    except SymresError:
        return False


def _evaluate(candidate: Candidate, point: Point) -> Any:
    program: Program = candidate.backward.program
    with np.errstate(all="ignore"):
        run = Evaluation({name: _array(value) for name, value in point.values.items()}, point.sizes)
        run.arrays.setdefault("pi", np.asarray(np.pi))
        run.arrays.setdefault("infinity", np.asarray(1e30))
        for definition in (*program.definitions.values(), *candidate.backward.adjoints.values()):
            run.define(definition)
        array = run.term(candidate.gradient.body, candidate.gradient.vars)
    return array if np.all(np.isfinite(array)) else None


def _array(value: Any) -> Any:
    flat = value.ravel().tolist()
    return np.asarray(value, dtype=int if all(isinstance(one, int) for one in flat) else float)


def _common_ratio(pairs: list[tuple[Any, Any]], seen: list[Point], claim: Claim) -> tuple[Term, str] | None:
    """The factor λ with left = λ · right at every point: a small rational, or a simple expression in sizes and scalars."""
    ratios = []
    for left, right in pairs:
        if left.shape != right.shape or not np.any(np.abs(right) > 1e-9):
            return None
        place = np.unravel_index(np.argmax(np.abs(right)), right.shape)
        ratio = float(left[place] / right[place])
        if differ(left, ratio * right):
            return None
        ratios.append(ratio)
    for term, shown in _factors(claim, seen[0].sizes):
        values = [_number(term, point) for point in seen]
        if all(abs(ratio - value) < 1e-6 * max(1.0, abs(ratio)) for ratio, value in zip(ratios, values, strict=True)):
            return term, shown
    return None


def _number(term: Term, point: Point) -> float:
    scalars = {name: np.asarray(float(value)) for name, value in point.values.items() if value.ndim == 0}
    with np.errstate(all="ignore"):
        return float(Evaluation(scalars, point.sizes).term(term))


def _factors(claim: Claim, sizes: Mapping[str, int]) -> Iterator[tuple[Term, str]]:
    for constant in sorted({Fraction(a, b) for a in range(-6, 7) for b in (1, 2, 3, 4)} - {Fraction(1)}, key=abs):
        yield Num(constant), str(constant)
    scalars = [t() for t in claim.program.inputs.values() if not t.dims and t.kind == "positive"]
    for scalar in (*(Size(name) for name in sorted(sizes)), *scalars, *_lengths(claim)):
        name = str(scalar) if isinstance(scalar, (Size, Entry)) else f"({scalar})"
        yield scalar, name
        yield power(scalar, -1), f"1/{name}"
        yield power(scalar, Fraction(1, 2)), f"√{name}"
        yield power(scalar, Fraction(-1, 2)), f"1/√{name}"
    for name in sorted(sizes):
        size = Size(name)
        yield (size - 1) / size, f"({name} − 1)/{name}"
        if sizes[name] > 1:
            yield size / (size - 1), f"{name}/({name} − 1)"
    for one, other in itertools.permutations(sorted(sizes), 2):
        yield Size(one) / Size(other), f"{one}/{other}"
        if one < other:
            product = Size(one) * Size(other)
            yield product, f"{one}·{other}"
            yield power(product, -1), f"1/({one}·{other})"
