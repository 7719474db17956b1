"""A stack at one depth: the number of blocks becomes a number, every state an array of its own, for the numerical checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symres.calculus.reverse import reverse
from symres.derivation.document import Check
from symres.derivation.ledger import Ledger
from symres.derivation.notation import State
from symres.kernel.terms import (
    Apply,
    Binder,
    Entry,
    Lam,
    Num,
    Size,
    Tensor,
    Term,
    Var,
    substitute,
    sum_,
    walk,
)
from symres.language.formula import adjoint
from symres.language.program import Axis, Definition, Program, Value, unfold
from symres.numeric.crosscheck import Subject, accepted, crosscheck
from symres.numeric.evaluate import evaluate
from symres.numeric.points import points

_TOLERANCE = 1e-9
_METHODS = ("forward", "finite", "complex")
Side = Callable[..., Term]


class Unrolled:
    """The states and definitions of an induction at a depth.

    Args:
        named: states and definitions, each after what it is made of.
        depth: the number of blocks as a symbol.
        count: what it is.
    """

    def __init__(self, named: Sequence[State | Definition], depth: Size, count: int) -> None:
        self.depth, self.count = depth, count
        self.states = {each.tensor: each for each in named if isinstance(each, State)}
        self.layers = {each.tensor: each for each in named if isinstance(each, Definition) and self._is_layered(each)}
        self.definitions: dict[Tensor, Definition] = {}
        for state in self.states.values():
            for k in range(count + 1):
                self._define(state, k)

    def _is_layered(self, definition: Definition) -> bool:
        return any(node is self.depth for var in definition.vars for node in walk(var.dim))

    def _define(self, state: State, k: int) -> None:
        axes = tuple(self.resized(dim) for dim in state.tensor.dims[1:])
        variables = tuple(Var("d", dim) for dim in axes)
        body = state.base(*variables) if k == 0 else state.step(Num(k - 1), *variables)
        tensor = self.array(state.tensor, k)
        self.definitions[tensor] = Definition(tensor, tuple((dim,) for dim in axes), variables, self.resized(body))

    def array(self, tensor: Tensor, k: int) -> Tensor:
        """The array that a state is at a depth."""
        return Tensor(f"{tensor.name}_{k}", tuple(self.resized(dim) for dim in tensor.dims[1:]))

    def resized(self, term: Term) -> Term:
        """A term at this depth."""
        if term is self.depth:
            return Num(self.count)
        if isinstance(term, (Binder, Lam)):
            bound = (term.var,) if isinstance(term, Binder) else term.vars
            fresh = tuple(Var(var.name, self.resized(var.dim)) for var in bound)
            body = self.resized(substitute(term.children[0], dict(zip(bound, fresh, strict=True))))
            return type(term)(fresh[0], body) if isinstance(term, Binder) else Lam(fresh, body)
        children = tuple(self.resized(child) for child in term.children)
        if isinstance(term, Entry):
            return self._entry(term.tensor, children)
        rebuilt = term.rebuild(children) if children else term
        if isinstance(rebuilt, Apply):
            dims = tuple(self.resized(dim) for dim in rebuilt.dims)
            return Apply(rebuilt.name, dims, rebuilt.outs, rebuilt.arguments, rebuilt.derivatives)
        return rebuilt

    def _entry(self, tensor: Tensor, args: tuple[Term, ...]) -> Term:
        if tensor in self.states:
            k = args[0]
            assert isinstance(k, Num)
            return Entry(self.array(tensor, int(k.value)), args[1:])
        if tensor in self.layers:
            return self.resized(self.layers[tensor].at(args))
        return Entry(replace(tensor, dims=tuple(self.resized(dim) for dim in tensor.dims)), args)

    def program(self, outputs: Mapping[str, tuple[tuple[Var, ...], Term]]) -> Program:
        """The states as a program with the given outputs, each a term over index variables."""
        values = {
            name: Value(tuple((var.dim,) for var in variables), variables, self.resized(body))
            for name, (variables, body) in outputs.items()
        }
        terms = [*(each.body for each in self.definitions.values()), *(value.body for value in values.values())]
        entries = [node.tensor for term in terms for node in walk(term) if isinstance(node, Entry)]
        inputs = {tensor.name: tensor for tensor in entries if tensor not in self.definitions}
        axes: dict[str, tuple[Axis, ...]] = {
            name: tuple((dim,) for dim in tensor.dims) for name, tensor in inputs.items()
        }
        return Program("stack", inputs, axes, dict(self.definitions), values)


def sides_agree(unrolled: Unrolled, left: Side, right: Side, dims: Sequence[Term], network: Side | None) -> float:
    """The largest deviation of the two sides, and of the NumPy function that computes them, at random points."""
    variables = tuple(Var("d", unrolled.resized(dim)) for dim in dims)
    depth = Num(unrolled.count)
    program = unrolled.program({"y": (variables, left(depth, *variables)), "z": (variables, right(depth, *variables))})
    worst = 0.0
    for point in points(program, count=2, largest=3):
        run = evaluate(program, point.arrays, point.sizes, point.functions)
        found, wanted = (run.value(value) for value in program.outputs.values())
        values = [found, network(**point.arrays, **accepted(network, point))] if network else [found]
        scale = max(1.0, float(np.max(np.abs(wanted))))
        worst = max(worst, *(float(np.max(np.abs(value - wanted))) / scale for value in values))
    return worst


def check_gradient(
    ledger: Ledger, label: str, unrolled: Unrolled, state: State, upstream: Tensor, product: State, block: Side
) -> None:
    """Prove the gradient at this depth by a reverse sweep through all blocks, with no use of the induction.

    From the last block to the first, the adjoint of a state is what the block below it makes of the adjoint above; so
    the adjoint of the first state is the upstream gradient times the blocks in this order, which is the product.

    Raises:
        RefusedStep: if a block is not proved.
    """
    (size,) = state.tensor.dims[1:]
    c, d, e = (Var(name, size) for name in "cde")
    program = unrolled.program({"y": ((d,), state(unrolled.count, d))})
    (wrt,) = (name for name, tensor in program.inputs.items() if tensor == _entry_tensor(state.base(d)))
    adjoints = reverse(program, [wrt], {"y": upstream}).adjoints
    ledger.check(f"{label}-output", adjoints[unrolled.array(state.tensor, unrolled.count)].at((d,)), upstream(d))
    above = Tensor("above", (size, size))
    for k in reversed(range(unrolled.count)):
        one, lower, upper = (
            unrolled.resized(block(Num(k), c, d)),
            *(unrolled.array(state.tensor, j) for j in (k, k + 1)),
        )
        swept = unfold(adjoints[lower].at((d,)), {adjoint(upper): _column(upstream, above, e, c)})
        ledger.check(f"{label}-block-{k}", swept, sum_(c, sum_(e, upstream(e) * above(e, c)) * one))
        longer = unrolled.definitions[unrolled.array(product.tensor, k + 1)]
        below = unrolled.array(product.tensor, k)
        left = sum_(c, above(e, c) * longer.at((c, d)))
        inner = substitute(one, {d: (m := Var("m", size))})
        right = sum_(m, sum_(c, above(e, c) * inner) * below(m, d))
        ledger.check(f"{label}-product-{k}", left, right)


def _column(upstream: Tensor, above: Tensor, e: Var, c: Var) -> Definition:
    """The adjoint above a block: the upstream gradient times the product ``above`` of the blocks above it."""
    return Definition(upstream, (), (c,), sum_(e, upstream(e) * above(e, c)))


def _entry_tensor(term: Term) -> Tensor | None:
    return term.tensor if isinstance(term, Entry) else None


def gradient_agrees(
    unrolled: Unrolled, state: State, upstream: Tensor, wrt: Tensor, product: State, network: Callable[..., Any]
) -> float:
    """The largest deviation of ``Σ_e upstream[e] product[L, e, d]`` from finite differences and from the complex step."""
    (size,) = state.tensor.dims[1:]
    e, d = Var("e", size), Var("d", size)
    gradient = sum_(e, upstream(e) * product(unrolled.count, e, d))
    whole = unrolled.program({"y": ((d,), state(unrolled.count, d)), "dx": ((d,), gradient)})
    made = whole.outputs.pop("dx")
    forward = {t: each for t, each in whole.definitions.items() if t.name.startswith(f"{state.tensor.name}_")}
    rest = [each for tensor, each in whole.definitions.items() if tensor not in forward]
    whole.inputs.pop(upstream.name)
    program = replace(whole, definitions=forward)
    records = crosscheck(Subject(program, rest, {wrt.name: made}, {"y": upstream}, network), _METHODS)
    return max(record.error for record in records)


def check(method: str, errors: Mapping[int, float], depth: Size, tolerance: float = _TOLERANCE) -> Check:
    """The line of the verification record for some depths."""
    worst = max(errors.values())
    sizes = tuple({depth.name: count} for count in errors)
    return Check("NumPy", method, worst <= tolerance, sizes, worst)
