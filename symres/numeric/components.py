"""Plain SymPy on explicit components: sums written out, one symbol for each entry, SymPy's own derivative.

No index notation is left, so that SymPy's faults with bound indices cannot show; and nothing of the derivation is used
but the forward function's terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from symres.errors import Unsupported
from symres.kernel.terms import Add, Entry, Fun, Iverson, Maximum, Mul, Num, Pow, Size, Sum, Term, Var
from symres.language.constants import PI, VALUES
from symres.language.functions import FUNCTIONS
from symres.language.program import Program
from symres.numeric.evaluate import Evaluation
from symres.numeric.points import Point

Indices = Mapping[Var, int]


class Components:
    """A program at concrete sizes with a SymPy symbol for each entry of its inputs."""

    def __init__(self, program: Program, point: Point) -> None:
        import sympy

        self.sp = sympy
        self.run = Evaluation({}, point.sizes)
        self.entries: dict[tuple[str, tuple[int, ...]], Any] = {}
        self.symbols: dict[str, Any] = {}
        self.numbers: dict[Any, float] = {}
        for name, tensor in program.inputs.items():
            shape = tuple(self.run.integer(dim) for dim in tensor.dims)
            array = np.asarray(point.arrays[name]).reshape(shape)
            exact = tensor.kind in ("int", "bool")
            symbols = np.empty(shape, object)
            for place in np.ndindex(*shape):
                label = "_".join([name, *map(str, place)])
                symbols[place] = sympy.Integer(int(array[place])) if exact else sympy.Symbol(label, real=True)
                self.entries[tensor.name, place] = symbols[place]
                if not exact:
                    self.numbers[symbols[place]] = float(array[place])
            self.symbols[name] = symbols
        for tensor, definition in program.definitions.items():
            shape = tuple(self.run.range(var) for var in definition.vars)
            for place in np.ndindex(*shape):
                self.entries[tensor.name, place] = self.value(
                    definition.body, dict(zip(definition.vars, place, strict=True))
                )

    def value(self, term: Term, at: Indices) -> Any:
        """The expression of a term at concrete indices."""
        return _component(term, self, at)

    def integer(self, term: Term, at: Indices) -> int:
        """The value of an index term."""
        return int(self.value(term, at))


@singledispatch
def _component(term: Term, run: Components, at: Indices) -> Any:
    raise Unsupported(f"{type(term).__name__} is not written out in components")


@_component.register
def _(term: Num, run: Components, at: Indices) -> Any:
    return run.sp.Rational(term.value.numerator, term.value.denominator)


@_component.register
def _(term: Size, run: Components, at: Indices) -> Any:
    return run.sp.Integer(run.run.integer(term))


@_component.register
def _(term: Var, run: Components, at: Indices) -> Any:
    return run.sp.Integer(at[term])


@_component.register
def _(term: Entry, run: Components, at: Indices) -> Any:
    if term.tensor in VALUES:
        return run.sp.pi if term.tensor == PI else run.sp.Integer(int(VALUES[term.tensor]))
    place = tuple(run.integer(arg, at) for arg in term.args)
    return run.entries.get((term.tensor.name, place), run.sp.Integer(0))  # 0 out of range


@_component.register
def _(term: Add, run: Components, at: Indices) -> Any:
    return run.sp.Add(*(run.value(arg, at) for arg in term.args))


@_component.register
def _(term: Mul, run: Components, at: Indices) -> Any:
    product = run.sp.Integer(1)
    for arg in term.args:  # a bracket that is 0 ends it: what it guards may be undefined
        product *= run.value(arg, at)
        if product == 0:
            break
    return product


@_component.register
def _(term: Pow, run: Components, at: Indices) -> Any:
    return run.value(term.base, at) ** run.sp.Rational(term.exponent.numerator, term.exponent.denominator)


@_component.register
def _(term: Sum, run: Components, at: Indices) -> Any:
    return run.sp.Add(*(run.value(term.body, {**at, term.var: k}) for k in range(run.run.range(term.var))))


@_component.register
def _(term: Maximum, run: Components, at: Indices) -> Any:
    # The largest component at the point: off ties the maximum is that one nearby, too.
    values = [run.value(term.body, {**at, term.var: k}) for k in range(run.run.range(term.var))]
    return max(values, key=lambda value: float(value.subs(run.numbers)))


@_component.register
def _(term: Iverson, run: Components, at: Indices) -> Any:
    value = run.integer(term.arg, at)
    return run.sp.Integer(value == 0 if term.rel == "=" else value >= 0)


@_component.register
def _(term: Fun, run: Components, at: Indices) -> Any:
    row = FUNCTIONS.get(term.name)
    if row is None:
        raise Unsupported(f"the unknown function {term.name} is not written out in components")
    if row.sympy is None and row.definition is not None:
        return run.value(row.definition(*term.args), at)
    args = [run.value(arg, at) for arg in term.args]
    if term.name == "step":  # constant near the point, which is off the kink
        return run.sp.Integer(float(args[0].subs(run.numbers)) > 0)
    if row.sympy is None:
        raise Unsupported(f"{term.name} has no SymPy form")
    return row.sympy(run.sp, *args)


def gradients_by_components(program: Program, point: Point, names: list[str]) -> dict[str, Any]:
    """The gradients of Σ upstream · output by the named inputs, each in the input's NumPy shape.

    Raises:
        Unsupported: for unknown functions.
    """
    run = Components(program, point)
    loss = run.sp.Integer(0)
    for name, value in program.outputs.items():
        shape = tuple(run.run.range(var) for var in value.vars)
        weights = np.reshape(point.upstream[name], shape)
        for place in itertools.product(*map(range, shape)):
            entry = run.value(value.body, dict(zip(value.vars, place, strict=True)))
            loss += run.sp.Float(float(weights[place]), 17) * entry
    found = {}
    for name in names:
        slopes = [run.sp.diff(loss, symbol) for symbol in run.symbols[name].reshape(-1)]
        compute = run.sp.lambdify(list(run.numbers), slopes, modules="math", cse=True)
        found[name] = np.reshape(compute(*run.numbers.values()), np.shape(point.arrays[name]))
    return found
