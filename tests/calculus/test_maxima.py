"""The gradient of a maximum over several indices goes to the one entry where it is attained."""

from __future__ import annotations

from symres.calculus.maxima import name_maxima
from symres.calculus.reverse import reverse
from symres.kernel.terms import Fun, Maximum, Size, Tensor, Var, sum_
from symres.language.equality import proved_equal
from symres.language.program import Definition, Program, Value

N, H, W = map(Size, "NHW")
X = Tensor("x", (N, H, W))


def pooling(named: bool) -> tuple[Program, Value]:
    """y(n) = max over h and w, with the maximum over w named or not."""
    n, h, w = Var("n", N), Var("h", H), Var("w", W)
    rows = Maximum(w, X(n, h, w))
    program = Program("pool", {"x": X}, {"x": ((N,), (H,), (W,))})
    if named:
        tensor = Tensor("rows", (N, H))
        program.definitions[tensor] = Definition(tensor, ((N,), (H,)), (n, h), rows)
        rows = tensor(n, h)
    value = Value(((N,),), (n,), Maximum(h, rows))
    program.outputs["y"] = value
    return program, value


def test_maxima_of_maxima() -> None:
    for named in (False, True):
        program, value = pooling(named)
        upstream = Tensor("dy", (N,))
        backward = reverse(program, ["x"], {"y": upstream})
        gradient = backward.gradient("x")
        n, h, w = gradient.vars
        claimed = upstream(n) * Fun("eq0", X(n, h, w) - value.at(n))
        assert proved_equal(gradient.body, claimed, backward.definitions)
        assert not proved_equal(gradient.body, 2 * claimed, backward.definitions)


def test_inner_maxima_stay_where_they_are_used_themselves() -> None:
    program, value = pooling(named=False)
    n, h, w = Var("n", N), Var("h", H), Var("w", W)
    program.outputs["y"] = Value(value.axes, (n,), value.at(n) + sum_(h, Maximum(w, X(n, h, w))))
    named = name_maxima(program)
    assert len(named.definitions) == 2
    assert {len(tensor.dims) for tensor in named.definitions} == {1, 2}
