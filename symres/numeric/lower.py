"""From terms to array expressions: one function for each kind of node."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch

from symres.errors import Unsupported, UsageError
from symres.kernel.terms import (
    Add,
    Apply,
    Entry,
    Fun,
    Iverson,
    Maximum,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
    add,
    mul,
    sum_,
)
from symres.language.constants import VALUES
from symres.language.functions import FUNCTIONS
from symres.language.program import Definition
from symres.numeric.arithmetic import (
    lower_add,
    lower_mul,
    lower_power,
    one_exponential,
    positive_power,
    sign,
    without_constants,
)
from symres.numeric.canonical import Canon
from symres.numeric.contract import contract
from symres.numeric.names import identifier
from symres.numeric.nodes import UNNAMED, Graph, Node
from symres.numeric.reads import read
from symres.numeric.sums import expand_for_sum, factors_of, without_deltas
from symres.numeric.unknown import lower_apply


class Lowering:
    """Lowers terms into one graph. ``arrays`` holds the node of each tensor with its index variables."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.canon = graph, Canon()
        self.arrays: dict[Tensor, tuple[Node, tuple[Var, ...]]] = {}
        self.roots: dict[Term, tuple[Fraction, Node]] = {}
        self._done: dict[Term, Node] = {}

    def input(self, tensor: Tensor, name: str) -> Node:
        """An array that the caller gives, under a Python name."""
        variables = self.canon.choose(
            Var(dim.name.lower() if isinstance(dim, Size) else "i", dim) for dim in tensor.dims
        )
        kind = {"bool": "bool", "int": "int"}.get(tensor.kind, "real")
        node = self.graph.make("input", (), (name,), variables, kind)
        self.arrays[tensor] = (node, variables)
        return node

    def define(self, definition: Definition) -> Node:
        """The array of a definition, under its name; later terms may use it."""
        node, variables = self.over(definition.body, definition.vars)
        if node.op not in UNNAMED:
            self.graph.names.setdefault(node, identifier(definition.tensor.name))
        body = self.canonical(definition.body, variables, definition.vars)
        if isinstance(body, Pow) and body.exponent < 0:
            self.roots.setdefault(body.base, (body.exponent, node))
        self.arrays[definition.tensor] = (node, variables)
        return node

    def over(self, body: Term, variables: tuple[Var, ...]) -> tuple[Node, tuple[Var, ...]]:
        """The array of a term over index variables, with the labels that stand for them.

        It has no axis for a variable on which the term does not depend.
        """
        chosen = self.canon.choose(variables)
        term = self.canonical(body, chosen, variables)
        self.graph.preferred = chosen
        return self.term(term), chosen

    def canonical(self, body: Term, chosen: tuple[Var, ...], variables: tuple[Var, ...]) -> Term:
        """The body over canonical variables."""
        return self.canon.term(body, dict(zip(variables, chosen, strict=True)))

    def named_power(self, term: Pow) -> Node | None:
        """A negative power as a power of a named one: u^(-3/2) where rstd = u^(-1/2) is rstd^3."""
        exponent, node = self.roots.get(term.base, (Fraction(1), None))
        times = term.exponent / exponent
        if node is None or times.denominator != 1 or times < 1:
            return None
        return positive_power(self.graph, node, times)

    def term(self, term: Term) -> Node:
        """The array of a term whose variables are canonical."""
        if term not in self._done:
            self._done[term] = _lower(term, self)
        return self._done[term]

    def rest(self, term: Term) -> Node:
        """The array of a term made from parts of a canonical one: its bound variables are chosen again."""
        return self.term(self.canon.term(term, {var: var for var in term.free}))


@singledispatch
def _lower(term: Term, to: Lowering) -> Node:
    raise Unsupported(f"{type(term).__name__} cannot be written in NumPy")


@_lower.register
def _(term: Num, to: Lowering) -> Node:
    return to.graph.number(term.value)


@_lower.register
def _(term: Size, to: Lowering) -> Node:
    return to.graph.size(term)


@_lower.register
def _(term: Var, to: Lowering) -> Node:
    return to.graph.make("arange", (to.term(term.dim),), (), (term,))


@_lower.register
def _(term: Entry, to: Lowering) -> Node:
    if term.tensor in VALUES and term.tensor not in to.arrays:
        return to.graph.make("constant", (), (term.tensor.name,), ())
    if term.tensor not in to.arrays:
        raise UsageError(f"the tensor {term.tensor.name} is neither an argument nor defined")
    node, variables = to.arrays[term.tensor]
    return read(to.graph, node, variables, term, to.term)


_lower.register(Add, lower_add)
_lower.register(Mul, lower_mul)
_lower.register(Pow, lower_power)
_lower.register(Apply, lower_apply)


@_lower.register
def _(term: Sum, to: Lowering) -> Node:
    bound, body = [term.var], term.body
    while isinstance(body, Sum) and body.var not in bound:
        bound.append(body.var)
        body = body.body
    bound, body = without_deltas(bound, body)
    if not bound:
        return to.rest(body)
    parts = expand_for_sum(bound, body)
    if len(parts) > 1:
        return to.rest(add(*(mul(*without_constants(sum_(bound, part))) for part in parts)))
    # Factors without a bound index stay outside, and so do numbers and sizes.
    factors = one_exponential(list(factors_of(parts[0])))
    inner = [factor for factor in factors if factor.free & set(bound)]
    outer = [factor for factor in factors if not factor.free & set(bound)]
    if outer and inner:
        return to.rest(mul(*outer, sum_(bound, mul(*inner))))
    return contract(to.graph, [to.rest(factor) for factor in factors], bound, lambda var: to.term(var.dim))


@_lower.register
def _(term: Maximum, to: Lowering) -> Node:
    body = to.term(term.body)
    if term.var not in body.labels:
        return body
    labels = tuple(label for label in body.labels if label is not term.var)
    return to.graph.make("max", (body,), (term.var,), labels)


@_lower.register
def _(term: Iverson, to: Lowering) -> Node:
    signed = [sign(arg) for arg in (term.arg.args if isinstance(term.arg, Add) else (term.arg,))]
    left = to.rest(add(*(part for positive, part in signed if positive)))
    right = to.rest(add(*(part for positive, part in signed if not positive)))
    return to.graph.elementwise("compare", (left, right), ("==" if term.rel == "=" else ">=",))


@_lower.register
def _(term: Fun, to: Lowering) -> Node:
    args = [to.term(arg) for arg in term.args]
    if term.name in ("step", "eq0"):
        return to.graph.elementwise("compare", (args[0], to.graph.number(0)), (">" if term.name == "step" else "==",))
    row = FUNCTIONS.get(term.name)
    if row is None:
        return to.graph.elementwise("unknown", args, (term.name,))
    if not row.numpy and row.definition is not None:
        return to.rest(row.definition(*term.args))
    return to.graph.elementwise("fun", args, (term.name,))
