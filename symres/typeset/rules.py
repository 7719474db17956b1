"""The rules for sums, entries, indices and binders."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symres.kernel.terms import Add, Binder, Entry, Iverson, Maximum, Num, Size, Sum, Tensor, Var
from symres.language.formula import ADJOINT
from symres.typeset import layout as tree
from symres.typeset.indices import printed, sides
from symres.typeset.layout import Level, Node, Piece, at, atom, relation, row
from symres.typeset.patterns import in_sum, signed
from symres.typeset.setting import Setting, layout


@layout.register
def _(formula: Num, setting: Setting) -> Piece:
    return number(formula.value)


@layout.register
def _(formula: Size, setting: Setting) -> Piece:
    return atom(setting.notation.symbol(formula.name))


@layout.register
def _(formula: Tensor, setting: Setting) -> Piece:
    return symbol(setting.notation.symbol(formula.name))


@layout.register
def _(formula: Var, setting: Setting) -> Piece:
    if not setting.raw and setting.notation.base(formula.dim):
        return layout(printed(formula, 0, setting.notation.base), replace(setting, raw=True))
    letter = setting.letters.get(formula)
    return atom(letter if letter is not None else tree.Letter(formula.name))


@layout.register
def _(formula: Entry, setting: Setting) -> Piece:
    tensor = formula.tensor
    axes = setting.notation.axes.get(tensor.name.removeprefix(ADJOINT))
    node = setting.entry(setting.notation.symbol(tensor.name), formula.args, tensor.dims, axes)
    shift = setting.notation.base(tensor.bound) if tensor.kind == "int" and tensor.bound is not None else 0
    if shift and not setting.raw:
        return Piece(row(node, tree.Op("-"), tree.Digits(str(shift))), Level.SUM)
    return symbol(node)


@layout.register
def _(formula: Add, setting: Setting) -> Piece:
    items: list[Node] = []
    summands = in_sum(formula.args)
    if len(summands) == 1 and not summands[0].negative:
        return layout(summands[0].term, setting)
    for item in summands:
        if items or item.negative:
            items.append(tree.Op("-" if item.negative else "+", "binary" if items else "unary"))
        items.append(at(layout(item.term, setting), Level.OPERATOR))
    return Piece(tree.Row(tuple(items)), Level.SUM)


@layout.register
def _(formula: Sum, setting: Setting) -> Piece:
    if signed(formula).negative:
        # Σ(−a) is −Σ a
        inner = layout(signed(formula).term, setting)
        return Piece(row(tree.Op("-", "unary"), inner.node), Level.SUM)
    return _reaching("sum", formula, setting)


@layout.register
def _(formula: Maximum, setting: Setting) -> Piece:
    return _reaching("max", formula, setting)


def _reaching(sign: str, formula: Binder, setting: Setting) -> Piece:
    """A large operator with its range before the body."""
    base = setting.notation.base(formula.var.dim)
    last = layout(printed(formula.var.dim, base - 1, setting.notation.base), replace(setting, raw=True)).node
    (var,), term, inside = setting.bind((formula.var,), formula.body)
    letter, body = inside.letters[var], at(layout(term, inside), Level.OPERATOR)
    if sign == "max":
        return Piece(row(tree.Big(sign, letter), body), Level.OPERATOR)
    first = row(letter, relation("="), tree.Digits(str(base)))
    return Piece(row(tree.Big(sign, first, last), body), Level.OPERATOR)


@layout.register
def _(formula: Iverson, setting: Setting) -> Piece:
    sign, left, right = sides(formula, setting.notation.base)
    raw = replace(setting, raw=True)
    if sign == "=" and isinstance(left, Var) and isinstance(right, Var):
        return atom(tree.Script(tree.Sign("delta"), sub=row(layout(left, raw).node, layout(right, raw).node)))
    return atom(tree.Fence(row(layout(left, raw).node, relation(sign), layout(right, raw).node), "[", "]"))


def number(value: Fraction) -> Piece:
    """A rational number."""
    sign = [tree.Op("-", "unary")] if value < 0 else []
    top, bottom = tree.Digits(str(abs(value.numerator))), tree.Digits(str(value.denominator))
    node: Node = top if value.denominator == 1 else tree.Fraction(top, bottom)
    level = Level.SUM if sign else Level.ATOM if value.denominator == 1 else Level.FACTOR
    return Piece(row(*sign, node), level)


def symbol(node: Node) -> Piece:
    """A symbol with its indices; one that is a fraction, a pair such as dγ, or has an exponent, takes none."""
    plain = not isinstance(node, (tree.Fraction, tree.Row)) and not tree.has_superscript(node)
    return Piece(node, Level.ATOM if plain else Level.FACTOR)
