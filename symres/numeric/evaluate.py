"""Terms and programs at concrete sizes and inputs, straight from the definitions of the nodes.

This is the slow and plain reading that generated code is compared with: each subterm becomes an array with one axis for
each index variable in scope, sums are sums over the last axis, nothing is rearranged. It holds whole outer products, so
it is meant for small sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from symres.errors import Undefined, Unsupported, UsageError
from symres.kernel.terms import (
    Add,
    Apply,
    Entry,
    Fun,
    Iverson,
    Lam,
    Maximum,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Term,
    Var,
)
from symres.language.constants import VALUES
from symres.language.functions import FUNCTIONS, derivative_name
from symres.language.program import Axis, Definition, Program, Value
from symres.numeric.atoms import ATOMS

Array = npt.NDArray[Any]
Functions = Mapping[str, Callable[..., Any]]
Context = tuple[Var, ...]


class Evaluation:
    """Where terms get their values.

    Args:
        arrays: the entries of each tensor, by name, one axis for each index.
        sizes: the value of each symbolic size, by name.
        functions: unknown functions by name: elementwise ones (``f``, ``f'``) take arrays entry by entry; general ones
            take whole arrays, ``F`` gives the value and ``F.1`` the derivative by the first argument, the axes of the
            value before those of the argument (see :mod:`symres.language.functions` for the names).
        exact: rational numbers stay :class:`~fractions.Fraction` (for object arrays); otherwise they become floats.
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        sizes: Mapping[str, int],
        functions: Functions | None = None,
        *,
        exact: bool = False,
    ) -> None:
        constants = {tensor.name: value for tensor, value in VALUES.items()}
        self.arrays = {name: np.asarray(array) for name, array in {**constants, **arrays}.items()}
        self.sizes, self.functions, self.exact = dict(sizes), dict(functions or {}), exact
        self._done: dict[tuple[Term, Context], Array] = {}

    def term(self, term: Term, variables: Sequence[Var] = ()) -> Array:
        """The array ``term`` over the ranges of ``variables``, one axis each.

        Raises:
            UsageError: for a variable, a size, a tensor or a function without a value.
            Undefined: for the maximum of nothing.
        """
        context = tuple(variables)
        shape = tuple(self.range(var) for var in context)
        self._done.clear()
        return np.array(np.broadcast_to(self.visit(term, context), shape))

    def value(self, value: Value) -> Array:
        """A whole array in its NumPy shape."""
        return self.term(value.body, value.vars).reshape(tuple(self.length(axis) for axis in value.axes))

    def define(self, definition: Definition) -> None:
        """Compute a definition; later terms may use it."""
        self.arrays[definition.tensor.name] = self.term(definition.body, definition.vars)

    def integer(self, term: Term) -> int:
        """The value of a term over sizes alone."""
        return int(self.visit(term, ()))

    def length(self, axis: Axis) -> int:
        """The length of a NumPy axis."""
        return int(np.prod([self.integer(size) for size in axis], dtype=int))

    def range(self, var: Var) -> int:
        """The number of values of an index variable.

        Raises:
            Unsupported: if the range depends on another index variable.
        """
        if var.dim.free:
            raise Unsupported(f"the range of {var.name} depends on another index")
        return self.integer(var.dim)

    def visit(self, term: Term, context: Context) -> Array:
        """The value with one axis for each variable of the context, of length 1 where it plays no part."""
        key = (term, context)
        if key not in self._done:
            self._done[key] = _value(term, self, context)
        return self._done[key]

    def number(self, value: Fraction) -> int | float | Fraction:
        """A rational number in the arithmetic of this evaluation."""
        if value.denominator == 1:
            return value.numerator
        return value if self.exact else float(value)


@singledispatch
def _value(term: Term, run: Evaluation, context: Context) -> Array:
    raise Unsupported(f"no value is defined for a {type(term).__name__}")


def _constant(value: Any, context: Context) -> Array:
    return np.asarray(value).reshape((1,) * len(context))


@_value.register
def _(term: Num, run: Evaluation, context: Context) -> Array:
    return _constant(run.number(term.value), context)


@_value.register
def _(term: Size, run: Evaluation, context: Context) -> Array:
    if term.name not in run.sizes:
        raise UsageError(f"the size {term.name} has no value")
    return _constant(run.sizes[term.name], context)


@_value.register
def _(term: Var, run: Evaluation, context: Context) -> Array:
    if term not in context:
        raise UsageError(f"the index {term.name} is free and has no value")
    place = max(k for k, var in enumerate(context) if var is term)  # the innermost binder counts
    return np.arange(run.range(term)).reshape([-1 if k == place else 1 for k in range(len(context))])


@_value.register
def _(term: Entry, run: Evaluation, context: Context) -> Array:
    if term.tensor.name not in run.arrays:
        raise UsageError(f"the tensor {term.tensor.name} has no value")
    array = run.arrays[term.tensor.name]
    if array.ndim != len(term.args):
        raise UsageError(f"{term.tensor.name} has {len(term.args)} axes, its array has {array.ndim}")
    if not term.args:
        return _constant(array, context)
    indices = [run.visit(arg, context).astype(int) for arg in term.args]
    inside = np.logical_and.reduce(
        np.broadcast_arrays(*[(k >= 0) & (k < n) for k, n in zip(indices, array.shape, strict=True)])
    )
    if inside.all():
        return np.asarray(array[tuple(indices)])
    if not all(array.shape):
        return np.zeros_like(inside, dtype=array.dtype)
    clipped = tuple(np.clip(k, 0, n - 1) for k, n in zip(indices, array.shape, strict=True))
    return np.where(inside, array[clipped], np.zeros((), array.dtype))


@_value.register
def _(term: Add, run: Evaluation, context: Context) -> Array:
    first, *rest = (run.visit(arg, context) for arg in term.args)
    total: Array = sum(rest, first)
    return total


@_value.register
def _(term: Mul, run: Evaluation, context: Context) -> Array:
    product, *rest = (run.visit(arg, context) for arg in term.args)
    for factor in rest:
        product = product * factor
    return product


@_value.register
def _(term: Pow, run: Evaluation, context: Context) -> Array:
    base, exponent = run.visit(term.base, context), term.exponent
    if run.exact:
        return np.asarray(base.astype(object) + Fraction(0)) ** (
            exponent if exponent.denominator > 1 else int(exponent)
        )
    if exponent.denominator == 1 and exponent > 0:
        return base ** int(exponent)
    base = base if np.iscomplexobj(base) else base.astype(float)
    return np.asarray(base ** float(exponent))


@_value.register
def _(term: Sum, run: Evaluation, context: Context) -> Array:
    body, length = run.visit(term.body, (*context, term.var)), run.range(term.var)
    return np.asarray(body.sum(axis=-1) if body.shape[-1] == length else body[..., 0] * length)


@_value.register
def _(term: Maximum, run: Evaluation, context: Context) -> Array:
    if run.range(term.var) == 0:
        raise Undefined(f"the maximum over {term.var.name} is over nothing")
    body = run.visit(term.body, (*context, term.var))
    if not np.iscomplexobj(body):
        return np.asarray(body.max(axis=-1))
    # The complex step follows the branch that the real parts choose.
    return np.take_along_axis(body, body.real.argmax(axis=-1)[..., None], axis=-1)[..., 0]


@_value.register
def _(term: Iverson, run: Evaluation, context: Context) -> Array:
    arg = run.visit(term.arg, context)
    return ((arg == 0) if term.rel == "=" else (arg >= 0)).astype(int)


@_value.register
def _(term: Fun, run: Evaluation, context: Context) -> Array:
    args = [run.visit(arg, context) for arg in term.args]
    row, function = FUNCTIONS.get(term.name), ATOMS.get(term.name)
    if function is None and row is not None and row.definition is not None:
        return run.visit(row.definition(*term.args), context)
    function = run.functions.get(term.name) if row is None else function
    if function is None:
        raise UsageError(f"the function {term.name} has no value")
    return np.asarray(function(*args))


@_value.register
def _(term: Apply, run: Evaluation, context: Context) -> Array:
    name = term.name
    for position, _ in sorted(term.derivatives, key=lambda pair: pair[0]):
        name = derivative_name(name, position, 2)  # named by position also where there is one argument
    if name not in run.functions:
        raise UsageError(f"the function {name} has no value")
    outer = tuple(var for var in context if any(var in argument.free for argument in term.arguments))
    indices = [*term.outs, *(k for _, ks in sorted(term.derivatives, key=lambda pair: pair[0]) for k in ks)]
    places = [run.visit(index, context).astype(int) for index in indices]
    arguments = [_whole(argument, run, outer) for argument in term.arguments]
    cells = tuple(run.range(var) for var in outer)
    results = [np.asarray(run.functions[name](*(array[cell] for array in arguments))) for cell in np.ndindex(*cells)]
    table = np.array(results).reshape(cells + results[0].shape)
    return table[tuple(run.visit(var, context) for var in outer) + tuple(places)] if cells or places else table


def _whole(argument: Lam, run: Evaluation, outer: Context) -> Array:
    """The argument of a general function as an array, for each value of the outer variables."""
    context = (*outer, *argument.vars)
    return np.broadcast_to(run.visit(argument.body, context), tuple(run.range(var) for var in context))


def evaluate(
    program: Program,
    arrays: Mapping[str, Any],
    sizes: Mapping[str, int],
    functions: Functions | None = None,
    *,
    extra: Sequence[Definition] = (),
    exact: bool = False,
) -> Evaluation:
    """Run a program on arrays in their NumPy shapes, then the ``extra`` definitions (adjoints, say).

    ``sizes`` are those of :func:`symres.numeric.sizes.sizes_of`.

    The result's :meth:`Evaluation.value` gives outputs and its ``arrays`` the intermediates.
    """
    run = Evaluation({}, sizes, functions, exact=exact)
    for name, array in arrays.items():
        tensor = program.inputs.get(name)
        shape = tuple(run.integer(dim) for dim in tensor.dims) if tensor is not None else np.shape(array)
        run.arrays[tensor.name if tensor is not None else name] = np.asarray(array).reshape(shape)
    for definition in (*program.definitions.values(), *extra):
        run.define(definition)
    return run
