"""One claim at one point: does it hold there?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import Any, TypeVar

from symres.judge.arithmetic import Dual
from symres.judge.ball import Ball, Balls
from symres.judge.evaluate import Evaluator, Table
from symres.judge.faults import Undecided, Undefined
from symres.judge.syntax import Certificate, Claim, Equal, Gradient, Uses

V = TypeVar("V")


def first_difference(evaluator: Evaluator[Any], claim: Claim, direction: Sequence[Any], tolerance: int) -> str | None:
    """Where the claim is false at this point, in words; ``None`` where it holds.

    Raises:
        Undefined: if the point gives no answer.
    """
    evaluator.prepare(rests_on(evaluator.certificate, claim).names)
    if isinstance(claim, Equal):
        left, right = (evaluator.spread(evaluator.grid(side), claim.vars) for side in claim.terms)
    else:
        left = [slope(evaluator, claim.outputs, claim.upstream, claim.wrt, direction)]
        right = [_along(evaluator, claim, direction)]
    lengths = [] if isinstance(claim, Gradient) else [range(evaluator.length(var)) for var in claim.vars]
    for at, a, b in zip(product(*lengths), left, right, strict=True):
        if not same(evaluator.arithmetic, a, b, tolerance):
            where = ", ".join(f"{var.name} = {k}" for var, k in zip(claim.vars, at, strict=False))
            return f"the two sides differ{' at ' + where if where else ''}"
    return None


def rests_on(certificate: Certificate, claim: Claim) -> Uses:
    """The terms and the names that a claim rests on."""
    names = (*claim.outputs, *claim.upstream, claim.wrt) if isinstance(claim, Gradient) else ()
    return certificate.uses(claim.terms, names)


def same(arithmetic: Any, a: Any, b: Any, tolerance: int) -> bool:
    """Whether two values are equal; for balls, up to 2^-tolerance of their magnitude, or of 1 if that is less.

    A large value must not hide a difference of moderate size; where both may be 0, the magnitude is that of 1.

    Raises:
        Undecided: if the balls are too wide to tell.
    """
    if not isinstance(arithmetic, Balls):
        return bool(a == b)
    difference: Ball = arithmetic.add(a, arithmetic.mul(b, arithmetic.number(-1)))
    if not difference.contains_zero:
        return False
    scale = 0 if a.contains_zero and b.contains_zero else min(0, max(a.magnitude, b.magnitude) - 1)
    if difference.magnitude > scale - tolerance:
        raise Undecided("the precision does not tell whether the two sides differ")
    return True


def slope(
    evaluator: Evaluator[V], outputs: Sequence[str], upstream: Sequence[str], wrt: str, direction: Sequence[V]
) -> V:
    """d/dt of Σ upstream · outputs at wrt + t direction, by dual numbers; upstream is held fixed.

    Raises:
        Undefined: if a value does not exist, or an upstream gradient has not the shape of its output.
    """
    arithmetic, dual = evaluator.arithmetic, Dual(evaluator.arithmetic)
    moving = evaluator.certificate.moved_by(wrt)

    def constant(name: str) -> Table[Any] | None:
        if name in moving:
            return None
        table = evaluator.table(name)
        return Table(table.shape, [dual.lift(value) for value in table.values])

    at = evaluator.table(wrt)
    tables: dict[str, Table[Any]] = {wrt: Table(at.shape, list(zip(at.values, direction, strict=True)))}
    along = Evaluator(
        evaluator.certificate,
        dual,
        evaluator.sizes,
        tables,
        unknowns=evaluator.unknowns,
        integers=evaluator.integers,
        lift=dual.lift,
        elsewhere=constant,
    )
    along.prepare(evaluator.certificate.uses((), tuple(outputs)).names)
    total = arithmetic.number(0)
    for output, gradient in zip(outputs, upstream, strict=True):
        moved, weights = along.table(output), evaluator.table(gradient)
        if moved.shape != weights.shape:
            raise Undefined(f"{gradient} has not the axes of {output}")
        for (_, tangent), weight in zip(moved.values, weights.values, strict=True):
            if tangent is not None:
                total = arithmetic.add(total, arithmetic.mul(weight, tangent))
    return total


def _along(evaluator: Evaluator[V], claim: Gradient, direction: Sequence[V]) -> V:
    """Σ gradient · direction."""
    if evaluator.table(claim.wrt).shape != tuple(map(evaluator.length, claim.vars)):
        raise Undefined(f"the indices of the gradient have not the ranges of {claim.wrt}")
    gradient = evaluator.spread(evaluator.grid(claim.gradient), claim.vars)
    return reduce(evaluator.arithmetic.add, map(evaluator.arithmetic.mul, gradient, direction))
