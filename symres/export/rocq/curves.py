"""Proof terms for derivatives along a curve: one rule of the library for each sign of an expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from symres.errors import Unsupported
from symres.export.rocq.nodes import (
    Applied,
    Call,
    Inverse,
    Leaf,
    Node,
    Opposite,
    Plus,
    Power,
    Times,
    Total,
    is_constant,
    lam,
    text,
)
from symres.export.rocq.signs import nonzero, positive
from symres.kernel.terms import Term, Var

RULES = {"exp": "D_exp", "tanh": "D_tanh", "logistic": "D_logistic", "sin": "D_sin", "cos": "D_cos"}


class Premises(Protocol):
    """Where the conditions come from that no form of expression proves: hypotheses of the theorem."""

    def proof(self, kind: str, term: Term, names: Mapping[Var, str]) -> str:
        """A proof of ``term <> 0`` (kinds ``kink``, ``nonzero``) or ``0 < term`` (``positive``) from a hypothesis."""


@dataclass
class CurveProof:
    """Builds the proof that an expression moves with some velocity; ``facts`` are the conditions met on the way."""

    premises: Premises
    at: str = "t"
    facts: list[str] = field(default_factory=list)

    def nonzero(self, node: Node, of: Inverse | Call, kind: str = "nonzero") -> str:
        """A proof that an expression is not zero at the point of the curve."""
        return self._fact(nonzero(node) or self.premises.proof(kind, of.term, of.names), f"{text(node)} <> 0")

    def positive(self, node: Node, of: Call) -> str:
        """A proof that an expression is positive at the point of the curve."""
        return self._fact(positive(node) or self.premises.proof("positive", of.term, of.names), f"0 < {text(node)}")

    def _fact(self, proof: str, statement: str) -> str:
        proof = f"({proof} : {statement.replace('(c u)', '(c t)')})"
        if proof not in self.facts:
            self.facts.append(proof)
        return proof

    def prove(self, node: Node) -> str:
        """A proof term of ``is_derive (fun u => node) t _``."""
        if is_constant(node):
            return f"(D_const ({text(node)}) {self.at})"
        match node:
            case Leaf():
                return str(node.proof)
            case Plus():
                return self._two("D_add", node.left, node.right)
            case Times():
                return self._two("D_mul", node.left, node.right)
            case Opposite():
                return self._one("D_opp", node.arg)
            case Inverse() | Power() | Call(name="sqrt"):
                return self._power(node)
            case Call():
                return self._call(node)
            case Total():
                return self._sum(node)
            case Applied():
                return self._applied(node)
        raise Unsupported(f"Coq certificates do not differentiate {text(node)}")

    def _function(self, node: Node) -> str:
        return f"(fun u : R => {text(node)})"

    def _two(self, lemma: str, left: Node, right: Node) -> str:
        parts = f"{self._function(left)} {self._function(right)} {self.at} _ _ {self.prove(left)} {self.prove(right)}"
        return f"({lemma} {parts})"

    def _one(self, lemma: str, arg: Node, *extra: str) -> str:
        return f"({' '.join((lemma, self._function(arg), self.at, '_', *extra, self.prove(arg)))})"

    def _power(self, node: Node) -> str:
        inverse, inner = isinstance(node, Inverse), node.arg if isinstance(node, Inverse) else node
        count = inner.exponent if isinstance(inner, Power) else 1
        base = inner.arg if isinstance(inner, Power) else inner
        if isinstance(base, Call) and base.name == "sqrt":
            condition = self.positive(base.arg, base)
            if count == 1:
                return self._one("D_inv_sqrt" if inverse else "D_sqrt", base.arg, condition)
            lemma, n = ("D_inv_sqrt_pow", count - 1) if inverse else ("D_sqrt_pow", count - 2)
            return self._one(lemma, base.arg, str(n), f"({count} / 2)", "ltac:(simpl; lra)", condition)
        if inverse:
            assert isinstance(node, Inverse)
            condition = self.nonzero(base, node)
            if count == 1:
                return self._one("D_inv", base, condition)
            return self._one("D_inv_pow", base, str(count - 1), str(count), "ltac:(simpl; lra)", condition)
        return self._one("D_pow", base, str(count - 1), str(count), "ltac:(simpl; lra)")

    def _call(self, node: Call) -> str:
        if node.name == "ln":
            return self._one("D_ln", node.arg, self.positive(node.arg, node))
        if node.name == "step":
            return self._one("D_step", node.arg, self.nonzero(node.arg, node, "kink"))
        if node.name in RULES:
            return self._one(RULES[node.name], node.arg)
        inner = self.prove(node.arg)
        value = f"({node.name}_derivative _)"
        return f"(D_comp {node.name} {self._function(node.arg)} {self.at} _ _ {inner} {value})"

    def _sum(self, node: Total) -> str:
        function = f"(fun {node.var} (u : R) => {text(node.body)})"
        proof = self.adjusted(node.body, node.tangent)
        velocity = f"(fun {node.var} => {node.tangent})"
        return f"(D_sum {node.size} {function} {self.at} {velocity} (fun {node.var} {node.hyp} => {proof}))"

    def adjusted(self, node: Node, tangent: str) -> str:
        """A proof of the derivative in the form in which the tangent is written."""
        before, self.facts = self.facts, []
        inner = self.prove(node)
        script, self.facts = self.script(), before
        return f"(is_derive_eq _ {self.at} _ ({tangent}) {inner} ltac:({script}))"

    def script(self) -> str:
        """The tactic that shows the derivative as the rules give it equal to the tangent as it is written."""
        return "; ".join((*(f"pose proof {fact}" for fact in self.facts), "cbv beta", "tangent"))

    def _applied(self, node: Applied) -> str:
        words = [node.derivative, self.at]
        for argument in node.arguments:
            binders = " ".join(f"{name} {hyp}" for name, hyp in zip(argument.vars, argument.hyps, strict=True))
            proof = self.adjusted(argument.body, argument.tangent)
            words += [
                f"(fun (u : R) => {argument.text})",
                lam(argument.vars, argument.tangent),
                f"(fun {binders} => {proof})",
            ]
        ranges = [word for pair in zip(node.outs, node.ranges, strict=True) for word in pair]
        return f"({' '.join((*words, *ranges))})"
