"""Loops in which order, overlap or an alias decides: summarised as NumPy runs them, or left to concrete sizes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from symres.trace.run import trace
from symres.trace.signals import NeedsConcreteSizes
from symres.trace.source import run_file
from tests.trace.checking import EXAMPLES
from tests.trace.definitions import CONSTANTS, Evaluator

MODULE = run_file(EXAMPLES / "tricky.py")
RECURRENT = {
    "overlapping",
    "nonlocal_counter",
    "nonlocal_sum",
    "blocks",
    "add_everywhere_and_write",
    "products",
    "running_maximum",
    "first_is_special",
    "fibonacci",
    "depends_on_written",
    "early_exit",
    "scale_accumulator",
    "every_second",
    "depends_on_later",
}
NAMES = [
    name
    for name, value in vars(MODULE).items()
    if callable(value) and getattr(value, "__code__", None) and name != "helper"
]


def values(program: Any, sizes: dict[str, int], arrays: dict[str, Any]) -> Any:
    evaluator = Evaluator(sizes, arrays)
    for tensor, definition in program.definitions.items():
        whole = SimpleNamespace(axes=definition.axes, vars=definition.vars, body=definition.body)
        shape = tuple(int(evaluator.term(dim)) for dim in tensor.dims)
        evaluator.arrays[tensor.name] = evaluator.value(whole).reshape(shape)
    (output,) = program.outputs.values()
    return evaluator.value(output)


@pytest.mark.parametrize("name", NAMES)
def test_a_loop_is_what_numpy_computes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Memory that was never written must not matter, whatever is in it.
    monkeypatch.setitem(CONSTANTS, "uninitialised", 7.25)
    function = getattr(MODULE, name)
    symbolic = None
    try:
        symbolic = trace(function, shapes="x: N D, s: N")
    except NeedsConcreteSizes:
        assert name in RECURRENT
    for sizes in ({"N": 3, "D": 2}, {"N": 2, "D": 3}, {"N": 5, "D": 2}, {"N": 1, "D": 1}):
        rng = np.random.default_rng(2)
        arrays = {"x": rng.normal(size=(sizes["N"], sizes["D"])), "s": rng.normal(size=sizes["N"])}
        expected = function(*(array.copy() for array in arrays.values()))
        if symbolic is not None:
            np.testing.assert_allclose(values(symbolic, sizes, arrays), expected, rtol=1e-9, atol=1e-12)
        unrolled = trace(function, shapes="x: N D, s: N", sizes=sizes)
        np.testing.assert_allclose(values(unrolled, {}, arrays), expected, rtol=1e-9, atol=1e-12)
