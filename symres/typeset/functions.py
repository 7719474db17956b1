"""The rules for functions: elementwise ones by a table, general ones with their Jacobians, whole tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symres.kernel.terms import Add, Apply, Entry, Fun, Iverson, Lam, Mul, Num, Term, Var
from symres.language.functions import FUNCTIONS, split_name
from symres.typeset import layout as tree
from symres.typeset import patterns
from symres.typeset.layout import Level, Node, Piece, at, atom, relation, row
from symres.typeset.metrics import measure
from symres.typeset.patterns import signed
from symres.typeset.setting import Setting, layout

FunctionRule = Callable[[tuple[Term, ...], Setting], Piece]
RULES: dict[str, FunctionRule] = {}

_EXPONENT_WIDTH, _EXPONENT_HEIGHT = 5.0, 1.3


def rule(name: str) -> Callable[[FunctionRule], FunctionRule]:
    """Enter the rule for an elementwise function that is not printed as f(u)."""

    def enter(found: FunctionRule) -> FunctionRule:
        RULES[name] = found
        return found

    return enter


@layout.register
def _(formula: Fun, setting: Setting) -> Piece:
    special = RULES.get(formula.name)
    if special is not None:
        return special(formula.args, setting)
    return applied(_head(formula.name, setting), formula.args, setting)


def applied(head: Node, args: tuple[Term, ...], setting: Setting) -> Piece:
    """``head(args)``."""
    inner = tree.separated([layout(arg, setting).node for arg in args])
    return Piece(row(head, tree.Fence(inner)), Level.FACTOR)


def _head(name: str, setting: Setting) -> Node:
    known = FUNCTIONS.get(name)
    if known is not None:
        return _operator(known.latex, name)
    base, positions = split_name(name)
    symbol = setting.notation.symbol(base)
    if not positions:
        return symbol
    if name.endswith("'"):
        return tree.subscripted(symbol, None, row(*[tree.Sign("prime")] * len(positions)))
    places = row(*(tree.Digits(str(position + 1)) for position in positions))
    return row(tree.Script(tree.Sign("partial"), sub=places), symbol)


def _operator(latex: str, name: str) -> Node:
    """The head of a function of the table, from its name in LaTeX."""
    text = latex.removeprefix(r"\operatorname{").rstrip("}").lstrip("\\")
    stem, _, sub = text.partition("_")
    head = tree.Upright(stem if stem.isalnum() else name, operator=True)
    return tree.Script(head, sub=tree.Digits(sub.strip("{"))) if sub.strip("{}").isdecimal() else head


@rule("exp")
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    (argument,) = args
    piece = layout(argument, setting)
    box = measure(piece.node)
    if box.width <= _EXPONENT_WIDTH and box.height + box.depth <= _EXPONENT_HEIGHT:
        return Piece(tree.Script(tree.Letter("e"), sup=piece.node), Level.FACTOR)
    return applied(tree.Upright("exp", operator=True), args, setting)


@rule("sigmoid")
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return applied(tree.Upright("sigmoid", operator=True), args, setting)


@rule("step")
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return indicator(">", args[0], setting)


@rule(patterns.NOT_STEP)
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return indicator("<=", args[0], setting)


@rule("eq0")
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return indicator("=", args[0], setting)


def indicator(sign: str, argument: Term, setting: Setting) -> Piece:
    """1[u > 0]; a difference is printed as a comparison: 1[a > b]."""
    left, right = argument, Num(0)  # type: Term, Term
    if isinstance(argument, Add) and len(argument.args) == 2 and signed(argument.args[1]).negative:
        left, right = argument.args[0], signed(argument.args[1]).term
    body = row(layout(left, setting).node, relation(sign), layout(right, setting).node)
    return Piece(row(tree.Sign("one"), tree.Fence(body, "[", "]")), Level.FACTOR)


@rule(patterns.RELU)
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return applied(tree.Upright("ReLU", operator=True), args, setting)


@rule(patterns.MAX)
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return applied(tree.Upright("max", operator=True), args, setting)


@rule(patterns.MIN)
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return applied(tree.Upright("min", operator=True), args, setting)


@rule(patterns.ABS)
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    return atom(tree.Fence(layout(args[0], setting).node, "|", "|."))


@rule("floordiv")
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    top, bottom = (layout(arg, setting).node for arg in args)
    return atom(tree.Fence(tree.Fraction(top, bottom), "floor", "floor."))


@rule("pow")
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    base = at(layout(args[0], setting), Level.ATOM)
    return Piece(tree.Script(base, sup=layout(args[1], setting).node), Level.FACTOR)


@rule(patterns.MASKED)
def _(args: tuple[Term, ...], setting: Setting) -> Piece:
    mask, value = args
    condition = layout(mask, setting).node
    if isinstance(mask, Iverson) and isinstance(condition, tree.Fence):
        holds = condition.body
    else:
        holds = row(condition, relation("="), tree.Digits("1"))
    infinite = row(tree.Op("-", "unary"), tree.Sign("infty"))
    rows = ((layout(value, setting).node, row(tree.Prose("if "), holds)), (infinite, tree.Prose("otherwise")))
    return Piece(tree.Cases(rows), Level.PRODUCT)


@layout.register
def _(formula: Apply, setting: Setting) -> Piece:
    head = setting.entry(setting.notation.symbol(formula.name), formula.outs, formula.dims)
    if formula.derivatives:
        head = _jacobian(head, formula, setting)
    if not formula.arguments:
        return Piece(head, Level.FACTOR)
    inner = tree.separated([layout(argument, setting).node for argument in formula.arguments])
    return Piece(row(head, tree.Fence(inner)), Level.FACTOR)


def _jacobian(head: Node, formula: Apply, setting: Setting) -> Node:
    """∂F_i/∂x_j, or ∂_{1,j} F_i when the argument has no name of its own to differentiate by."""
    partial, by = tree.Sign("partial"), list[Node]()
    for position, indices in formula.derivatives:
        argument = formula.arguments[position]
        named = _row_of(argument)
        if named is None:
            index = setting.indices(indices, [var.dim for var in argument.vars])
            marks = [tree.Digits(str(position + 1))] if len(formula.arguments) > 1 else []
            below = tree.separated([*marks, *([index] if index is not None else [])])
            head = row(tree.Script(partial, sub=below), head)
        else:
            values = (*named.args[: len(named.args) - len(indices)], *indices)
            node = setting.entry(setting.notation.symbol(named.tensor.name), values, named.tensor.dims)
            by.append(row(partial, node))
    if not by:
        return head
    power = tree.Script(partial, sup=tree.Digits(str(len(by)))) if len(by) > 1 else partial
    return tree.Fraction(row(power, head), row(*by))


def _row_of(argument: Lam) -> Entry | None:
    """The entry whose trailing axes the argument runs over: ``k -> x[b,k]`` is the row x_b."""
    body, count = argument.body, len(argument.vars)
    if isinstance(body, Entry) and len(body.args) >= count:
        front = body.args[: len(body.args) - count]
        if body.args[len(front) :] == argument.vars and not any(part.free & set(argument.vars) for part in front):
            return body
    return None


@layout.register
def _(formula: Lam, setting: Setting) -> Piece:
    """A whole tensor: by name where all its axes run along, otherwise entry by entry, as (a_i)_i."""
    if _runs_along(formula.body, formula.vars):
        return layout(formula.body, replace(setting, dropped=setting.dropped | set(formula.vars)))
    variables, body, inside = setting.bind(formula.vars, formula.body)
    letters = row(*(inside.letters[var] for var in variables))
    return atom(tree.Script(tree.Fence(layout(body, inside).node), sub=letters))


def _runs_along(term: Term, variables: tuple[Var, ...]) -> bool:
    """Whether the term is a sum of multiples of tensors whose trailing axes are exactly the variables, in order."""
    if not term.free & set(variables):
        return False
    if isinstance(term, Add):
        return all(_runs_along(part, variables) for part in term.args)
    if isinstance(term, Mul):
        moving = [part for part in term.args if part.free & set(variables)]
        return len(moving) == 1 and _runs_along(moving[0], variables)
    if isinstance(term, Fun):
        return len(term.args) == 1 and term.name not in RULES and _runs_along(term.args[0], variables)
    ends = term.args if isinstance(term, Entry) else term.outs if isinstance(term, Apply) else ()
    rest = ends[: len(ends) - len(variables)]
    inside = (*rest, *(term.arguments if isinstance(term, Apply) else ()))
    return ends[len(rest) :] == variables and not any(part.free & set(variables) for part in inside)
