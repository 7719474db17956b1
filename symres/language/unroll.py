"""Terms at concrete sizes: sums over a fixed range written out, one summand for each index."""

from __future__ import annotations

from symres.kernel.terms import Binder, Num, Sum, Term, add, substitute, transform, walk

LONGEST = 64


def unroll(term: Term) -> Term:
    """The same value with every sum over a range of fixed length written out, up to ``LONGEST`` summands each."""

    def rule(node: Term) -> Term | None:
        if not isinstance(node, Sum) or not isinstance(node.var.dim, Num) or node.var.dim.value > LONGEST:
            return None
        return add(*(substitute(node.body, {node.var: Num(k)}) for k in range(int(node.var.dim.value))))

    return transform(term, rule) if any(isinstance(part, Binder) for part in walk(term)) else term
