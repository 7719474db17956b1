"""The tensors and functions of a certificate as Coq knows them."""

from __future__ import annotations

from dataclasses import dataclass

from symres.kernel.terms import Tensor

ELEMENTWISE = {
    "exp": "exp",
    "log": "ln",
    "tanh": "tanh",
    "sigmoid": "logistic",
    "sin": "sin",
    "cos": "cos",
    "step": "step",
}
"""The functions that the library has, by their Coq names."""


@dataclass(frozen=True)
class Symbol:
    """A tensor in Coq. ``params`` are its explicit tensor arguments; ``derivative`` names the lemma of its derivative
    along the curve, ``positive`` or ``nonnegative`` that of its sign. ``ranged`` lemmas take a range hypothesis after
    each index; ``inductive`` ones, induction hypotheses, take no first index."""

    name: str
    params: tuple[Tensor, ...] = ()
    derivative: str = ""
    positive: str = ""
    nonnegative: str = ""
    range: str = ""
    inductive: bool = False
