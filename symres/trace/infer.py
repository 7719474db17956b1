"""Shapes that nobody gave: the functions are traced with every axis of its own size, and sizes that must agree are put
equal, until the trace goes through.

Ranks are tried in an order that follows the text (``N, D = x.shape``, docstrings) and the names of the arguments; the
first choice for which every claimed gradient has the shape of its variable wins, else the one with the fewest that do
not. Integer arguments are tried as sizes, labels as integers below a size.
"""

from __future__ import annotations

import inspect
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from symres.errors import SymresError, Unsupported, UsageError
from symres.kernel.terms import Entry, Size, Term, Var, mul, walk
from symres.language.program import Axis, Value
from symres.language.shapes import Shape
from symres.trace.arguments import Sizes, missing
from symres.trace.axes import length
from symres.trace.hints import Hint, hints
from symres.trace.layers import Functions, Layer
from symres.trace.polynomials import index, same
from symres.trace.signals import NeedsConcreteSizes, Notes

Attempt = Callable[[Mapping[str, Shape], Sizes], tuple[Any, Sizes, Notes]]

_MOST_TRIALS = 150
_MORE_TRIALS = 20
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_SECONDS = 12.0
_RANKS = (
    (r"(b|bias|beta|gamma|scale|shift|g|gain|alpha)\d*|b_?\w|bias_\w+|\w+_bias", (1, 2, 0)),
    (r"(W|w|weights?|kernel|filters?|U|V|theta)\d*|[wW]_?\w{1,3}|ker", (2, 1, 4, 3)),
    (r"eps|epsilon|lr|momentum|temperature|tau|p|rate|slope|reg|lam|lambda_", (0,)),
    (r"(x|X|inputs?|data|img|images?|feats?|z|h|a|scores?|logits?|q|k|v|query|key|value|src)\d*", (2, 4, 3, 1)),
)
_ANY_RANK = (2, 1, 0, 3, 4)
_LABELS = re.compile(r"y|labels?|targets?|t|ids?|idx|indices|tokens?|classes|y_?true|words?|ix")
_COUNTS = re.compile(
    r"n|m|d|k|[nN]_\w+|num_\w+|dims?|d_\w+|\w+_dims?|\w+_size|size|in_\w+|out_\w+|hidden\w*|\w*features|\w*channels|"
    r"[A-UZ]|groups?|heads?|n_?heads|width|depth|features|channels|units|vocab\w*|kernel_size|stride|pad|padding|step"
)
_NOT_ARRAYS = re.compile(r"mode|train\w*|is_train\w*|\w*param|\w*params|config|cfg|activation|act|kind|method|\w*_fn|f")
_LETTERS = {1: ("D",), 2: ("N", "D"), 3: ("B", "T", "D"), 4: ("N", "C", "H", "W")}
_MORE = ("M", "K", "P", "Q", "R", "S", "U", "V", "E", "F", "L")


@dataclass
class Trial:
    """One success: the shapes, how many gradients have another shape than their variable, how many axes of one argument
    had to be equal.
    """

    shapes: dict[str, Shape]
    faults: int
    squares: int

    @property
    def doubt(self) -> tuple[int, int]:
        """What speaks against it: the less the better."""
        return self.faults, self.squares


def infer(
    layer: Functions, attempt: Attempt, known: Mapping[str, Shape], parameters: Sequence[inspect.Parameter]
) -> dict[str, Shape]:
    """Shapes for the parameters that have none, beside the known ones.

    Raises:
        UsageError: if nothing that was tried lets the functions run; it says what to pass.
    """
    functions = [layer.forward, *([layer.cls.__init__] if isinstance(layer, Layer) else [])]  # type: ignore[misc]
    told = hints(functions)
    names = [parameter.name for parameter in parameters]
    choices = [
        _choices(parameter, told.get(parameter.name, Hint()), isinstance(layer, Layer)) for parameter in parameters
    ]
    if not all(choices):
        raise missing(names[next(k for k, one in enumerate(choices) if not one)], layer.name)
    problem: SymresError | None = None
    for concrete in (False, True):
        best: Trial | None = None
        unrolled, more = False, _MORE_TRIALS
        stop = time.monotonic() + _SECONDS
        for chosen in itertools.islice(_by_likelihood(choices), _MOST_TRIALS):
            shapes = {**known, **dict(zip(names, chosen, strict=True))}
            try:
                trial = _tried(attempt, shapes, known, told, concrete)
            except (UsageError, Unsupported) as reason:
                problem = problem or reason
                unrolled |= isinstance(reason, NeedsConcreteSizes)
            else:
                best = trial if best is None or trial.doubt < best.doubt else best
            more -= best is not None and not best.faults
            if time.monotonic() > stop or more == 0 or (best is not None and best.doubt == (0, 0)):
                break
        if best is not None:
            return best.shapes
        if not unrolled:
            break
    raise UsageError(
        f"the shapes of {', '.join(names)} could not be inferred" + (f": {problem.message}" if problem else ""),
        remedy=f'Pass shapes="{names[0]}: N D, …" (and set for arguments that are no arrays).',
        place=problem.place if problem else None,
    )


def _choices(parameter: inspect.Parameter, hint: Hint, constructor: bool) -> list[Shape]:
    """The shapes to try for a parameter, likeliest first."""
    name = parameter.name
    if _NOT_ARRAYS.fullmatch(name) or parameter.annotation in (str, bool, dict, "str", "bool", "dict"):
        return []
    arrays = [_fresh(name, rank) for rank in _ranks(name, hint)]
    counts = [Shape(kind="size")] if hint.rank is None and not hint.least else []
    if parameter.annotation in (int, "int") or (counts and _COUNTS.fullmatch(name)):
        return counts + ([] if parameter.annotation in (int, "int") else arrays)
    if _LABELS.fullmatch(name):
        labels = [Shape(_fresh(name, rank).axes, "int", Size(f"{name}_bound")) for rank in (1, 2) if rank >= hint.least]
        return [*labels, *arrays]
    return arrays + (counts if constructor else [])


def _ranks(name: str, hint: Hint) -> list[int]:
    likely = next((ranks for pattern, ranks in _RANKS if re.fullmatch(pattern, name)), _ANY_RANK)
    ordered = dict.fromkeys([*likely, *_ANY_RANK])
    if hint.rank is not None:
        return [hint.rank, *(rank for rank in ordered if rank != hint.rank)]
    return [rank for rank in ordered if rank >= hint.least]


def _fresh(name: str, rank: int) -> Shape:
    return Shape(tuple((Size(f"{name}_{axis}"),) for axis in range(rank)))


def _by_likelihood(choices: Sequence[Sequence[Shape]]) -> Iterator[tuple[Shape, ...]]:
    """All combinations, those of likely choices first."""
    ranges = [range(len(one)) for one in choices]
    most = sum(len(one) - 1 for one in ranges)
    for total in range(most + 1):
        for picked in _summing(ranges, total):
            yield tuple(one[k] for one, k in zip(choices, picked, strict=True))


def _summing(ranges: Sequence[range], total: int) -> Iterator[tuple[int, ...]]:
    if not ranges:
        if total == 0:
            yield ()
        return
    for k in ranges[0]:
        if k <= total:
            yield from ((k, *rest) for rest in _summing(ranges[1:], total - k))


def _tried(
    attempt: Attempt,
    shapes: Mapping[str, Shape],
    known: Mapping[str, Shape],
    told: Mapping[str, Hint],
    concrete: bool,
) -> Trial:
    """Trace with open sizes; with distinct primes for them where the code needs numbers."""
    own = {size for name, shape in shapes.items() if name not in known for size in _sizes(shape)}
    own |= {name for name, shape in shapes.items() if name not in known and shape.kind == "size"}
    numbers: dict[str, int] = {}
    if concrete:
        every = dict.fromkeys(size for shape in shapes.values() for size in _sizes(shape))
        numbers = dict(zip((*every, *sorted(own - set(every))), _PRIMES, strict=False))
    result, sizes, notes = attempt(shapes, Sizes(numbers, open=frozenset(own)))
    sizes = _bounded(sizes, notes)
    # Only a pair of functions claims gradients; the trace of one function is a program.
    claimed: Mapping[str, Value] = getattr(result, "claimed", {})
    faults = sum(not _alike(value.axes, result.program.axes[name]) for name, value in claimed.items())
    # Labels that index nothing are no labels.
    faults += sum(shape.kind == "int" and _loose(shape.bound, own, sizes) for shape in shapes.values())
    named = _named(shapes, sizes, known, told)
    return Trial(named, faults, sum(len(shape.dims) - len(set(shape.dims)) for shape in named.values()))


def _loose(bound: Term | None, own: Set[str], sizes: Sizes) -> bool:
    return isinstance(bound, Size) and bound.name in own and bound.name not in sizes.equal


def _alike(left: Sequence[Axis], right: Sequence[Axis]) -> bool:
    return len(left) == len(right) and all(same(length(a), length(b)) for a, b in zip(left, right, strict=True))


def _sizes(shape: Shape) -> list[str]:
    terms: list[Term] = [*shape.dims, *([] if shape.bound is None else [shape.bound])]
    return [node.name for term in terms for node in walk(term) if isinstance(node, Size)]


def _bounded(sizes: Sizes, notes: Notes) -> Sizes:
    """Ranges put equal to the axes that they index: the trace assumed that each index is less than the length.

    So labels get the bound of the axis that they index, and two axes that one loop runs over are the same.
    """
    for fact in notes.facts:
        for node in walk(fact):
            bound = node.tensor.bound if isinstance(node, Entry) else node.dim if isinstance(node, Var) else None
            total = index(fact + node + 1)
            if isinstance(bound, Size) and isinstance(total, Size):
                left, right = _solution(bound, sizes), _solution(total, sizes)
                sizes = sizes.equated(mul(*left), mul(*right)) or sizes
    return sizes


# ---------------------------------------------------------------- names for the sizes


def _named(
    shapes: Mapping[str, Shape], sizes: Sizes, known: Mapping[str, Shape], told: Mapping[str, Hint]
) -> dict[str, Shape]:
    """The shapes with sizes put equal, and letters for those that are left."""
    solved = {
        name: replace(shape, bound=mul(*_solution(Size(name), sizes)))
        if shape.kind == "size" and shape.bound is None and name in sizes.equal
        else shape.read(lambda term: _solution(term, sizes))
        for name, shape in shapes.items()
    }
    taken = {size for shape in known.values() for size in _sizes(shape)}
    taken |= {name for name, shape in solved.items() if shape.kind == "size" and shape.bound is None}
    letters: dict[str, str] = {size: size for size in taken}
    wishes = _wishes(solved, shapes, told)
    for shape in solved.values():
        for size in _sizes(shape):
            if size not in letters:
                wanted = [*wishes.get(size, ()), *_MORE, *(f"K{k}" for k in range(1, 99))]
                letters[size] = next(letter for letter in wanted if letter not in letters.values())
    return {name: shape.read(lambda term: _lettered(term, letters)) for name, shape in solved.items()}


def _solution(term: Term, sizes: Sizes) -> tuple[Term, ...]:
    parts = sizes.equal.get(term.name) if isinstance(term, Size) else None
    return (term,) if parts is None else tuple(atom for part in parts for atom in _solution(part, sizes))


def _lettered(term: Term, letters: Mapping[str, str]) -> tuple[Term, ...]:
    return (Size(letters[term.name]),) if isinstance(term, Size) else (term,)


def _wishes(solved: Mapping[str, Shape], shapes: Mapping[str, Shape], told: Mapping[str, Hint]) -> dict[str, list[str]]:
    """The names that the text or custom gives to sizes, first wish first."""
    wishes: dict[str, list[str]] = {}
    for from_text in (True, False):
        for name, shape in solved.items():
            letters = _LETTERS.get(len(shape.axes), ()) if shape.kind != "int" else ("N", "T")
            for position, axis in enumerate(shape.axes):
                wish = told.get(name, Hint()).names.get(position) if from_text else None
                if not from_text and position < len(letters):
                    wish = letters[position]
                if wish is not None and len(axis) == 1 and isinstance(axis[0], Size):
                    wishes.setdefault(axis[0].name, []).append(wish)
            if not from_text and isinstance(shape.bound, Size):
                wishes.setdefault(shape.bound.name, []).append("C")
    return wishes
