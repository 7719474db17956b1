"""A residual block learns the difference of its function and the identity: F = H - x.

He et al. 2015 start from this. The norms of F and of H - x are the same number, so that H is within a distance of the
identity exactly when F is as small.
"""

from __future__ import annotations

from symres.derivation.chain import about
from symres.derivation.document import Derivation
from symres.derivation.notation import General, total, whole
from symres.kernel.terms import Size, Tensor, Term, Var
from symres.language.program import Definition

ID = "residual-function"
SUBJECT = "residual"
KIND = "identity"
VERDICT = "theorem"
SOURCES = {"he2015resnet": "Section 3.1"}

D = Size("D")
d = Var("d", D)
x = Tensor("x", (D,))
H = Tensor("H", (D,))


def F(i: Term) -> Term:
    return General("F", (D,))(i)(whole((D,), lambda k: x(k)))


def build() -> Derivation:
    """The statement and its proof."""
    block = Definition(H, ((D,),), (d,), F(d) + x(d))
    norm = total(D, lambda i: F(i) ** 2) ** "1/2"
    distance = total(D, lambda i: (H(i) - x(i)) ** 2) ** "1/2"
    return (
        about([block])
        .let("For every size {D} and every function F,", D=D)
        .chain("branch", F(d), H(d) - x(d), title="The branch", reasons=["x subtracted from the block"])
        .chain("norm", norm, distance, title="The norms", reasons=["the branch, entry by entry"])
        .document(__name__)
    )
