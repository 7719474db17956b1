"""Numerical cross-checks of derived gradients, by several independent ways.

============  ============================================================================================
method        what the derived gradients are compared with
============  ============================================================================================
``numpy``     a gradient function written by hand
``forward``   (the traced program itself, with the NumPy function it was traced from)
``finite``    central differences of the NumPy function, extrapolated, in float64
``complex``   the complex step on the traced terms, evaluated plainly
``sympy``     SymPy's derivative of the terms written out in components, at tiny sizes
``jax``       ``jax.grad`` of the NumPy function with ``jax.numpy``, else of the traced program
============  ============================================================================================

Upstream gradients are random: with all ones the gradient of a normalisation is 0, and the check would check nothing.
Points keep away from kinks. An error is the largest deviation, divided by the largest entry of the gradient or of the
upstream gradient, whichever is larger. These checks are evidence beside the proof, never in its place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symres.kernel.terms import Tensor
from symres.language.formula import adjoint
from symres.language.program import Definition, Program, Value
from symres.numeric.codegen import backward_source, compile_source
from symres.numeric.components import gradients_by_components
from symres.numeric.evaluate import evaluate
from symres.numeric.frameworks import gradients_by_jax, is_installed, outputs_of
from symres.numeric.names import identifier
from symres.numeric.points import Point, has_unknown_functions, points
from symres.numeric.unknown import function_name

_STEP = 2e-4
_COMPLEX_STEP = 1e-150
_MANY = 48  # up to this many entries each is moved, above it random directions are


@dataclass(frozen=True)
class Record:
    """One line of a verification record."""

    method: str
    sizes: tuple[Mapping[str, int], ...]
    error: float
    tolerance: float
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance."""
        return bool(self.error <= self.tolerance)


@dataclass
class Subject:
    """What is checked: a program with its derived gradients.

    Args:
        program: the traced forward function.
        adjoints: definitions after those of the program, in order.
        gradients: the gradient of each input asked for.
        upstream: the upstream gradient of each output; by default the adjoint of the tensor with the output's name.
        forward: the NumPy function, called with the inputs by name; what it returns after the outputs is ignored.
        reference: a gradient function written by hand, called with the upstream gradients by position and the inputs by
            name, returning the gradients in the order of ``gradients``.
    """

    program: Program
    adjoints: Sequence[Definition]
    gradients: Mapping[str, Value]
    upstream: Mapping[str, Tensor] | None = None
    forward: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None
    _code: Callable[..., Any] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.upstream is None:
            self.upstream = {
                name: adjoint(Tensor(name, tuple(var.dim for var in value.vars)))
                for name, value in self.program.outputs.items()
            }

    def derived(self, point: Point) -> dict[str, Any]:
        """The derived gradients at a point, by the generated code."""
        if self._code is None:
            self._code = compile_source(backward_source(self.program, self.adjoints, self.gradients, self.upstream))
        inputs = {identifier(name): array for name, array in point.arrays.items()}
        return self.named(self._code(*point.upstream.values(), **inputs, **accepted(self._code, point)))

    def named(self, returned: Any) -> dict[str, Any]:
        """Returned gradients by name."""
        values = outputs_of(returned, len(self.gradients))
        return {name: np.asarray(value) for name, value in zip(self.gradients, values, strict=True)}

    def outputs(self, point: Point, arrays: Mapping[str, Any]) -> tuple[Any, ...]:
        """The outputs of the NumPy function; it gets copies, and the unknown functions by name."""
        assert self.forward is not None
        given = {name: np.array(array) for name, array in arrays.items()}
        return outputs_of(self.forward(**given, **accepted(self.forward, point)), len(self.program.outputs))

    def loss(self, point: Point, arrays: Mapping[str, Any]) -> float:
        """Σ upstream · output of the NumPy function."""
        outputs = self.outputs(point, arrays)
        return float(sum(np.sum(g * out) for g, out in zip(point.upstream.values(), outputs, strict=True)))


def accepted(function: Callable[..., Any], point: Point) -> dict[str, Callable[..., Any]]:
    """The unknown functions of a point, and their derivatives, that a function takes as arguments."""
    given = {function_name(name): value for name, value in point.functions.items()}
    parameters = inspect.signature(function).parameters.values() if given else ()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return given
    return {parameter.name: given[parameter.name] for parameter in parameters if parameter.name in given}


Method = Callable[[Subject, Point], float | tuple[float, str]]


@dataclass(frozen=True)
class _Row:
    run: Method
    applies: Callable[[Subject], bool]
    tolerance: float
    points: Mapping[str, int]


METHODS: dict[str, _Row] = {}


def method(
    name: str, *, tolerance: float, applies: Callable[[Subject], bool] = lambda subject: True, **options: int
) -> Callable[[Method], Method]:
    """Register a method; a second one of the same name is an error."""

    def register(function: Method) -> Method:
        if name in METHODS:
            raise ValueError(f"there is a method {name} already")
        METHODS[name] = _Row(function, applies, tolerance, options)
        return function

    return register


def relative_error(subject: Subject, point: Point, expected: Mapping[str, Any]) -> float:
    """The largest deviation of the derived gradients from the expected ones, as the module says."""
    derived = subject.derived(point)
    return max(deviation(derived[name], expected[name], point) for name in expected)


def deviation(found: Any, expected: Any, point: Point) -> float:
    """The largest difference over the larger of the expected entries and of the upstream gradient."""
    if np.shape(found) != np.shape(expected):
        return np.inf
    scale = max([0.0, *(float(np.max(np.abs(part), initial=0.0)) for part in (expected, *point.upstream.values()))])
    difference = float(np.max(np.abs(np.asarray(found) - np.asarray(expected)), initial=0.0))
    return difference / scale if scale else difference


@method("forward", tolerance=1e-10, applies=lambda subject: subject.forward is not None)
def _forward(subject: Subject, point: Point) -> float:
    run = evaluate(subject.program, point.arrays, point.sizes, point.functions)
    outputs = subject.outputs(point, point.arrays)
    return max(
        deviation(run.value(value), out, point)
        for value, out in zip(subject.program.outputs.values(), outputs, strict=True)
    )


@method("numpy", tolerance=1e-10, applies=lambda subject: subject.reference is not None)
def _numpy(subject: Subject, point: Point) -> float:
    assert subject.reference is not None
    given = {name: np.array(array) for name, array in point.arrays.items()}
    upstream = [np.array(array) for array in point.upstream.values()]
    return relative_error(
        subject, point, subject.named(subject.reference(*upstream, **given, **accepted(subject.reference, point)))
    )


def _directions(shape: tuple[int, ...], seed: int) -> Iterable[Any]:
    length = int(np.prod(shape, dtype=int))
    if length <= _MANY:
        yield from np.eye(length).reshape(length, *shape)
        return
    rng = np.random.default_rng(seed)
    for _ in range(12):
        direction = rng.normal(size=shape)
        yield direction / np.abs(direction).max()


def _by_directions(subject: Subject, point: Point, slope: Callable[[str, Any], float]) -> float:
    derived = subject.derived(point)
    worst = 0.0
    for name, gradient in derived.items():
        pairs = [
            (float(np.sum(gradient * v)), slope(name, v)) for v in _directions(np.shape(point.arrays[name]), len(name))
        ]
        if pairs:
            worst = max(worst, deviation([pair[0] for pair in pairs], [pair[1] for pair in pairs], point))
    return worst


@method("finite", tolerance=2e-7, applies=lambda subject: subject.forward is not None)
def _finite(subject: Subject, point: Point) -> float:
    def central(name: str, direction: Any, h: float) -> float:
        up, down = (
            subject.loss(point, {**point.arrays, name: point.arrays[name] + s * h * direction}) for s in (1, -1)
        )
        return (up - down) / (2 * h)

    def slope(name: str, direction: Any) -> float:
        # Richardson's extrapolation: the error of second order in h cancels.
        return (4 * central(name, direction, _STEP) - central(name, direction, 2 * _STEP)) / 3

    return _by_directions(subject, point, slope)


@method("complex", tolerance=1e-10)
def _complex(subject: Subject, point: Point) -> float:
    def slope(name: str, direction: Any) -> float:
        moved = {**point.arrays, name: point.arrays[name] + 1j * _COMPLEX_STEP * direction}
        run = evaluate(subject.program, moved, point.sizes, point.functions)
        outputs = [run.value(value) for value in subject.program.outputs.values()]
        total = sum(np.sum(g * out) for g, out in zip(point.upstream.values(), outputs, strict=True))
        return float(np.imag(total)) / _COMPLEX_STEP

    return _by_directions(subject, point, slope)


@method("sympy", tolerance=1e-8, applies=lambda subject: not has_unknown_functions(subject.program), count=2, largest=2)
def _sympy(subject: Subject, point: Point) -> float:
    return relative_error(subject, point, gradients_by_components(subject.program, point, list(subject.gradients)))


@method(
    "jax",
    tolerance=1e-8,
    applies=lambda subject: is_installed("jax") and not has_unknown_functions(subject.program),
    count=3,
)
def _jax(subject: Subject, point: Point) -> tuple[float, str]:
    found, what = gradients_by_jax(subject.program, subject.forward, point, list(subject.gradients))
    return relative_error(subject, point, found), what


DEFAULT = ("forward", "numpy", "finite", "complex", "sympy")


def crosscheck(subject: Subject, methods: Sequence[str] = DEFAULT, *, seed: int = 0) -> list[Record]:
    """Check the derived gradients by each method that applies; one record for each.

    A method that does not apply (no reference given, a framework that is not installed, unknown functions in SymPy)
    leaves no record. An exception of the user's functions passes through.
    """
    records = []
    for name in methods:
        row = METHODS[name]
        if not row.applies(subject):
            continue
        results = [(point, row.run(subject, point)) for point in points(subject.program, seed=seed, **row.points)]
        pairs = [result if isinstance(result, tuple) else (result, "") for _, result in results]
        error = max(error if np.isfinite(error) else np.inf for error, _ in pairs)
        details = sorted({detail for _, detail in pairs if detail})
        sizes = tuple(point.sizes for point, _ in results)
        records.append(Record(name, sizes, error, row.tolerance, ", ".join(details)))
    return records
