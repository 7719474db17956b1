"""Counterexamples: the smallest sizes and small integers at which a claimed gradient is not the true one.

A place where the two differ is looked for in floating point, where looking is cheap; it counts only when exact
arithmetic, through the second judge's dual numbers, finds a difference there too.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symres.errors import SymresError
from symres.judge import Ball, Refused, TooLarge, Undefined, Values
from symres.kernel.terms import Size, Tensor, Term, walk
from symres.language.certificate import definitions_document
from symres.language.program import Definition, Program
from symres.numeric.evaluate import Evaluation
from symres.verify.verdict import Witness

LARGEST_SIZE, MOST_ENTRIES = 5, 400
_TRIES = 3
_MOST_POINTS, _ENOUGH_POINTS = 60, 16
_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Claim:
    """A claimed gradient as a definition, beside the derived one, with the program and all other definitions."""

    program: Program
    extra: Mapping[Tensor, Definition]
    upstream: Mapping[str, Tensor]
    wrt: str
    claimed: Definition
    derived: Definition

    def inputs(self) -> dict[str, Tensor]:
        """Everything that has to be given a value: the inputs and the upstream gradients."""
        return {**self.program.inputs, **{tensor.name: tensor for tensor in self.upstream.values()}}

    def definitions(self) -> dict[Tensor, Definition]:
        """All definitions, in order."""
        return {**self.program.definitions, **self.extra}


def symbols(claim: Claim) -> list[str]:
    """The names of the sizes on which the claim depends."""
    terms: list[Term] = [claim.claimed.body, claim.derived.body]
    terms += [definition.body for definition in claim.definitions().values()]
    terms += [dim for tensor in claim.inputs().values() for dim in tensor.dims]
    terms += [var.dim for definition in claim.definitions().values() for var in definition.vars]
    terms += [var.dim for term in list(terms) for var in _bound(term)]
    return sorted({node.name for term in terms for node in walk(term) if isinstance(node, Size)})


def _bound(term: Term) -> list[Any]:
    return [node.var for node in walk(term) if hasattr(node, "var")]


def size_choices(names: list[str], largest: int = LARGEST_SIZE) -> Iterator[dict[str, int]]:
    """Sizes by growing total, at equal total the more even first."""
    if not names:
        yield {}
        return
    ranges = [range(1, largest + 1)] * len(names)
    if len(names) > 6:
        ranges = [range(1, 4)] * len(names)
    choices = sorted(itertools.product(*ranges), key=lambda c: (sum(c), max(c), c)) if len(names) <= 9 else []
    for values in choices:
        yield dict(zip(names, values, strict=True))
    if not choices:
        for value in range(1, 4):
            yield dict.fromkeys(names, value)


def draw(claim: Claim, sizes: Mapping[str, int], seed: int, *, real: bool = False) -> dict[str, Any] | None:
    """Values for all inputs at these sizes: small integers, or real numbers; None where a length is not positive.

    Every third seed gives positive values only, for functions such as logarithms and roots of the inputs.
    """
    rng = random.Random(seed)
    run = Evaluation({}, sizes)
    values: dict[str, Any] = {}
    for name, tensor in claim.inputs().items():
        shape = tuple(run.integer(dim) for dim in tensor.dims)
        if any(length < 1 for length in shape) or int(np.prod(shape, dtype=int)) > MOST_ENTRIES:
            return None
        bound = run.integer(tensor.bound) if tensor.bound is not None else 0
        if tensor.kind == "int" and bound < 1:
            return None
        entry = _entries(tensor, rng, bound, real, positive=seed % 3 == 2)
        array = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            array[index] = entry()
        values[name] = array
    return values


def _entries(tensor: Tensor, rng: random.Random, bound: int, real: bool, positive: bool) -> Callable[[], Any]:
    if tensor.kind == "bool":
        return lambda: rng.randint(0, 1)
    if tensor.kind == "int":
        return lambda: rng.randrange(bound)
    if tensor.kind in ("positive", "nonnegative"):
        if real:
            return lambda: rng.uniform(0.05, 1.5)
        return (lambda: rng.randint(1, 3)) if tensor.dims else (lambda: Fraction(1, rng.choice([1, 2, 4])))
    if real:
        return lambda: rng.uniform(0.1 if positive else -2, 2)
    pool = range(1, 7) if positive else [k for k in range(-4, 6) if k]
    return lambda: rng.choice(pool)


def floats(claim: Claim, sizes: Mapping[str, int], values: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """The claimed and the derived gradient in floating point, or None where one is not finite."""
    with np.errstate(all="ignore"):
        try:
            run = Evaluation({name: np.asarray(v, dtype=_dtype(claim, name)) for name, v in values.items()}, sizes)
            run.arrays.setdefault("pi", np.asarray(np.pi))
            run.arrays.setdefault("infinity", np.asarray(1e30))
            for definition in claim.definitions().values():
                run.define(definition)
            claimed = run.term(claim.claimed.body, claim.claimed.vars)
            derived = run.term(claim.derived.body, claim.derived.vars)
        except (ZeroDivisionError, SymresError, IndexError, FloatingPointError):
            return None
    if not (np.all(np.isfinite(claimed)) and np.all(np.isfinite(derived))):
        return None
    return claimed, derived


def _dtype(claim: Claim, name: str) -> Any:
    return int if claim.inputs()[name].kind in ("int", "bool") else float


def differ(claimed: Any, derived: Any) -> bool:
    """Whether two arrays differ beyond rounding."""
    scale = max(1.0, float(np.max(np.abs(derived), initial=0.0)), float(np.max(np.abs(claimed), initial=0.0)))
    return bool(np.max(np.abs(np.asarray(claimed) - np.asarray(derived)), initial=0.0) > _TOLERANCE * scale)


def varied_sizes(names: list[str], seed: int, count: int, largest: int = 7) -> Iterator[dict[str, int]]:
    """Random sizes, some of them far apart: near each other they hide strides, windows and counts."""
    rng = random.Random(seed)
    for _ in range(count):
        yield {name: rng.choice((rng.randint(1, 3), rng.randint(2, largest))) for name in names}


def seen(claim: Claim, fixed: Mapping[str, int] | None = None) -> tuple[int, bool]:
    """How many random real points were tried, and whether the gradients differed at one of them."""
    names = [name for name in symbols(claim) if name not in (fixed or {})]
    tried = 0
    for seed, chosen in enumerate(varied_sizes(names, 1, _MOST_POINTS)):
        sizes = {**chosen, **(fixed or {})}
        values = draw(claim, sizes, seed, real=True)
        if values is None:
            continue
        found = floats(claim, sizes, values)
        if found is None:
            continue
        tried += 1
        if differ(*found):
            return tried, True
        if tried >= _ENOUGH_POINTS:
            break
    return tried, False


def find(claim: Claim, fixed: Mapping[str, int] | None = None) -> Witness | None:
    """The smallest counterexample, confirmed in exact arithmetic, or None.

    Points at which floating point sees a difference come first; a few others follow, since a guard such as 1e-12 is seen
    by exact arithmetic only.
    """
    document = _document(claim)
    for visible, most in ((True, 600), (False, 12)):
        names = [name for name in symbols(claim) if name not in (fixed or {})]
        for chosen in itertools.islice(size_choices(names), most):
            sizes = {**chosen, **(fixed or {})}
            for seed in range(_TRIES):
                values = draw(claim, sizes, seed)
                if values is None:
                    break
                found = floats(claim, sizes, values)
                if found is None or differ(*found) != visible:
                    continue
                witness = _confirm(claim, document, sizes, values)
                if witness is not None:
                    return witness
    return None


def largest_difference(claim: Claim, fixed: Mapping[str, int] | None = None) -> float:
    """The largest difference over the largest entry, at random points."""
    names = [name for name in symbols(claim) if name not in (fixed or {})]
    worst = 0.0
    for seed, chosen in enumerate(varied_sizes(names, 4, 12, largest=4)):
        values = draw(claim, {**chosen, **(fixed or {})}, seed, real=True)
        found = None if values is None else floats(claim, {**chosen, **(fixed or {})}, values)
        if found is not None:
            scale = float(np.max(np.abs(found[1]), initial=0.0)) or 1.0
            worst = max(worst, float(np.max(np.abs(found[0] - found[1]), initial=0.0)) / scale)
    return worst


def _document(claim: Claim) -> dict[str, Any]:
    parts: list[Program | Definition] = [claim.program, *claim.extra.values(), claim.claimed]
    return definitions_document(parts, also=claim.inputs().values())


def _confirm(
    claim: Claim, document: dict[str, Any], sizes: Mapping[str, int], values: Mapping[str, Any]
) -> Witness | None:
    try:
        exact = Values(document, sizes, {name: array.tolist() for name, array in values.items()})
        claimed = exact.table(claim.claimed.tensor.name)
        expected = exact.gradient(tuple(claim.upstream), tuple(t.name for t in claim.upstream.values()), claim.wrt)
    except (Undefined, TooLarge, Refused):
        return None
    for place, (left, right) in enumerate(zip(claimed.values, expected.values, strict=True)):
        if _differ_exactly(left, right):
            index = tuple(int(k) for k in np.unravel_index(place, claimed.shape)) if claimed.shape else ()
            inputs = {name: _plain(array) for name, array in values.items()}
            return Witness(dict(sizes), inputs, index, shown(left), shown(right))
    return None


def _differ_exactly(left: Fraction | Ball, right: Fraction | Ball) -> bool:
    """Whether two exact values, or two enclosures, have nothing in common."""
    (left_middle, left_error), (right_middle, right_error) = _enclosure(left), _enclosure(right)
    return abs(left_middle - right_middle) > left_error + right_error


def _enclosure(value: Fraction | Ball) -> tuple[Fraction, Fraction]:
    return (value, Fraction(0)) if isinstance(value, Fraction) else (value.midpoint, value.error)


def shown(value: Fraction | Ball) -> str:
    """A fraction as itself, another number by its first certain decimals."""
    if isinstance(value, Fraction):
        return str(value)
    return "0" if value.contains_zero else value.decimal(12)


def _plain(array: Any) -> Any:
    def one(value: Any) -> Any:
        return int(value) if Fraction(value).denominator == 1 else str(Fraction(value))

    return one(array.item()) if array.ndim == 0 else np.vectorize(one, otypes=[object])(array).tolist()
