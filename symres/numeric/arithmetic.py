"""Sums, products and powers as array expressions: signs, masks, means and rectifiers are recognised here."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from symres.kernel.terms import (
    ONE,
    Add,
    Entry,
    Fun,
    Iverson,
    Mul,
    Num,
    Pow,
    Sum,
    Term,
    add,
    mul,
    neg,
    power,
    sum_,
    walk,
)
from symres.language.constants import INFINITY
from symres.numeric.contract import product
from symres.numeric.nodes import Graph, Node
from symres.numeric.sums import factors_of

if TYPE_CHECKING:
    from symres.numeric.lower import Lowering


def lower_add(term: Add, to: Lowering) -> Node:
    chosen = _where(term, to)
    if chosen is not None:
        return chosen
    common, args = _common(term)
    if common:
        return to.rest(mul(*common, add(*args)))
    signed = [sign(arg) for arg in args]
    nodes = _grouped(to.graph, [(positive, to.rest(part)) for positive, part in signed])
    # a - b rather than -b + a
    nodes.sort(key=lambda pair: not pair[0]) if not nodes[0][0] else None
    positive, total = nodes[0]
    total = total if positive else to.graph.neg(total)
    for positive, node in nodes[1:]:
        total = to.graph.add(total, node) if positive else to.graph.sub(total, node)
    return total


def _common(total: Add) -> tuple[list[Term], list[Term]]:
    """The factors that all terms of a sum have, numbers apart; and the terms without them."""
    terms = [[part for factor in factors_of(arg) for part in without_constants(factor)] for arg in total.args]
    common = []
    for factor in tuple(terms[0]):
        if not isinstance(factor, Num) and all(factor in term for term in terms):
            common.append(factor)
            for term in terms:
                term.remove(factor)
    return common, [mul(*term) for term in terms]


def _taken_apart(factor: Term) -> list[Term]:
    """A factor without what can stand beside it: constants of its sums, common factors of its terms."""
    if not isinstance(factor, Add):
        return without_constants(factor)
    common, terms = _common(factor)
    return [*(part for each in common for part in _taken_apart(each)), add(*terms)] if common else [factor]


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


def sign(term: Term) -> tuple[bool, Term]:
    if isinstance(term, Num):
        return term.value >= 0, Num(abs(term.value))
    if isinstance(term, Mul) and isinstance(term.args[0], Num) and term.args[0].value < 0:
        return False, neg(term)
    return True, term


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
        for mask in filter(_is_mask, factors_of(one)):
            opposite = add(1, neg(mask))
            rest = [factor for factor in factors_of(other) if factor is not opposite]
            if len(rest) == len(factors_of(other)):
                continue
            kept = [factor for factor in factors_of(one) if factor is not mask]
            if rest == [Num(-1), INFINITY()]:
                low = to.graph.make("constant", (), ("-infinity",), ())
            else:
                low = to.rest(mul(*rest))
            return to.graph.elementwise("where", (to.term(mask), to.rest(mul(*kept)), low))
    return None


def lower_mul(term: Mul, to: Lowering) -> Node:
    factors = [part for factor in term.args for part in _taken_apart(factor)]
    factors = _collected(one_exponential([part for factor in factors for part in _powers(factor)]))
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


def _powers(factor: Term) -> list[Term]:
    """An integer power of a product as a product of powers."""
    if isinstance(factor, Pow) and isinstance(factor.base, Mul) and factor.exponent.denominator == 1:
        return [power(part, factor.exponent) for part in factor.base.args]
    return [factor]


def _collected(factors: list[Term]) -> list[Term]:
    """Equal factors as one power; a mask times itself is the mask."""
    counts = Counter(factors)
    return [factor if count == 1 or _is_mask(factor) else power(factor, count) for factor, count in counts.items()]


def one_exponential(factors: list[Term]) -> list[Term]:
    """The factors with exp(u) exp(v)^-1 as exp(u - v): one function call, and no overflow where u - v is small."""
    exponents: list[Term] = []
    rest: list[Term] = []
    place = 0
    for factor in factors:
        base, power_of = (factor.base, factor.exponent) if isinstance(factor, Pow) else (factor, Fraction(1))
        if isinstance(base, Fun) and base.name == "exp":
            place = place or len(rest) + 1
            exponents.append(mul(power_of, base.args[0]))
        else:
            rest.append(factor)
    if len(exponents) > 1:
        exponents.sort(key=lambda exponent: not sign(exponent)[0])
        rest.insert(place - 1, Fun("exp", add(*exponents)))
        factors = rest
    return _masked(factors)


def _masked(factors: list[Term]) -> list[Term]:
    """A mask times exp(u) as the exponential of u where the mask holds and of minus infinity elsewhere.

    What is masked may be large: its exponential would be infinite, and times 0 no number.
    """
    for exponential in (factor for factor in factors if isinstance(factor, Fun) and factor.name == "exp"):
        inner = exponential.args[0]
        for mask in factors:
            if _is_mask(mask) and mask.free <= inner.free and mask not in walk(inner):
                rest = [factor for factor in factors if factor not in (mask, exponential)]
                return [*rest, Fun("exp", mask * inner + mul(-1, add(1, neg(mask)), INFINITY()))]
    return factors


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


def without_constants(factor: Term) -> list[Term]:
    """A sum, with the factors that do not depend on its indices taken out."""
    if not isinstance(factor, Sum):
        return [factor]
    inner = without_constants(factor.body) if isinstance(factor.body, Sum) else list(factors_of(factor.body))
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


def lower_power(term: Pow, to: Lowering) -> Node:
    named = to.named_power(term)
    if named is not None:
        return named
    if term.exponent < 0:
        return to.graph.div(to.graph.number(1), to.rest(power(term.base, -term.exponent)))
    return positive_power(to.graph, to.term(term.base), term.exponent)


def positive_power(graph: Graph, base: Node, exponent: Fraction) -> Node:
    """Squares and square roots are fast in NumPy, other powers are not."""
    if exponent == 1:
        return base
    if exponent in (2, Fraction(1, 2)) or exponent.denominator > 2 or (exponent == 3 and len(base.labels) < 2):
        return graph.elementwise("pow", (base,), (exponent,))
    if exponent.denominator == 2:
        root = graph.elementwise("pow", (base,), (Fraction(1, 2),))
        return graph.mul(positive_power(graph, base, exponent - Fraction(1, 2)), root)
    half = positive_power(graph, base, Fraction(exponent.numerator // 2))
    square = graph.elementwise("pow", (half,), (Fraction(2),))
    return graph.mul(square, base) if exponent.numerator % 2 else square
