"""Random sizes and inputs for cross-checks, away from kinks; and random unknown functions with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symres.errors import Unsupported
from symres.kernel.terms import Apply, Fun, Maximum, Pow, Size, Term, Var, walk
from symres.language.functions import FUNCTIONS, split_name
from symres.language.program import Program
from symres.numeric.evaluate import Evaluation, evaluate

MARGIN = 0.02
"""How far from a kink every argument of a step must be, and the largest entry from the second largest."""
_ATTEMPTS = 200


@dataclass(frozen=True)
class Point:
    """Concrete sizes, inputs in their NumPy shapes, upstream gradients by output, and unknown functions."""

    sizes: Mapping[str, int]
    arrays: Mapping[str, Any]
    upstream: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]]


def terms(program: Program) -> Iterator[Term]:
    """Every distinct subterm of a program's definitions and outputs."""
    seen: set[Term] = set()
    bodies = [definition.body for definition in program.definitions.values()]
    for body in (*bodies, *(value.body for value in program.outputs.values())):
        for node in walk(body):
            if node not in seen:
                seen.add(node)
                yield node


def has_unknown_functions(program: Program) -> bool:
    """Whether functions without a formula occur."""
    return any(
        isinstance(node, Apply) or (isinstance(node, Fun) and node.name not in FUNCTIONS) for node in terms(program)
    )


def symbols(program: Program) -> list[str]:
    """The names of the symbolic sizes."""
    axes = [dim for axes in program.axes.values() for axis in axes for dim in axis]
    dims = [dim for tensor in program.inputs.values() for dim in tensor.dims]
    return sorted({node.name for dim in (*axes, *dims) for node in walk(dim) if isinstance(node, Size)})


def points(program: Program, *, count: int = 4, largest: int = 5, seed: int = 0) -> Iterator[Point]:
    """Points at different sizes, where the outputs are finite: all sizes 1 if that is one, then random ones.

    Raises:
        Unsupported: if no point away from the kinks was found.
    """
    rng = np.random.default_rng(seed)
    names = symbols(program)
    # Plain evaluation holds an array over all indices of a sum: of many sizes each must be small.
    largest = min(largest, max(3, 7 - len(names)))
    for k in range(count):
        yield _point(program, names, rng, largest if k else 1)


def _point(program: Program, names: list[str], rng: np.random.Generator, largest: int) -> Point:
    for attempt in range(_ATTEMPTS):
        # Where all ones leave no room (a kernel wider than its input), sizes grow with the attempts.
        top = largest + min(attempt // 20, 3)
        sizes = {name: int(rng.integers(1, top + 1)) for name in names}
        if largest > 1 and max(sizes.values(), default=2) == 1:
            continue  # the point with all sizes 1 is there already
        try:
            point = _at(program, sizes, rng)
        except ValueError:
            continue
        if point is not None:
            return point
    raise Unsupported(f"no inputs of {program.name} away from kinks were found in {_ATTEMPTS} attempts")


def _at(program: Program, sizes: Mapping[str, int], rng: np.random.Generator) -> Point | None:
    run = Evaluation({}, sizes)
    arrays = {}
    for name, tensor in program.inputs.items():
        axes = program.axes.get(name, tuple((dim,) for dim in tensor.dims))
        bound = run.integer(tensor.bound) if tensor.bound is not None else 2
        arrays[name] = _KINDS[tensor.kind](rng, tuple(run.length(axis) for axis in axes), bound)
    functions = random_functions(program, sizes, rng)
    upstream = {
        name: rng.normal(size=tuple(run.length(axis) for axis in value.axes)) for name, value in program.outputs.items()
    }
    with np.errstate(all="ignore"):
        run = evaluate(program, arrays, sizes, functions)
        defined = all(np.isfinite(run.value(value)).all() for value in program.outputs.values())
        if not defined or distance_to_kinks(program, run) < MARGIN:
            return None
    return Point(dict(sizes), arrays, upstream, functions)


_KINDS: dict[str, Callable[[np.random.Generator, tuple[int, ...], int], Any]] = {
    "real": lambda rng, shape, bound: rng.normal(size=shape),
    "positive": lambda rng, shape, bound: rng.uniform(0.3, 1.7, size=shape),
    "nonnegative": lambda rng, shape, bound: rng.uniform(0.3, 1.7, size=shape),
    "bool": lambda rng, shape, bound: rng.integers(0, 2, size=shape).astype(bool),
    "int": lambda rng, shape, bound: rng.integers(0, bound, size=shape),
}


def distance_to_kinks(program: Program, run: Evaluation) -> float:
    """The smallest argument of a step or base of a root, in absolute value, and gap of the two largest under a maximum."""
    nearest = np.inf
    for node in terms(program):
        if isinstance(node, Fun) and node.name in ("step", "eq0"):
            values = np.abs(run.term(node.args[0], _order(node.args[0])))
        elif isinstance(node, Pow) and node.exponent.denominator != 1:
            values = np.abs(run.term(node.base, _order(node.base)))
        elif isinstance(node, Maximum):
            # the index of the maximum is the last axis
            values = np.sort(run.term(node.body, (*_order(node), node.var)), axis=-1)
            values = values[..., -1] - values[..., -2] if values.shape[-1] > 1 else np.array([])
        else:
            continue
        if values.size:
            nearest = min(nearest, float(values.min()))
    return nearest


def _order(term: Term) -> tuple[Var, ...]:
    return tuple(sorted(term.free, key=lambda var: var.uid))


def random_functions(
    program: Program, sizes: Mapping[str, int], rng: np.random.Generator
) -> dict[str, Callable[..., Any]]:
    """Smooth random functions for the unknown names of a program, with first and second derivatives.

    An elementwise f(u) is sin(a u + c) + u/2; a general F(x, W, …) is sin(A vec(x, W, …) + c), entry by entry.
    """
    run = Evaluation({}, sizes)
    found: dict[str, Callable[..., Any]] = {}
    for node in terms(program):
        if isinstance(node, Fun) and node.name not in FUNCTIONS:
            name, _ = split_name(node.name)
            if name not in found:
                found |= _elementwise(name, len(node.args), rng)
        elif isinstance(node, Apply) and node.name not in found:
            out = tuple(run.integer(dim) for dim in node.dims)
            shapes = [tuple(run.range(var) for var in argument.vars) for argument in node.arguments]
            found |= _general(node.name, out, shapes, rng)
    return found


def _elementwise(name: str, arity: int, rng: np.random.Generator) -> dict[str, Callable[..., Any]]:
    if arity > 1:
        raise Unsupported(f"no random function of {arity} arguments is made for {name}")
    a, c = rng.uniform(0.5, 1.5), rng.normal()
    return {
        name: lambda u: np.sin(a * u + c) + u / 2,
        f"{name}'": lambda u: a * np.cos(a * u + c) + 1 / 2,
        f"{name}''": lambda u: -(a**2) * np.sin(a * u + c),
    }


def _general(
    name: str, out: tuple[int, ...], shapes: list[tuple[int, ...]], rng: np.random.Generator
) -> dict[str, Callable[..., Any]]:
    lengths = [int(np.prod(shape, dtype=int)) for shape in shapes]
    matrices = [rng.normal(size=(int(np.prod(out, dtype=int)), length)) / max(1, length) ** 0.5 for length in lengths]
    shift = rng.normal(size=matrices[0].shape[0])

    def inside(args: tuple[Any, ...]) -> Any:
        return shift + sum(m @ np.reshape(arg, -1) for m, arg in zip(matrices, args, strict=True))

    def derivative(*positions: int) -> Callable[..., Any]:
        def value(*args: Any) -> Any:
            wave = (np.sin, np.cos, lambda u: -np.sin(u))[len(positions)](inside(args))
            for depth, position in enumerate(positions):
                factor = matrices[position].reshape(len(shift), *(1,) * depth, lengths[position])
                wave = wave[..., None] * factor
            return wave.reshape(*out, *(n for position in positions for n in shapes[position]))

        return value

    count = range(len(shapes))
    return {
        name: derivative(),
        **{f"{name}.{p + 1}": derivative(p) for p in count},
        **{f"{name}.{p + 1}.{q + 1}": derivative(p, q) for p in count for q in count if p <= q},
    }
