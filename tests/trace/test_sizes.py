"""Symbolic sizes behave as the integers they stand for, or say that they cannot."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symres.errors import Unsupported
from symres.kernel.terms import Num, Size, Tensor, Term, Var
from symres.trace.array import Array
from symres.trace.builtins import BUILTINS
from symres.trace.indexterms import floor_quotient, nonnegative
from symres.trace.modules import MODULES
from symres.trace.polynomials import exact_quotient, same
from symres.trace.signals import NeedsConcreteSizes, Refine, ShapeMismatch, recording
from symres.trace.sizes import Dim, integer, integer_term, loop_index
from tests.trace.definitions import Evaluator

np: Any = MODULES["numpy"]
N, D, H = Dim(Size("N")), Dim(Size("D")), Dim(Size("H"))


def array(*dims: str, **kinds: Any) -> Array:
    terms = tuple(Num(int(dim)) if dim.isdigit() else Size(dim) for dim in dims)
    return Array.symbol(Tensor("x", terms, **kinds))


def test_arithmetic_stays_an_integer() -> None:
    assert isinstance(N * D - 1, Dim)
    assert N + D - N == D
    assert (N * D) // N == D
    assert (2 * N) // 2 == N
    assert N - N == 0
    assert type(N - N) is int
    assert -N + 2 * N == N
    assert N**2 == N * N
    assert (N * D + D - 1) // D == N
    assert divmod(N * D, D) == (N, 0)
    assert (N << 1) >> 1 == N


def test_copies_of_sizes_and_arrays_keep_their_meaning() -> None:
    x = array("N", "D")
    cache = copy.deepcopy({"shape": x.shape, "x": x})
    assert cache["shape"] == x.shape
    assert cache["x"].value.body is x.value.body
    cache["x"][0] = 0
    assert "[" not in repr(copy.copy(x)).replace("x[", "").replace("[float]", "")


def test_quotients_are_real_numbers() -> None:
    sizes = Evaluator({"N": 3, "D": 4}, {})
    for found, expected in ((1.0 / N, 1 / 3), (D / N, 4 / 3), (N**0.5, math.sqrt(3)), (2.0 * N, 6.0), (N**-1, 1 / 3)):
        assert isinstance(found, Array)
        assert sizes.value(found.value) == pytest.approx(expected)


def test_comparisons_hold_for_all_sizes_or_are_undecided() -> None:
    assert N >= 1
    assert N + 1 > 1
    assert not N < 1
    assert N != 0
    assert N * D >= N
    assert bool(N)
    assert N is not None
    for undecided in (lambda: N == D, lambda: N > 1, lambda: N >= D, lambda: N == 1):
        with pytest.raises(NeedsConcreteSizes):
            undecided()


def test_a_proper_multiple_is_another_size() -> None:
    with recording() as notes:
        assert N != N * D
        assert N * D != D
    assert notes.assumptions == ["D is at least 2", "N is at least 2"]


def test_what_only_numbers_can_do_is_said() -> None:
    for needs in (
        lambda: range(N),
        lambda: [0] * N,
        lambda: float(N),
        lambda: int(N),
        lambda: "abc"[N],
        lambda: N & (N - 1),
    ):
        with pytest.raises(NeedsConcreteSizes):
            needs()


def test_built_in_functions_know_sizes() -> None:
    x = array("N", "D")
    assert BUILTINS["len"](x) == N
    assert BUILTINS["int"](N * D / D) == N
    assert BUILTINS["int"]("7") == 7
    assert BUILTINS["max"](N, 1) == N
    assert BUILTINS["min"](N, 1) == 1
    assert BUILTINS["isinstance"](N, int)
    assert BUILTINS["isinstance"](x, np.ndarray)
    assert not BUILTINS["isinstance"](x, (int, float))
    assert BUILTINS["sum"]([N, D]) == N + D
    with pytest.raises(Unsupported, match="data"):
        BUILTINS["int"](x[0, 0])


@pytest.mark.parametrize(
    ("code", "size", "factors"),
    [
        (lambda x: x.shape[1] // Dim(Size("H")), "D", (Size("H"), None)),
        (lambda x: x.shape[1] % Dim(Size("H")), "D", (Size("H"), None)),
        (lambda x: x.shape[1] % 2, "D", (Num(2), None)),
        (lambda x: BUILTINS["int"](x.shape[1] / Dim(Size("H"))), "D", (Size("H"), None)),
        (lambda x: x.reshape(x.shape[0], 4, x.shape[1] // 4), "D", (Num(4), None)),
        (lambda x: x.reshape(x.shape[0], x.shape[1] // 2, 2), "D", (None, Num(2))),
        (lambda x: x.reshape(x.shape[0], 2, -1), "D", (Num(2), None)),
        (lambda x: x.reshape(-1, 2), "D", (None, Num(2))),
        (lambda x: np.split(x, 3, axis=1), "D", (Num(3), None)),
        (lambda x: np.array_split(x, 3, axis=1), "D", (Num(3), None)),
        (lambda x: x[:, : x.shape[1] // 2] + x[:, x.shape[1] // 2 :], "D", (Num(2), None)),
        (lambda x: x + array("H", "E").reshape(-1), "D", (Size("H"), Size("E"))),
        (lambda x: np.concatenate([array("E"), array("E")]) + x[0], "D", (Num(2), Size("E"))),
        (lambda x: array("E") * x[0, 3 * Dim(Size("E")) :], "D", (Num(4), Size("E"))),
    ],
)
def test_divisibility_that_the_code_assumes_is_asked_for(code: Any, size: str, factors: tuple[Any, ...]) -> None:
    with recording(), pytest.raises(Refine) as caught:
        code(array("N", "D"))
    assert (caught.value.size_name, caught.value.factors) == (size, factors)


def test_with_the_factorisation_the_code_runs() -> None:
    x = Array.symbol(Tensor("x", (Size("N"), Size("H"), Size("E"))), ((Size("N"),), (Size("H"), Size("E"))))
    n, d = x.shape
    e = d // H
    heads = x.reshape(n, H, e).transpose(1, 0, 2)
    assert heads.shape == (H, N, Dim(Size("E")))
    back = heads.transpose(1, 0, 2).reshape(n, -1)
    assert back.axes == x.axes
    assert d % H == 0


def test_floor_division_by_a_number_is_kept() -> None:
    padding = D // 2
    assert integer_term(padding) is not integer_term(D)
    assert Evaluator({"D": 5}, {}).term(integer_term(padding)) == 2


def test_integer_parts_of_quotients_are_floor_divisions() -> None:
    k, s = Dim(Size("K")), Dim(Size("S"))
    int_ = BUILTINS["int"]
    with recording():
        for found in (int_((D - k) / s + 1), int_(1 + (D - k) / s), int_(np.floor((D - k) / s)) + 1, (D - k) // s + 1):
            assert Evaluator({"D": 9, "K": 2, "S": 3}, {}).term(integer_term(found)) == 3
        assert Evaluator({"D": 9}, {}).term(integer_term(int_(np.ceil(D / 2)))) == 5
        assert int_(N * D / N) == D


def test_shapes_that_do_not_fit_are_said() -> None:
    x = array("N", "D")
    for wrong in (lambda: x + x.T, lambda: x @ x, lambda: x.reshape(N), lambda: x + array("M")):
        with pytest.raises(ShapeMismatch):
            wrong()


def test_slices_beyond_what_is_proved_are_assumed_and_stated() -> None:
    with recording() as notes:
        assert array("N", "D")[:, :3].shape == (N, 3)
    assert notes.assumptions == ["3 is at most D"]


def test_a_loop_index_is_an_integer_in_indices_and_values() -> None:
    x = array("N", "D")
    i = loop_index(Var("i", Size("N")))
    with recording() as notes:
        row = x[i]
        window = array("N", "D")[i : i + 1]
        scaled = i * x
        dx = np.zeros_like(x)
        dx[i] = 2 * x[i]
    assert row.shape == (D,)
    assert window.shape == (1, D)
    assert notes.assumptions == []
    sizes = Evaluator({"N": 3, "D": 2}, {"x": [[1, 2], [3, 4], [5, 6]]})
    at = {integer_term(i): 1}
    value = dx.value
    for n in range(3):
        assert sizes.term(value.body, {**at, value.vars[0]: n, value.vars[1]: 1}) == (8 if n == 1 else 0)
    assert sizes.term(scaled.value.body, {**at, scaled.value.vars[0]: 2, scaled.value.vars[1]: 0}) == 5


def test_windows_of_a_strided_loop_lie_inside_the_array() -> None:
    x, k = array("N", "D"), Dim(Size("K"))
    with recording() as notes:
        count = (x.shape[0] - k) // 2 + 1
        i = loop_index(Var("i", integer_term(count)))
        out = np.zeros(count)
        assert x[i * 2 : i * 2 + k].shape == (k, D)
        out[i] = 1
    assert notes.assumptions == ["((N - K) // 2) + 1 is at least 1"]


SMALL = st.integers(1, 5)


@st.composite
def index_terms(draw: st.DrawFn) -> Term:
    atoms = [Size("N"), Size("D"), Var("i", Size("N")), Num(2), Num(-1), Num(3)]
    terms = [draw(st.sampled_from(atoms)) for _ in range(draw(st.integers(1, 5)))]
    total: Any = terms[0]
    for term in terms[1:]:
        total = total * term if draw(st.booleans()) else total + term
    return total


@settings(max_examples=150, deadline=None)
@given(number=index_terms(), divisor=st.sampled_from([Num(2), Num(3), Size("N"), Size("D")]), n=SMALL, d=SMALL)
def test_proofs_and_divisions_are_right_at_every_size(number: Term, divisor: Term, n: int, d: int) -> None:
    evaluator = Evaluator({"N": n, "D": d}, {})
    proved = nonnegative(number)
    quotient, exact = floor_quotient(number, divisor), exact_quotient(number, divisor)
    for i in range(n):
        at = dict.fromkeys(number.free, i)
        value, below = evaluator.term(number, at), evaluator.term(divisor, at)
        assert not proved or value >= 0
        assert evaluator.term(quotient, at) == value // below
        assert exact is None or evaluator.term(exact, at) * below == value
    assert same(number, integer_term(integer(number)))
