"""NumPy's elementwise functions: one table row each, applied to the entries of broadcast operands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import ONE, ZERO, Term, Var, add, mul, neg, power
from symres.language import functions
from symres.language.functions import HALF
from symres.language.program import Axis, Value
from symres.trace import limits, quotients, rules, writing
from symres.trace.alignment import align_right, unify
from symres.trace.array import Array, as_array
from symres.trace.axes import moved, shown
from symres.trace.dtypes import KINDS
from symres.trace.registry import FUNCTIONS, call, numpy_function
from symres.trace.rules import Rule, named
from symres.trace.signals import ShapeMismatch
from symres.trace.tidy import at, complement


def broadcast(operands: Sequence[Array]) -> tuple[tuple[Axis, ...], tuple[Var, ...], list[Term]]:
    """Axes, variables and bodies of the operands broadcast against each other."""
    values = [operand.value for operand in operands]
    labels = align_right([len(value.axes) for value in values])
    found, readings = unify(values, labels)
    order = sorted(found)  # type: ignore[type-var]
    axes = tuple(tuple(var.dim for var in found[label]) for label in order)
    names = tuple(var for label in order for var in found[label])
    return axes, names, [at(value.body, reading) for value, reading in zip(values, readings, strict=True)]


def elementwise(rule: Rule, *operands: Any, kind: str = "") -> Array:
    """Apply a rule on terms entry by entry; the kind defaults to the widest of the operands'."""
    arrays = [as_array(operand) for operand in operands]
    axes, names, bodies = broadcast(arrays)
    return Array.result(axes, names, rule(*bodies), kind or widest(arrays))


def widest(arrays: Sequence[Array]) -> str:
    """The kind that NumPy's promotion gives."""
    return max((array.kind for array in arrays), key=KINDS.index)


def fit(target: Array, value: Array) -> tuple[tuple[Var, ...], tuple[Term, ...], Term]:
    """A value broadcast into a view: variables, index terms of the view's buffer, and the content at the variables.

    Raises:
        ShapeMismatch: if the value does not fit the view's shape.
    """
    content = value.value
    spare = len(content.axes) - len(target.axes)
    if spare > 0:
        if any(content.axes[:spare]):
            raise ShapeMismatch(f"a value of shape {shown(content.axes)} does not fit {shown(target.axes)}")
        content = Value(content.axes[spare:], content.vars, content.body)
    place = Value(target.axes, target.vars, add(*target.vars))
    found, (own, other) = unify([place, content], align_right([len(place.axes), len(content.axes)]))
    if any(found[k - len(target.axes)] and not axis for k, axis in enumerate(target.axes)):
        raise ShapeMismatch(f"a value of shape {shown(content.axes)} does not fit {shown(target.axes)}")
    names = tuple(var for label in sorted(found) for var in found[label])  # type: ignore[type-var]
    return names, moved(own, target.index), at(content.body, other)


def assign(target: Array, value: Array) -> None:
    """``target[...] = value``."""
    if value.buffer is target.buffer and value.axes == target.axes:
        renamed = dict(zip(value.vars, target.vars, strict=True))
        if moved(dict(renamed), value.index) == target.index:
            return
    check_kind(target, value)
    writing.write(target.buffer, *fit(target, value))


def check_kind(target: Array, value: Array) -> None:
    """Refuse to write numbers of a wider kind, which NumPy would truncate."""
    if KINDS.index(value.kind) > KINDS.index(target.kind):
        raise Unsupported(f"{value.kind} values are written into an array of {target.kind}, where NumPy truncates them")


class Selected(ABC):
    """Entries selected from an array, on which elementwise functions act as on the whole."""

    @abstractmethod
    def apply(self, ufunc: str, *operands: Any) -> Selected:
        """An elementwise function of selections and numbers."""


_ADDED = {"add": lambda term: term, "subtract": neg}


@numpy_function("inplace")
def inplace(ufunc: str, target: Array, other: Any) -> Array:
    """``target op= other``: writes through views; NumPy's scalars are immutable, so there it makes a new one."""
    if target.scalar:
        result: Array = call(ufunc, target, other)
        return result
    value = as_array(other)
    if ufunc in _ADDED and target.kind != "bool":
        check_kind(target, value)
        names, index, content = fit(target, value)
        writing.accumulate(target.buffer, names, index, _ADDED[ufunc](content))
    else:
        assign(target, call(ufunc, target, value))
    return target


@dataclass(frozen=True)
class Ufunc:
    """A NumPy ufunc: names, number of operands, rule, kind of the result (by default the operands'), methods.

    ``booleans`` is the rule where all operands are booleans, if it is another.
    """

    names: tuple[str, ...]
    arity: int
    rule: Rule
    kind: str = ""
    methods: tuple[str, ...] = ()
    booleans: Rule | None = None


_TABLED = (
    "expm1", "log1p", "log2", "log10", "exp2", "sin", "cos", "tan", "tanh", "sinh", "cosh", "arctan", "arcsin",
    "arccos", "arcsinh", "arccosh", "arctanh", "erf", "erfc", "sigmoid", "softplus", "silu", "mish",
)  # fmt: skip

UFUNCS: tuple[Ufunc, ...] = (
    Ufunc(("add",), 2, add, methods=("add",), booleans=rules.either),
    Ufunc(("subtract", "sub"), 2, lambda a, b: add(a, neg(b)), methods=("sub",), booleans=rules.no_difference),
    Ufunc(("multiply", "mul"), 2, mul, methods=("mul",)),
    Ufunc(("divide", "true_divide", "div"), 2, rules.quotient, "float", ("div",)),
    Ufunc(("power", "float_power", "pow"), 2, rules.raised, methods=("pow",)),
    Ufunc(("floor", "trunc", "fix"), 1, quotients.floor, "float", ("floor",)),
    Ufunc(("ceil",), 1, lambda a: quotients.floor(a, upwards=True), "float", ("ceil",)),
    Ufunc(("floor_divide",), 2, rules.whole_quotient),
    Ufunc(("remainder", "mod"), 2, rules.remainder),
    Ufunc(("maximum", "fmax"), 2, rules.larger),
    Ufunc(("minimum", "fmin"), 2, rules.smaller),
    Ufunc(("logaddexp",), 2, named("logaddexp"), "float"),
    Ufunc(("heaviside",), 2, lambda a, b: rules.above(a, ZERO), "float"),
    Ufunc(("negative", "neg"), 1, neg, methods=("neg",)),
    Ufunc(("positive",), 1, lambda a: a),
    Ufunc(("conjugate", "conj"), 1, lambda a: a, methods=("conjugate", "conj")),
    Ufunc(("square",), 1, lambda a: power(a, 2), methods=("square",)),
    Ufunc(("sqrt",), 1, lambda a: power(a, HALF), "float", ("sqrt",)),
    Ufunc(("rsqrt",), 1, lambda a: power(a, -HALF), "float", ("rsqrt",)),
    Ufunc(("reciprocal",), 1, lambda a: rules.quotient(ONE, a), "float", ("reciprocal",)),
    Ufunc(("exp",), 1, limits.exp, "float", ("exp",)),
    Ufunc(("log",), 1, functions.log, "float", ("log",)),
    Ufunc(("absolute", "abs", "fabs"), 1, rules.absolute, methods=("abs",)),
    Ufunc(("sign",), 1, functions.sign, methods=("sign",)),
    Ufunc(("relu",), 1, functions.relu, methods=("relu",)),
    *(Ufunc((name,), 1, named(name), "float", (name,)) for name in _TABLED),
    Ufunc(("expit", "logistic"), 1, named("sigmoid"), "float"),
    Ufunc(("greater", "gt"), 2, rules.sided(True, False, ">"), "bool", ("gt",)),
    Ufunc(("greater_equal", "ge"), 2, rules.sided(False, False, ">="), "bool", ("ge",)),
    Ufunc(("less", "lt"), 2, rules.sided(True, True, "<"), "bool", ("lt",)),
    Ufunc(("less_equal", "le"), 2, rules.sided(False, True, "<="), "bool", ("le",)),
    Ufunc(("equal", "eq"), 2, rules.equals, "bool", ("eq",)),
    Ufunc(("not_equal", "ne"), 2, lambda a, b: complement(rules.equals(a, b)), "bool", ("ne",)),
    Ufunc(("logical_and",), 2, lambda a, b: mul(rules.nonzero(a), rules.nonzero(b)), "bool", ("logical_and",)),
    Ufunc(("logical_or",), 2, lambda a, b: rules.either(rules.nonzero(a), rules.nonzero(b)), "bool", ("logical_or",)),
    Ufunc(("logical_xor",), 2, lambda a, b: rules.differs(rules.nonzero(a), rules.nonzero(b)), "bool"),
    Ufunc(("logical_not",), 1, lambda a: complement(rules.nonzero(a)), "bool", ("logical_not",)),
)

_ON_BOOLEANS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor",
                "invert": "logical_not", "bitwise_not": "logical_not"}  # fmt: skip


def _enter(row: Ufunc) -> None:
    def ufunc(*operands: Any, where: Any = True, out: Any = None) -> Any:
        if len(operands) == row.arity + 1 and out is None:
            *operands, out = operands  # type: ignore[assignment]
        if len(operands) != row.arity:
            raise Unsupported(f"np.{row.names[0]} with {len(operands)} operands")
        for operand in operands:
            if isinstance(operand, Selected):
                return operand.apply(row.names[0], *operands)
        arrays = [as_array(operand) for operand in operands]
        logical = row.booleans is not None and all(array.kind == "bool" for array in arrays)
        result = elementwise(row.booleans if logical and row.booleans else row.rule, *arrays, kind=row.kind)
        target = out[0] if isinstance(out, tuple) else out
        if where is not True:
            if target is None:
                raise Unsupported(f"np.{row.names[0]} with where= but no out= leaves entries without a value")
            result = call("where", where, result, target)
        if target is None:
            return result
        assign(target, result)
        return target

    numpy_function(*row.names, method=row.methods)(ufunc)


def _enter_bitwise(name: str, logical: str) -> None:
    def ufunc(*operands: Any) -> Array:
        arrays = [as_array(operand) for operand in operands]
        if any(array.kind != "bool" for array in arrays):
            raise Unsupported(f"np.{name} of numbers that are not booleans")
        result: Array = call(logical, *arrays)
        return result

    numpy_function(name)(ufunc)


for _row in UFUNCS:
    _enter(_row)
for _name, _logical in _ON_BOOLEANS.items():
    _enter_bitwise(_name, _logical)


def _enter_at(name: str, sign: Rule) -> None:
    def scatter(target: Array, key: Any, value: Any) -> None:
        place = call("places", target, key)
        check_kind(target, as_array(value))
        names, index, content = fit(place, as_array(value))
        writing.accumulate(target.buffer, names, index, sign(content))

    numpy_function(f"{name}.at")(scatter)


_enter_at("add", lambda term: term)
_enter_at("subtract", neg)


def _enter_methods(name: str) -> None:
    """The methods ``outer`` and ``reduce`` of a ufunc."""

    def outer(a: Any, b: Any) -> Any:
        left, right = as_array(a), as_array(b)
        return call(name, left[(..., *(None,) * right.ndim)], right)

    def reduce(array: Any, axis: Any = 0, keepdims: bool = False) -> Any:
        return call(_REDUCTIONS[name], array, axis=axis, keepdims=keepdims)

    numpy_function(f"{name}.outer")(outer)
    if name in _REDUCTIONS:
        numpy_function(f"{name}.reduce")(reduce)


_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
for _name in ("add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "greater", "less"):
    _enter_methods(_name)
UFUNC_NAMES = frozenset(name.split(".")[0] for name in FUNCTIONS)
