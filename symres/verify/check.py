"""``verify``: is this backward function the derivative of that forward function?

The forward function is traced and differentiated; the backward function is traced on the same arrays; for each gradient
the kernel compares the two, for all sizes. A proof counts only when the second judge confirms it and when the traced
expressions agree with what NumPy computes from the user's code; a refutation only with an exact counterexample at which
NumPy sees the difference too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from symres.calculus.reverse import Backward, reverse
from symres.errors import CertificateError, SymresError, Unsupported, UsageError
from symres.kernel.terms import Entry, Tensor
from symres.language.program import Definition, Program, Value
from symres.trace.guard import time_limit
from symres.trace.run import trace_pair
from symres.trace.signals import NeedsConcreteSizes, ShapeMismatch
from symres.trace.traced import Traced
from symres.verify.concrete import asked_for, at_concrete_sizes
from symres.verify.correction import correction
from symres.verify.judging import certify, judge_gradient, second_opinion
from symres.verify.mismatch import shapes_do_not_fit
from symres.verify.reality import disagreement
from symres.verify.verdict import PROVED, REFUTED, UNDECIDED, GradientVerdict, Verdict
from symres.verify.witness import Claim


def verify(
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None = None,
    *,
    shapes: str | Mapping[str, str] | None = None,
    grads: Sequence[str] | str | None = None,
    set: Mapping[str, Any] | None = None,
    timeout: float = 60.0,
) -> Verdict:
    """Prove or refute that ``backward`` computes the gradients of ``forward``.

    Args:
        forward: a NumPy function, a class with ``forward`` and ``backward``, or ``"FILE.py:NAME"``.
        backward: the function to be judged; none for a class.
        shapes: such as ``"x: N D, gamma: D"``; where left out, annotations are read, then shapes are inferred.
        grads: the argument that each result belongs to, in order; by default read from the names returned.
        set: values for arguments that are no arrays, or for scalars that are not to be symbols.
        timeout: seconds for running and judging the functions.

    Returns:
        A :class:`~symres.verify.verdict.Verdict`; ``.verdict`` is ``proved``, ``refuted`` or ``undecided``.

    Raises:
        UsageError: when the functions or the shapes do not fit together.
    """
    start = time.perf_counter()
    options: dict[str, Any] = {"shapes": shapes, "grads": _names(grads), "set": dict(set or {}), "timeout": timeout}
    try:
        traced = trace_pair(forward, backward, **options)
        verdict = judge(traced, timeout=timeout)
        with time_limit(timeout):
            if any(gradient.verdict == UNDECIDED for gradient in verdict.gradients.values()):
                verdict = _improved(verdict, forward, backward, options)
            verdict = disagreement(verdict, traced, forward, backward, options)
    except NeedsConcreteSizes as reason:
        options["shapes"] = shapes or reason.shapes
        with time_limit(timeout):
            verdict = at_concrete_sizes(forward, backward, options, judge, str(reason))
    except UsageError:
        raise
    except ShapeMismatch as mismatch:
        verdict = shapes_do_not_fit(forward, backward, options, mismatch)
    except (Unsupported, CertificateError) as reason:
        names = asked_for(options)
        verdict = Verdict(
            {name: GradientVerdict(name, UNDECIDED, str(reason)) for name in names}, 0.0, reason=str(reason)
        )
    return replace(verdict, seconds=time.perf_counter() - start)


def _names(grads: Sequence[str] | str | None) -> list[str] | None:
    if grads is None:
        return None
    if isinstance(grads, str):
        return [name.strip() for name in grads.split(",") if name.strip()]
    return list(grads)


def judge(traced: Traced, fixed: Mapping[str, int] | None = None, timeout: float | None = None) -> Verdict:
    """The verdict on traced functions, the user's own code left aside; each gradient may take ``timeout`` seconds."""
    program = _with_own_outputs(traced.program)
    upstream = dict(zip(program.outputs, traced.upstream, strict=True))
    backward = reverse(program, list(traced.claimed), upstream)
    verdicts: dict[str, GradientVerdict] = {}
    proved: list[Claim] = []
    for name, value in traced.claimed.items():
        wrong = _wrong_shape(program, name, value)
        if wrong is not None:
            verdicts[name] = wrong
            continue
        claim = _claim(program, backward, upstream, name, value)
        try:
            with time_limit(timeout):
                verdicts[name] = judge_gradient(claim, backward, fixed)
        except Unsupported as problem:
            verdicts[name] = GradientVerdict(name, UNDECIDED, str(problem))
        if verdicts[name].verdict == PROVED:
            proved.append(claim)
        elif verdicts[name].verdict == REFUTED:
            verdicts[name] = replace(verdicts[name], code=correction(claim, backward))
    document: Mapping[str, Any] = {}
    if proved:
        try:
            document = certify(f"verify-{program.name}", proved)
            doubts = second_opinion(document)
        except CertificateError as problem:
            doubts = {claim.wrt: f"no certificate could be written: {problem.message}" for claim in proved}
        for name, reason in doubts.items():
            verdicts[name] = replace(verdicts[name], verdict=UNDECIDED, reason=reason)
    return Verdict(
        verdicts, 0.0, shapes=traced.shapes, notes=tuple(traced.notes), program=program, certificate=document
    )


def _with_own_outputs(program: Program) -> Program:
    """The same program with outputs whose names nothing else has: an output may be an input, or a changed intermediate."""
    taken = set(program.inputs) | {tensor.name for tensor in program.definitions}
    outputs: dict[str, Value] = {}
    for name, value in program.outputs.items():
        tensor = Tensor(name, tuple(var.dim for var in value.vars))
        own = name not in taken or (tensor in program.definitions and value.body is Entry(tensor, value.vars))
        while not own and name in taken:
            name = f"{name}_out"
        outputs[name] = value
    return replace(program, outputs=outputs)


def _claim(program: Program, backward: Backward, upstream: Mapping[str, Tensor], name: str, value: Value) -> Claim:
    variables = tuple(var.fresh() for var in value.vars)
    tensor = Tensor(f"claimed_{name}", tuple(var.dim for var in variables))
    claimed = Definition(tensor, value.axes, variables, value.at(*variables))
    extra = {t: d for t, d in backward.definitions.items() if t not in program.definitions}
    return Claim(program, extra, upstream, name, claimed, backward.gradient(name))


def _wrong_shape(program: Program, name: str, value: Value) -> GradientVerdict | None:
    expected = program.axes.get(name, tuple((dim,) for dim in program.inputs[name].dims))
    if [tuple(axis) for axis in expected] == [tuple(axis) for axis in value.axes]:
        return None
    return GradientVerdict(
        name,
        REFUTED,
        f"the gradient of {name} has the shape {_shown(value.axes)}, {name} itself has {_shown(expected)}",
    )


def _shown(axes: Sequence[Sequence[Any]]) -> str:
    return "[" + ", ".join("·".join(map(str, axis)) or "1" for axis in axes) + "]"


def _improved(
    verdict: Verdict,
    forward: Callable[..., Any] | type | str,
    backward: Callable[..., Any] | str | None,
    options: dict[str, Any],
) -> Verdict:
    """The verdict at concrete sizes where none was reached for all; the first verdict if that does not help either."""
    reasons = [gradient.reason for gradient in verdict.gradients.values() if gradient.verdict == UNDECIDED]
    try:
        other = at_concrete_sizes(forward, backward, options, judge, reasons[0])
    except SymresError:
        return verdict
    merged = {
        name: other.gradients.get(name, gradient) if gradient.verdict == UNDECIDED else gradient
        for name, gradient in verdict.gradients.items()
    }
    return replace(verdict, gradients=merged)
