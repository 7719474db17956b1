"""The rules for products and powers: what goes into a fraction, what stands beside it, and where brackets are due.

Factors keep the author's order, but for two habits of print: a divisor becomes a fraction, its numerator the factors
that are small, and a factor Σ goes last, where it needs no brackets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from symres.kernel.terms import Add, Binder, Mul, Num, Pow, Size, Sum, Term, power, walk
from symres.typeset import layout as tree
from symres.typeset.layout import Level, Node, Piece, at, row
from symres.typeset.metrics import TEXT, measure
from symres.typeset.patterns import in_product, signed
from symres.typeset.rules import number
from symres.typeset.setting import Setting, layout

_SMALL = 1.35
"""The height in ems up to which a factor may go into a numerator."""

_FLAT = 1.45
"""The height in ems up to which a sum may be a numerator: it holds no fraction."""

_SQUARED = frozenset(("sin", "cos", "tan", "sinh", "cosh", "tanh"))
"""Functions whose powers are written tanh²(u), as is the custom."""


@layout.register
def _(formula: Mul, setting: Setting) -> Piece:
    return product(formula.args, setting)


@layout.register
def _(formula: Pow, setting: Setting) -> Piece:
    return product((formula,), setting) if formula.exponent < 0 else _power(formula, setting)


@dataclass(frozen=True)
class _Factors:
    coefficient: Fraction
    above: list[Term]
    below: list[Term]

    @classmethod
    def split(cls, factors: tuple[Term, ...]) -> _Factors:
        coefficient, above, below = Fraction(1), list[Term](), list[Term]()
        for factor in factors:
            if isinstance(factor, Num):
                coefficient *= factor.value
            elif isinstance(factor, Pow) and factor.exponent < 0:
                below.append(power(factor.base, -factor.exponent))
            elif above and factor is above[-1]:
                above[-1] = power(factor, 2)  # x x is x²
            elif isinstance(factor, Sum) and signed(factor).negative:
                coefficient = -coefficient
                above.append(signed(factor).term)
            else:
                above.append(factor)
        return cls(coefficient, above, list(_gathered(below)))


def _gathered(below: list[Term]) -> Iterator[Term]:
    """The divisors, powers of one base put together: D·D is D². Plain sizes come first, in the order of their names."""
    exponents: dict[Term, Fraction] = {}
    for term in below:
        base, exponent = (term.base, term.exponent) if isinstance(term, Pow) else (term, Fraction(1))
        exponents[base] = exponents.get(base, Fraction(0)) + exponent
    bases = sorted(exponents, key=lambda base: (0, base.name) if isinstance(base, Size) else (1, ""))
    return (power(base, exponents[base]) for base in bases)


def product(factors: tuple[Term, ...], setting: Setting, others: tuple[Piece, ...] = ()) -> Piece:
    """The product of the factors, and of others that are laid out already."""
    parts = _Factors.split(in_product(factors))
    negative = parts.coefficient < 0
    size = abs(parts.coefficient)
    above = [layout(factor, setting) for factor in parts.above]
    below = [layout(factor, setting) for factor in parts.below]
    wide = [measure(piece.node, TEXT).width > setting.numerator for piece in below]
    # Lines cannot break in a divisor: a wide one becomes a negative power.
    others = (*(_inverse(term, setting) for term, is_wide in zip(parts.below, wide, strict=True) if is_wide), *others)
    below = [piece for piece, is_wide in zip(below, wide, strict=True) if not is_wide]
    if size.denominator == 1 and not below:
        pieces = [*above, *others] if size == 1 and (above or others) else [number(size), *above, *others]
    else:
        pieces = _fraction(size, parts, above, below, others, setting)
    result = beside(pieces)
    return Piece(row(tree.Op("-", "unary"), at(result, Level.OPERATOR)), Level.SUM) if negative else result


def beside(pieces: list[Piece]) -> Piece:
    """Factors side by side; those that reach to the right, such as Σ, come last."""
    if len(pieces) == 1:
        return pieces[0]
    reaching = [piece for piece in pieces if piece.level == Level.OPERATOR]
    ordered = [piece for piece in pieces if piece.level != Level.OPERATOR] + reaching
    items: list[Node] = []
    for position, piece in enumerate(ordered):
        last = position == len(ordered) - 1
        node = at(piece, Level.OPERATOR if last and position else Level.PRODUCT)
        if items:
            items += _between(items[-1], node)
        items.append(node)
    return Piece(tree.Product(tuple(items)), Level.OPERATOR if reaching else Level.PRODUCT)


def _between(left: Node, right: Node) -> list[Node]:
    """What separates two factors: a dot before a digit, a thin space next to a word, nothing between letters."""
    last, first = _edge(left, -1), _edge(right, 0)
    if isinstance(first, tree.Digits) or (isinstance(last, tree.Digits) and isinstance(first, tree.Digits)):
        return [tree.Op("cdot")]
    return [tree.Thin()] if _is_word(last) or _is_word(first) else []


def _is_word(node: Node) -> bool:
    """Whether a node is a word that has no space around it of its own."""
    return isinstance(node, tree.Prose) or (isinstance(node, tree.Upright) and not node.operator)


def _edge(node: Node, end: int) -> Node:
    """The first (0) or last (-1) sign of a node, scripts and accents aside."""
    while True:
        if isinstance(node, tree.Row):
            node = node.items[end]
        elif isinstance(node, tree.Script):
            node = node.base
        else:
            return node


def _fraction(
    size: Fraction,
    parts: _Factors,
    above: list[Piece],
    below: list[Piece],
    others: tuple[Piece, ...],
    setting: Setting,
) -> list[Piece]:
    """A fraction, and the factors that stand beside it."""
    if size.denominator != 1:
        below = [number(Fraction(size.denominator)), *below]
    room, tops, rest = setting.numerator, list[Piece](), list[Piece]()
    for term, piece in zip(parts.above, above, strict=True):
        left = room - measure(piece.node, TEXT).width
        if left >= 0 and _goes_inside(term, piece, parts, setting):
            room = left
            tops.append(piece)
        else:
            rest.append(piece)
    if not rest and all(_is_small(piece, setting) for piece in others):
        tops += others
    else:
        rest += others
    if size.numerator != 1 or not tops:
        tops.insert(0, number(Fraction(size.numerator)))
    return [Piece(tree.Fraction(beside(tops).node, at(beside(below), Level.SUM)), Level.FACTOR), *rest]


def _goes_inside(term: Term, piece: Piece, parts: _Factors, setting: Setting) -> bool:
    """Whether a factor is printed in the numerator."""
    box = measure(piece.node, TEXT)
    others = len(parts.above) > 1
    if piece.level == Level.OPERATOR:
        # A lone sum over a quantity, not over a mere size, is a quotient; a mean is 1/D Σ.
        flat = box.height + box.depth <= _FLAT
        return flat and not others and not _is_scale(parts) and box.width <= setting.numerator
    if (
        isinstance(piece.node, tree.Fraction)
        or box.width > setting.numerator
        or (_is_scale(parts) and not _is_small(piece, setting))
    ):
        return False
    if isinstance(term, Add):
        return not _is_scale(parts) or (not others and not any(isinstance(node, Binder) for node in walk(term)))
    return True


def _is_small(piece: Piece, setting: Setting) -> bool:
    box = measure(piece.node, TEXT)
    return box.height + box.depth <= _SMALL and box.width <= setting.numerator


def _is_scale(parts: _Factors) -> bool:
    """Whether the divisor is made of sizes and numbers only."""
    return all(isinstance(node, (Size, Num, Add, Mul, Pow)) for term in parts.below for node in walk(term))


def _power(formula: Pow, setting: Setting) -> Piece:
    """A positive power."""
    base = layout(formula.base, setting)
    if formula.exponent == Fraction(1, 2) and measure(base.node).width <= setting.numerator:
        return Piece(tree.Root(base.node), Level.FACTOR)
    return _raised(base, formula.exponent)


def _inverse(term: Term, setting: Setting) -> Piece:
    base, exponent = (term.base, term.exponent) if isinstance(term, Pow) else (term, Fraction(1))
    return _raised(layout(base, setting), -exponent)


def _raised(base: Piece, exponent: Fraction) -> Piece:
    """The base with an exponent."""
    shown = str(abs(exponent.numerator)) + (f"/{exponent.denominator}" if exponent.denominator != 1 else "")
    sup = row(*([tree.Op("-", "unary")] if exponent < 0 else []), tree.Digits(shown))
    named = base.node.items if isinstance(base.node, tree.Row) else ()
    head = named[0] if len(named) == 2 else None
    if exponent.denominator == 1 and exponent > 0 and isinstance(head, tree.Upright) and head.text in _SQUARED:
        return Piece(row(tree.Script(head, sup=sup), *named[1:]), Level.FACTOR)
    node = at(base, Level.ATOM)
    return Piece(
        tree.subscripted(node, None, sup) if isinstance(node, tree.Script) else tree.Script(node, sup=sup), Level.FACTOR
    )
