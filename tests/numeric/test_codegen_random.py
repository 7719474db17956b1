"""Generated code for random terms, against the plain evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symres.kernel.terms import Tensor, Term
from symres.language.program import Definition, Program, Value
from symres.numeric.codegen import compile_source, forward_source
from tests.random_terms import TENSORS, N, evaluation, i, j, terms


def check(first: Term, second: Term, n: int) -> None:
    """Two definitions, the second of which multiplies the transpose of the first, as two outputs."""
    program = Program("random", {tensor.name: tensor for tensor in TENSORS})
    t, s = Tensor("t", (N, N)), Tensor("s", (N, N))
    axes = ((N,), (N,))
    program.definitions[t] = Definition(t, axes, (i, j), first)
    program.definitions[s] = Definition(s, axes, (i, j), second * t(j, i) + t(i, j))
    program.outputs["t"] = Value(axes, (j, i), t(i, j))
    program.outputs["s"] = Value(axes, (i, j), s(i, j))
    run = evaluation(n)
    arrays = {tensor.name: run.arrays[tensor.name] for tensor in TENSORS}
    with np.errstate(all="ignore"):
        for definition in program.definitions.values():
            run.define(definition)
        expected = [run.value(value) for value in program.outputs.values()]
        for in_place in (True, False):
            source = forward_source(program, in_place=in_place)
            found = compile_source(source)(**{name: np.array(array) for name, array in arrays.items()})
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8, err_msg=source)


@pytest.mark.parametrize("padded", [False, True], ids=["inside", "reads out of range"])
def test_random_terms(padded: bool) -> None:
    @settings(max_examples=120, deadline=None)
    @given(*[terms(depth=3, unknown=False, padded=padded)] * 2, st.integers(1, 3))
    def run(first: Term, second: Term, n: int) -> None:
        check(first, second, n)

    run()
