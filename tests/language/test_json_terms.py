"""Terms as JSON: round trips, and names of index variables that cannot be confused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from symres.errors import CertificateError
from symres.kernel.terms import Apply, Fun, Lam, Maximum, Num, Size, Sum, Tensor, Term, Var, delta, power, sum_
from symres.language.json_terms import Reader, to_json, variables_to_json
from tests import random_terms
from tests.random_terms import N, i, j, w, x

TENSORS = {tensor.name: tensor for tensor in random_terms.TENSORS}


@given(random_terms.terms(padded=True))
@settings(max_examples=200, deadline=None)
def test_round_trip(term: Term) -> None:
    written = to_json(term, (i, j))
    names = {name: var for (name, _), var in zip(variables_to_json((i, j)), (i, j), strict=True)}
    again = Reader(TENSORS).term(json.loads(json.dumps(written)), names)
    assert to_json(again, (i, j)) == written


def test_each_node() -> None:
    k = Var("k", N)
    assert to_json(Num(-1) / 2) == ["num", "-1/2"]
    assert to_json(N) == ["size", "n"]
    assert to_json(sum_(k, x(k) * 2) ** -1) == [
        "pow",
        ["sum", "k", ["size", "n"], ["mul", ["num", "2"], ["entry", "x", [["var", "k"]]]]],
        "-1",
    ]
    assert to_json(Maximum(k, x(k))) == ["max", "k", ["size", "n"], ["entry", "x", [["var", "k"]]]]
    assert to_json(Fun("exp", x(i)), (i,)) == ["fun", "exp", ["entry", "x", [["var", "i"]]]]
    assert to_json(delta(i, j), (i, j))[:2] == ["iverson", "="]
    jacobian = Apply("F", (N,), (i,), (Lam((k,), x(k)),), ((0, (j,)),))
    assert to_json(jacobian, (i, j)) == [
        "apply",
        "F",
        [["var", "i"]],
        [[[["k", ["size", "n"]]], ["entry", "x", [["var", "k"]]]]],
        [[0, [["var", "j"]]]],
    ]
    assert Reader(TENSORS, {"F": (N,)}).term(to_json(jacobian, (i, j)), {"i": i, "j": j}).free == {i, j}


def test_equal_hints_get_different_names() -> None:
    first, second = Var("i", N), Var("i", N)
    assert to_json(sum_(first, w(i, first)), (i,)) == [
        "sum",
        "i1",
        ["size", "n"],
        ["entry", "w", [["var", "i"], ["var", "i1"]]],
    ]
    side_by_side = to_json(sum_(first, x(first)) + sum_(second, x(second)) + sum_(first, x(first)))
    assert [part[1] for part in side_by_side[1:]] == ["i", "i1", "i"]
    assert variables_to_json((first, second)) == [["i", ["size", "n"]], ["i1", ["size", "n"]]]


def test_a_variable_bound_again_inside_its_scope_gets_another_name() -> None:
    inner = Sum(i, x(i))
    assert to_json(Sum(i, x(i) * inner)) == [
        "sum",
        "i",
        ["size", "n"],
        ["mul", ["entry", "x", [["var", "i"]]], ["sum", "i1", ["size", "n"], ["entry", "x", [["var", "i1"]]]]],
    ]
    deeper = to_json(Sum(i, Sum(i, Sum(j, Sum(i, w(i, j))))))
    assert [deeper[1], deeper[3][1], deeper[3][3][1], deeper[3][3][3][1]] == ["i", "i1", "j", "i2"]


def test_a_free_index_that_is_not_named_is_refused() -> None:
    with pytest.raises(CertificateError, match="the index j is free"):
        to_json(w(i, j), (i,))


@pytest.mark.parametrize(
    "value",
    [[], ["num"], ["num", "x"], ["nothing"], ["entry", "z", []], ["entry", "x", []], ["var", "i"], 3, ["fun"]],
)
def test_what_is_no_term_is_refused(value: object) -> None:
    with pytest.raises(CertificateError, match="is no term over the given names"):
        Reader(TENSORS).term(value)  # type: ignore[arg-type]


def test_sizes_of_variables_may_be_terms() -> None:
    both = Var("k", Size("L") + 1)
    assert to_json(sum_(both, Tensor("h", (Size("L") + 1,))(both)))[2] == ["add", ["size", "L"], ["num", "1"]]
    assert power(N, 2) == Reader({}).term(to_json(power(N, 2)))
