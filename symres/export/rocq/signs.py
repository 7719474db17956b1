"""Proofs of signs, following an expression from the outside in: positive, not negative, not zero.

Each function gives a Coq proof term, or ``None`` where the sign does not follow from the form of the expression. What is
not proved so becomes a hypothesis of the theorem, stated by name.
"""

from __future__ import annotations

from dataclasses import replace

from symres.export.rocq.nodes import (
    Call,
    Inverse,
    Leaf,
    Node,
    Number,
    Opposite,
    Plus,
    Power,
    Times,
    Total,
    text,
)


def _apply(lemma: str, *proofs: str | None) -> str | None:
    return None if any(proof is None for proof in proofs) else f"({' '.join((lemma, *map(str, proofs)))})"


def positive(node: Node) -> str | None:
    """A proof of ``0 < node``."""
    match node:
        case Leaf():
            return node.positive or None
        case Number():
            return f"(ltac:(lra) : 0 < {text(node)})" if node.value > 0 else None
        case Plus(Leaf() as size, Opposite(Number() as number)) if size.positive.startswith("(size_pos "):
            name = size.text.removeprefix("INR ")
            return f"(size_minus_pos {name} {number.value} {name}_size)" if number.value.denominator == 1 else None
        case Plus():
            return _apply("plus_nonneg_pos _ _", nonnegative(node.left), positive(node.right)) or _apply(
                "plus_pos_nonneg _ _", positive(node.left), nonnegative(node.right)
            )
        case Times():
            return _apply("mult_pos _ _", positive(node.left), positive(node.right))
        case Inverse():
            return _apply("inv_pos _", positive(node.arg))
        case Power():
            return _apply(f"pow_pos _ {node.exponent}", positive(node.arg))
        case Call("exp"):
            return "(exp_pos _)"
        case Call("logistic"):
            return "(logistic_pos _)"
        case Call("sqrt"):
            return _apply("sqrt_pos_pos _", positive(node.arg))
        case Total(body=Times(left=Leaf(text=mask), right=factor)) if mask.startswith(f"at_most {node.var} "):
            proof, last = positive(factor), mask.split()[-1]
            every = f"(fun {node.var} {node.hyp} => {proof})"
            return proof and last.isidentifier() and f"(sum_masked_pos _ {last} _ H{last} {every})" or None
        case Total(body=Leaf(positive="", inside=inside)) if inside is not None:
            return positive(replace(node, body=inside()))
        case Total():
            proof = positive(node.body)
            return proof and f"(sum_pos _ _ {node.fact} (fun {node.var} {node.hyp} => {proof}))"
    return None


def nonnegative(node: Node) -> str | None:
    """A proof of ``0 <= node``."""
    strict = positive(node)
    if strict is not None:
        return f"(pos_nonneg _ {strict})"
    match node:
        case Leaf():
            if node.nonnegative:
                return node.nonnegative
            return "(at_most_nonneg _ _)" if node.text.startswith("at_most ") else None
        case Number():
            return f"(ltac:(lra) : 0 <= {text(node)})"
        case Plus():
            return _apply("plus_nonneg _ _", nonnegative(node.left), nonnegative(node.right))
        case Times() if text(node.left) == text(node.right):
            return "(square_nonneg _)"
        case Times():
            return _apply("mult_nonneg _ _", nonnegative(node.left), nonnegative(node.right))
        case Power() if node.exponent % 2 == 0:
            return f"(even_pow_nonneg _ {node.exponent // 2})"
        case Power():
            return _apply(f"pow_nonneg _ {node.exponent}", nonnegative(node.arg))
        case Call("sqrt"):
            return "(sqrt_nonneg _)"
        case Call("step"):
            return "(step_nonneg _)"
        case Total():
            proof = nonnegative(node.body)
            return proof and f"(sum_nonneg _ _ (fun {node.var} {node.hyp} => {proof}))"
    return None


def nonzero(node: Node) -> str | None:
    """A proof of ``node <> 0``."""
    strict = positive(node)
    if strict is not None:
        return f"(pos_nonzero _ {strict})"
    match node:
        case Times():
            return _apply("mult_nonzero _ _", nonzero(node.left), nonzero(node.right))
        case Inverse():
            return _apply("inv_nonzero _", nonzero(node.arg))
        case Power():
            return _apply(f"Symres.pow_nonzero _ {node.exponent}", nonzero(node.arg))
        case Opposite():
            return _apply("opp_nonzero _", nonzero(node.arg))
    return None
