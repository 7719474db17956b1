"""The right gradient as NumPy code, to be put in the place of the wrong one."""

from __future__ import annotations

from symres.calculus.reverse import Backward
from symres.errors import SymresError
from symres.language.program import Value
from symres.numeric.codegen import backward_source
from symres.verify.witness import Claim


def correction(claim: Claim, backward: Backward) -> str:
    """A NumPy function that computes the true gradient; empty when there is none to be written."""
    derived = claim.derived
    value = Value(derived.axes, derived.vars, derived.body)
    try:
        return backward_source(
            backward.program, list(backward.adjoints.values()), {claim.wrt: value}, dict(claim.upstream)
        )
    except (SymresError, KeyError, ValueError, TypeError):
        return ""
