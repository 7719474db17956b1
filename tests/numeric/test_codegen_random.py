"""Generated code for random terms, against the plain evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symres.kernel.terms import Fun, Tensor, Term, Var, add, power, sum_
from symres.language.functions import maximum
from symres.language.program import Definition, Program, Value
from symres.numeric.codegen import compile_source, forward_source
from tests.random_terms import TENSORS, N, evaluation, i, j, terms, w, x


def check(first: Term, second: Term, n: int) -> None:
    """Two definitions, the second of which multiplies the transpose of the first, as two outputs."""
    program = Program("random", {tensor.name: tensor for tensor in TENSORS})
    t, s = Tensor("t", (N, N)), Tensor("s", (N, N))
    axes = ((N,), (N,))
    program.definitions[t] = Definition(t, axes, (i, j), first)
    program.definitions[s] = Definition(s, axes, (i, j), second * t(j, i) + t(i, j))
    program.outputs["t"] = Value(axes, (j, i), t(i, j))
    program.outputs["s"] = Value(axes, (i, j), s(i, j))
    compare(program, n)


def compare(program: Program, n: int) -> None:
    """The generated forward function against the evaluation, which it must leave the arguments alone for."""
    run = evaluation(n)
    arrays = {tensor.name: run.arrays[tensor.name] for tensor in TENSORS}
    with np.errstate(all="ignore"):
        for definition in program.definitions.values():
            run.define(definition)
        expected = [run.value(value) for value in program.outputs.values()]
        for in_place in (True, False):
            source = forward_source(program, in_place=in_place)
            arguments = {name: np.array(array) for name, array in arrays.items()}
            found = compile_source(source)(**arguments)
            found = found if isinstance(found, tuple) else (found,)
            for name, array in arrays.items():
                np.testing.assert_array_equal(arguments[name], array)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8, err_msg=source)


@pytest.mark.parametrize("padded", [False, True], ids=["inside", "reads out of range"])
def test_random_terms(padded: bool) -> None:
    @settings(max_examples=60, deadline=None)
    @given(*[terms(depth=3, unknown=False, padded=padded)] * 2, st.integers(1, 3))
    def run(first: Term, second: Term, n: int) -> None:
        check(first, second, n)

    run()


@st.composite
def chains(draw: st.DrawFn) -> Program:
    """Many definitions of full size, each from a few before it: other memory can be used again each time."""
    program = Program("chain", {tensor.name: tensor for tensor in TENSORS})
    axes = ((N,), (N,))
    made: list[Tensor] = [w]

    def operand(depth: int) -> Term:
        one = draw(
            st.sampled_from(["array", "turned", "vector", "number", "mean", "nested", "nested"][: 7 if depth else 5])
        )
        # an array that is read once can give its memory away; at least one stays to be read
        tensor = made.pop(draw(st.integers(0, len(made) - 2))) if len(made) > 1 and draw(st.booleans()) else made[-1]
        k = Var("k", N)
        options = {
            "array": lambda: tensor(i, j),
            "turned": lambda: tensor(j, i),
            "vector": lambda: x(draw(st.sampled_from([i, j]))),
            "number": lambda: add(draw(st.integers(-2, 3))),
            "mean": lambda: power(N, -1) * sum_(k, tensor(i, k) * w(i, k)),
            "nested": lambda: combined(depth - 1),
        }
        return options[one]()

    def combined(depth: int) -> Term:
        left, right = operand(depth), operand(depth)
        options = {
            "add": lambda: left + right,
            "sub": lambda: left - right,
            "mul": lambda: left * right,
            "div": lambda: left / (1 + right**2),
            "tanh": lambda: Fun("tanh", left + right),
            "relu": lambda: maximum(left, right),
        }
        return options[draw(st.sampled_from(sorted(options)))]()

    for k in range(draw(st.integers(3, 8))):
        tensor = Tensor(f"t{k}", (N, N))
        program.definitions[tensor] = Definition(tensor, axes, (i, j), combined(2))
        made.append(tensor)
    for k, tensor in enumerate(made):
        program.outputs[f"y{k}"] = Value(axes, (i, j), tensor(i, j))
    return program


@settings(max_examples=60, deadline=None)
@given(chains())
def test_memory_that_is_used_again_was_not_needed(program: Program) -> None:
    compare(program, 3)


def test_memory_is_not_written_over_before_it_is_read() -> None:
    """y = tanh(w) w' + (w w') t: the product w w' must not be computed in the memory of t, its other factor."""
    program = Program("product", {tensor.name: tensor for tensor in TENSORS})
    axes = ((N,), (N,))
    t = Tensor("t", (N, N))
    program.definitions[t] = Definition(t, axes, (i, j), w(i, j) ** 2)
    body = Fun("tanh", w(i, j)) * w(j, i) + w(i, j) * w(j, i) * t(i, j)
    program.outputs["y"] = Value(axes, (i, j), body)
    compare(program, 3)
