"""Where claims are tried: concrete sizes, and random entries and functions at these sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any, Protocol, TypeVar

from symres.judge import noderules as noderules  # enters the rules
from symres.judge.arithmetic import Arithmetic
from symres.judge.evaluate import LARGEST_GRID, Evaluator, Table, integer_evaluator
from symres.judge.faults import TooLarge, Undefined
from symres.judge.syntax import Apply, Certificate, Lambda, Max, Node, Sum, Uses
from symres.judge.unknown import Unknown

V = TypeVar("V")
PATTERNS = ((1,), (2, 3), (3, 2), (5, 4), (1, 3, 2), (2, 1, 3), (2,), (3, 1), (1, 2), (4, 1, 2), (1, 4))
LARGEST_SIZE, TRIES = 5, 60


class Drawing(Arithmetic[V], Protocol[V]):
    """An arithmetic that draws random numbers."""

    def draw(self, source: random.Random, kind: str) -> V:
        """A random number: ``real``, ``positive``, or a ``coefficient`` of an unknown function."""

    @property
    def sines(self) -> bool:
        """Whether unknown functions are made of sines."""

    def constants(self, source: random.Random) -> dict[str, V]:
        """The values of positive scalars that have a fixed meaning, by name."""


def size_choices(certificate: Certificate, source: random.Random) -> Iterator[dict[str, int]]:
    """Different values for the sizes: all 1 first, then mixed small ones, then random ones."""
    names, seen = certificate.sizes, set()
    random_ones = ([source.randint(1, LARGEST_SIZE) for _ in names] for _ in range(TRIES))
    fixed_ones = ([pattern[k % len(pattern)] for k in range(len(names))] for pattern in PATTERNS)
    for values in (*fixed_ones, *random_ones):
        if tuple(values) not in seen:
            seen.add(tuple(values))
            yield dict(zip(names, values, strict=True))


def work(certificate: Certificate, sizes: Mapping[str, int], uses: Uses) -> int | None:
    """How many values an evaluation of the terms computes; ``None`` where some axis has no positive integer length."""
    integers = integer_evaluator(certificate, sizes)
    axes = [certificate.axes(name) for name in uses.names]
    for function in certificate.functions.values():
        axes += [function.out, *function.args]
    try:
        if any(integers.integer(dim) < 1 for dims in axes for dim in dims):
            return None
        total = 1 + sum(prod(map(integers.integer, dims)) for dims in axes)
        for node in uses.nodes:
            bound = (node.var,) if isinstance(node, (Sum, Max)) else node.vars if isinstance(node, Lambda) else ()
            entries = [prod(map(integers.length, argument.vars)) for argument in arguments(node)]
            total += prod(map(integers.length, (*node.free, *bound))) * (1 + sum(entries))
        return total
    except Undefined:
        return None


def arguments(node: Node) -> tuple[Lambda, ...]:
    """The whole tensors that a node passes to an unknown function."""
    return node.arguments if isinstance(node, Apply) else ()


def draw_point(
    certificate: Certificate,
    arithmetic: Drawing[V],
    sizes: Mapping[str, int],
    source: random.Random,
) -> Evaluator[V]:
    """An evaluator at random entries of the inputs and with random unknown functions.

    Raises:
        Undefined: if the sizes give an axis no length, or an integer no values.
        TooLarge: if an input has too many entries.
    """
    integers = integer_evaluator(certificate, sizes)
    tables: dict[str, Table[V]] = {}
    for declared in certificate.tensors.values():
        shape = tuple(map(integers.integer, declared.dims))
        if prod(shape) > LARGEST_GRID:
            raise TooLarge(f"{declared.name} has {prod(shape)} entries")
        if declared.kind in ("bool", "int"):
            bound = None if declared.bound is None else integers.integer(declared.bound)
            whole = [draw_integer(source, bound) for _ in range(prod(shape))]
            integers.give(declared.name, Table(shape, whole))
            tables[declared.name] = Table(shape, [arithmetic.number(value) for value in whole])
        else:
            kind = "real" if declared.kind == "real" else "positive"
            tables[declared.name] = Table(shape, [arithmetic.draw(source, kind) for _ in range(prod(shape))])
    for name, value in arithmetic.constants(source).items():
        if name in certificate.tensors and is_constant(certificate, name):
            tables[name] = Table((), [value])
    unknowns = unknown_functions(
        certificate, arithmetic, integers, lambda key: arithmetic.draw(source, "coefficient"), sines=arithmetic.sines
    )
    return Evaluator(certificate, arithmetic, sizes, tables, unknowns=unknowns, integers=integers)


def unknown_functions(
    certificate: Certificate,
    arithmetic: Arithmetic[V],
    integers: Evaluator[Any],
    draw: Callable[[tuple[Any, ...]], V],
    *,
    sines: bool,
) -> dict[str, Unknown[V]]:
    """The unknown functions of a certificate; ``draw`` gives the coefficient of a name. See :class:`Unknown`."""
    return {
        name: Unknown(
            arithmetic,
            lambda key, name=name: draw((name, *key)),  # type: ignore[misc]
            tuple(map(integers.integer, function.out)),
            tuple(tuple(map(integers.integer, argument)) for argument in function.args),
            sines=sines,
        )
        for name, function in certificate.functions.items()
    }


def draw_integer(source: random.Random, bound: int | None) -> int:
    """An integer in [0, bound); without a bound 0 or 1, three times in four 1: a masked row seldom has nothing left.

    Raises:
        Undefined: if there is none.
    """
    if bound is None:
        return min(1, source.randrange(4))
    if bound < 1:
        raise Undefined("an integer input has no values")
    return source.randrange(bound)


def is_constant(certificate: Certificate, name: str) -> bool:
    """Whether the name is that of a positive scalar, as the constants are."""
    return certificate.tensors[name].kind == "positive" and not certificate.tensors[name].dims
