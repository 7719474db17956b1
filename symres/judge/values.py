"""Exact values of definitions at given sizes and inputs: what a counterexample shows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from symres.judge.arithmetic import Exact
from symres.judge.ball import Ball, Balls
from symres.judge.claims import slope
from symres.judge.evaluate import Evaluator, Table, integer_evaluator
from symres.judge.faults import NotRational, Refused, Undecided
from symres.judge.points import unknown_functions
from symres.judge.reader import build
from symres.judge.syntax import Certificate

Number = Fraction | Ball
MOST_BITS = 6400


class Values:
    """The entries of the definitions of a certificate, its claims left aside, at given sizes and inputs.

    A value is a :class:`~fractions.Fraction` where it is rational and comes about by rational steps, else a
    :class:`Ball`; ``str(value)`` or ``value.decimal(n)`` print it. Unknown functions are polynomials with small integer
    coefficients.

    Args:
        document: a parsed certificate; its hash is not compared.
        sizes: the value of each size.
        inputs: the entries of each input as nested lists of integers or fractions; a number for a scalar. ``pi`` and
            ``infinity`` need not be given.
        seed: of the coefficients of unknown functions.
        bits: the precision of balls.

    Raises:
        Refused: if the document breaks a rule of its format, or an input is missing or has another shape.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        sizes: Mapping[str, int],
        inputs: Mapping[str, Any],
        *,
        seed: int = 0,
        bits: int = 400,
    ) -> None:
        self.certificate: Certificate = build(dict(document))
        self._seed, self._bits = seed, bits
        for name in self.certificate.sizes:
            if sizes.get(name, 0) < 1:
                raise Refused(f"sizes.{name}", "a positive integer is expected")
        self._sizes = dict(sizes)
        self._inputs: dict[str, Table[Fraction]] = {}
        integers = integer_evaluator(self.certificate, self._sizes)
        for name, declared in self.certificate.tensors.items():
            if name not in inputs and name in ("pi", "infinity"):
                continue
            if name not in inputs:
                raise Refused(f"inputs.{name}", "it is missing")
            shape = tuple(map(integers.integer, declared.dims))
            self._inputs[name] = Table(shape, list(_flat(f"inputs.{name}", inputs[name], shape)))
            if declared.kind in ("bool", "int"):
                integers.give(name, Table(shape, [value.numerator for value in self._inputs[name].values]))
        self._integers = integers
        self._evaluators: dict[int, Evaluator[Any]] = {}

    def table(self, name: str) -> Table[Number]:
        """The entries of a definition or of an input.

        Raises:
            Undefined: if one of them does not exist.
        """
        needed = self.certificate.uses((), (name,)).names

        def entries(evaluator: Evaluator[Any]) -> Table[Any]:
            evaluator.prepare(needed)
            return evaluator.table(name)

        return self._exactly(entries)

    def gradient(self, outputs: Sequence[str], upstream: Sequence[str], wrt: str) -> Table[Number]:
        """The gradient of Σ upstream · outputs with respect to ``wrt``, by dual numbers, one entry after the other.

        Raises:
            Undefined: if a value does not exist.
        """

        def entries(evaluator: Evaluator[Any]) -> Table[Any]:
            evaluator.prepare(self.certificate.uses((), (*outputs, *upstream, wrt)).names)
            shape = evaluator.table(wrt).shape
            zero, one = evaluator.arithmetic.number(0), evaluator.arithmetic.number(1)
            number = prod(shape)
            directions = ([one if k == place else zero for k in range(number)] for place in range(number))
            return Table(shape, [slope(evaluator, outputs, upstream, wrt, direction) for direction in directions])

        return self._exactly(entries)

    def _exactly(self, entries: Callable[[Evaluator[Any]], Table[Any]]) -> Table[Number]:
        """The entries as rational numbers, else as balls, of a higher precision where a jump asks for it."""
        try:
            return entries(self._evaluator(0))
        except NotRational:
            pass
        bits = self._bits
        while True:
            try:
                return entries(self._evaluator(bits))
            except Undecided:
                bits *= 2
                if bits > MOST_BITS:
                    raise

    def _evaluator(self, bits: int) -> Evaluator[Any]:
        if bits not in self._evaluators:
            arithmetic: Any = Balls(bits) if bits else Exact()
            tables = {
                name: Table(table.shape, [arithmetic.number(value) for value in table.values])
                for name, table in self._inputs.items()
            }
            self._evaluators[bits] = Evaluator(
                self.certificate,
                arithmetic,
                self._sizes,
                tables,
                unknowns=unknown_functions(
                    self.certificate, arithmetic, self._integers, self._coefficient(arithmetic), sines=False
                ),
                integers=self._integers,
                elsewhere=lambda name: self._constant(arithmetic, name),
            )
        return self._evaluators[bits]

    def _constant(self, arithmetic: Any, name: str) -> Table[Any] | None:
        """π and infinity, which are not among the inputs."""
        if name in self.certificate.definitions:
            return None
        return Table((), [arithmetic.constants(random.Random(self._seed))[name]])

    def _coefficient(self, arithmetic: Any) -> Callable[[tuple[Any, ...]], Any]:
        """Small integers other than 0, the same in every arithmetic."""
        return lambda key: arithmetic.number(random.Random(f"{self._seed} {key}").choice((-3, -2, -1, 1, 2, 3)))


def _flat(place: str, value: Any, shape: tuple[int, ...]) -> Iterable[Fraction]:
    if not shape:
        if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
            raise Refused(place, f"an integer or a fraction is expected, not {value!r}")
        yield Fraction(value)
        return
    if not isinstance(value, Sequence) or len(value) != shape[0]:
        raise Refused(place, f"a list of length {shape[0]} is expected")
    for k, part in enumerate(value):
        yield from _flat(f"{place}[{k}]", part, shape[1:])
