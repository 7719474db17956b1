"""From terms to array expressions: one function for each kind of node."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch

from symres.errors import Unsupported
from symres.kernel.terms import (
    ONE,
    Add,
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
    neg,
    power,
    sum_,
)
from symres.language.constants import INFINITY, VALUES
from symres.language.functions import FUNCTIONS, split_name
from symres.language.program import Definition
from symres.numeric.canonical import Canon
from symres.numeric.contract import contract, product
from symres.numeric.names import identifier
from symres.numeric.nodes import LEAVES, Graph, Node
from symres.numeric.reads import read
from symres.numeric.sums import expand_for_sum, without_deltas


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
        if node.op not in LEAVES:
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
        return self.term(self.canonical(body, chosen, variables)), chosen

    def canonical(self, body: Term, chosen: tuple[Var, ...], variables: tuple[Var, ...]) -> Term:
        """The body over canonical variables."""
        return self.canon.term(body, dict(zip(variables, chosen, strict=True)))

    def named_power(self, term: Pow) -> Node | None:
        """A negative power as a power of a named one: u^(-3/2) where rstd = u^(-1/2) is rstd^3."""
        exponent, node = self.roots.get(term.base, (Fraction(1), None))
        times = term.exponent / exponent
        if node is None or times.denominator != 1 or times < 1:
            return None
        return _positive_power(self.graph, node, times)

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
    raise Unsupported(
        f"{type(term).__name__} cannot be written in NumPy yet",
        remedy="general functions F have no code; give the layer's own formula",
    )


@_lower.register
def _(term: Num, to: Lowering) -> Node:
    return to.graph.number(term.value)


@_lower.register
def _(term: Size, to: Lowering) -> Node:
    return to.graph.size(term)


@_lower.register
def _(term: Var, to: Lowering) -> Node:
    return to.graph.make("arange", (to.term(term.dim),), (), (term,), "int")


@_lower.register
def _(term: Entry, to: Lowering) -> Node:
    if term.tensor in VALUES and term.tensor not in to.arrays:
        return to.graph.make("constant", (), (term.tensor.name,), ())
    node, variables = to.arrays[term.tensor]
    return read(to.graph, node, variables, term, to.term)


@_lower.register
def _(term: Add, to: Lowering) -> Node:
    chosen = _where(term, to)
    if chosen is not None:
        return chosen
    signed = [_sign(mul(*_without_constants(arg))) for arg in term.args]
    nodes = _grouped(to.graph, [(positive, to.rest(part)) for positive, part in signed])
    # a - b rather than -b + a
    nodes.sort(key=lambda pair: not pair[0]) if not nodes[0][0] else None
    positive, total = nodes[0]
    total = total if positive else to.graph.neg(total)
    for positive, node in nodes[1:]:
        total = to.graph.add(total, node) if positive else to.graph.sub(total, node)
    return total


def _grouped(graph: Graph, nodes: list[tuple[bool, Node]]) -> list[tuple[bool, Node]]:
    """Add small arrays with the same labels to each other before they meet a larger one."""
    widest = max(len(node.labels) for _, node in nodes)
    result: list[tuple[bool, Node]] = []
    for positive, node in nodes:
        twin = next((k for k, (_, other) in enumerate(result) if set(other.labels) == set(node.labels)), None)
        if twin is None or len(node.labels) == widest:
            result.append((positive, node))
        else:
            sign, other = result[twin]
            result[twin] = (sign, graph.add(other, node) if sign == positive else graph.sub(other, node))
    return result


def _sign(term: Term) -> tuple[bool, Term]:
    if isinstance(term, Num):
        return term.value >= 0, Num(abs(term.value))
    if isinstance(term, Mul) and isinstance(term.args[0], Num) and term.args[0].value < 0:
        return False, neg(term)
    return True, term


def _factors(term: Term) -> tuple[Term, ...]:
    return term.args if isinstance(term, Mul) else (term,)


def _is_mask(term: Term) -> bool:
    return (
        isinstance(term, Iverson)
        or (isinstance(term, Fun) and term.name in ("step", "eq0"))
        or (isinstance(term, Entry) and term.tensor.kind == "bool")
    )


def _where(term: Add, to: Lowering) -> Node | None:
    """``m a + (1 - m) b`` with a mask m is a choice; b may be minus infinity."""
    if len(term.args) != 2:
        return None
    for one, other in (term.args, term.args[::-1]):
        for mask in filter(_is_mask, _factors(one)):
            opposite = add(1, neg(mask))
            rest = [factor for factor in _factors(other) if factor is not opposite]
            if len(rest) == len(_factors(other)):
                continue
            kept = [factor for factor in _factors(one) if factor is not mask]
            if rest == [Num(-1), INFINITY()]:
                low = to.graph.make("constant", (), ("-infinity",), ())
            else:
                low = to.rest(mul(*rest))
            return to.graph.elementwise("where", (to.term(mask), to.rest(mul(*kept)), low))
    return None


@_lower.register
def _(term: Mul, to: Lowering) -> Node:
    factors = [part for factor in term.args for part in _without_constants(factor)]
    mean = _mean(factors, to)
    nodes = [mean] if mean is not None else []
    if mean is None:
        relu = _relu(factors, to)
        nodes = [relu] if relu is not None else []
    coefficient, above, below = Fraction(1), nodes, []
    for factor in factors:
        if isinstance(factor, Num):
            coefficient *= factor.value
        elif isinstance(factor, Pow) and (named := to.named_power(factor)) is not None:
            above.append(named)
        elif isinstance(factor, Pow) and factor.exponent < 0:
            below.append(to.rest(power(factor.base, -factor.exponent)))
        else:
            above.append(to.term(factor))
    return product(to.graph, *_scaled(to.graph, coefficient, above, below))


def _scaled(graph: Graph, coefficient: Fraction, above: list[Node], below: list[Node]) -> tuple[list[Node], list[Node]]:
    """Numerators and denominators with a rational coefficient; a mere sign goes to the smallest numerator."""
    if coefficient == 1:
        return above, below
    if coefficient == -1 and above:
        smallest = min(above, key=lambda node: len(node.labels))
        return [graph.neg(node) if node is smallest else node for node in above], below
    if _is_decimal(coefficient) or not above:
        return [graph.number(coefficient), *above], below
    return [graph.number(coefficient.numerator), *above], [graph.number(coefficient.denominator), *below]


def _without_constants(factor: Term) -> list[Term]:
    """A sum, with the factors that do not depend on its indices taken out."""
    if not isinstance(factor, Sum):
        return [factor]
    inner = _without_constants(factor.body) if isinstance(factor.body, Sum) else list(_factors(factor.body))
    outer = [part for part in inner if factor.var not in part.free]
    kept = mul(*(part for part in inner if factor.var in part.free))
    return [*outer, sum_(factor.var, kept)] if outer and kept is not ONE else [factor]


def _is_decimal(value: Fraction) -> bool:
    """Whether the number is a short decimal fraction, such as 0.5 or 0.044715."""
    return (value * 10**6).denominator == 1


def _mean(factors: list[Term], to: Lowering) -> Node | None:
    """Take ``1/(B D) sum_{b,d} u`` out of the factors where the sum is one over whole axes."""
    for total in (factor for factor in factors if isinstance(factor, Sum)):
        node = to.term(total)
        if node.op != "sum":
            continue
        inverse = [power(label.dim, -1) for label in node.data]
        rest = list(factors)
        for factor in inverse:
            if factor not in rest:
                break
            rest.remove(factor)
        else:
            rest.remove(total)
            factors[:] = rest
            return to.graph.make("mean", node.args, node.data, node.labels)
    return None


def _relu(factors: list[Term], to: Lowering) -> Node | None:
    """Take ``u [u > 0]`` out of the factors: it is max(u, 0)."""
    for mask in factors:
        if isinstance(mask, Fun) and mask.name == "step" and mask.args[0] in factors:
            factors.remove(mask)
            factors.remove(mask.args[0])
            zero = to.graph.number(0)
            return to.graph.elementwise("maximum", (to.term(mask.args[0]), zero))
    return None


@_lower.register
def _(term: Pow, to: Lowering) -> Node:
    named = to.named_power(term)
    if named is not None:
        return named
    if term.exponent < 0:
        return to.graph.div(to.graph.number(1), to.rest(power(term.base, -term.exponent)))
    return _positive_power(to.graph, to.term(term.base), term.exponent)


def _positive_power(graph: Graph, base: Node, exponent: Fraction) -> Node:
    """Squares and square roots are fast in NumPy, other powers are not."""
    if exponent == 1:
        return base
    if exponent in (2, Fraction(1, 2)) or exponent.denominator > 2 or (exponent == 3 and len(base.labels) < 2):
        return graph.elementwise("pow", (base,), (exponent,))
    if exponent.denominator == 2:
        root = graph.elementwise("pow", (base,), (Fraction(1, 2),))
        return graph.mul(_positive_power(graph, base, exponent - Fraction(1, 2)), root)
    half = _positive_power(graph, base, Fraction(exponent.numerator // 2))
    square = graph.elementwise("pow", (half,), (Fraction(2),))
    return graph.mul(square, base) if exponent.numerator % 2 else square


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
        return to.rest(add(*(mul(*_without_constants(sum_(bound, part))) for part in parts)))
    # Factors without a bound index stay outside, and so do numbers and sizes.
    inner = [factor for factor in _factors(parts[0]) if factor.free & set(bound)]
    outer = [factor for factor in _factors(parts[0]) if not factor.free & set(bound)]
    if outer and inner:
        return to.rest(mul(*outer, sum_(bound, mul(*inner))))
    return contract(to.graph, [to.term(factor) for factor in inner], bound, lambda var: to.term(var.dim))


@_lower.register
def _(term: Maximum, to: Lowering) -> Node:
    body = to.term(term.body)
    if term.var not in body.labels:
        return body
    labels = tuple(label for label in body.labels if label is not term.var)
    return to.graph.make("max", (body,), (term.var,), labels, body.kind)


@_lower.register
def _(term: Iverson, to: Lowering) -> Node:
    signed = [_sign(arg) for arg in (term.arg.args if isinstance(term.arg, Add) else (term.arg,))]
    left = to.rest(add(*(part for positive, part in signed if positive)))
    right = to.rest(add(*(part for positive, part in signed if not positive)))
    return to.graph.elementwise("compare", (left, right), ("==" if term.rel == "=" else ">=",), "bool")


@_lower.register
def _(term: Fun, to: Lowering) -> Node:
    args = [to.term(arg) for arg in term.args]
    if term.name in ("step", "eq0"):
        return to.graph.elementwise(
            "compare", (args[0], to.graph.number(0)), (">" if term.name == "step" else "==",), "bool"
        )
    row = FUNCTIONS.get(term.name)
    if row is None:
        base, _ = split_name(term.name)
        raise Unsupported(f"the unknown function {base} has no code", remedy="give the layer's own formula")
    if not row.numpy and row.definition is not None:
        return to.rest(row.definition(*term.args))
    return to.graph.elementwise("fun", args, (term.name,), "int" if term.name == "floordiv" else "real")
