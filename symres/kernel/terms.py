"""Terms: the closed set of immutable nodes in which every statement of symres is written.

A term denotes a real number that depends on index variables, on sizes and on the entries of tensors. A tensor-valued
expression is a term together with the index variables of its axes. Terms are interned: structurally equal terms are one
object, so ``is`` and ``==`` agree and results can be cached by term. Constructors fold numbers and neutral elements and
otherwise keep the author's order; deciding equality is the business of :mod:`symres.kernel.decide`.

Index variables carry their range (``0 <= Var < dim``) and are unique objects; substitution renames binders when a free
variable would otherwise be captured.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakValueDictionary

Number = int | Fraction
_T = TypeVar("_T", bound="Term")

_interned: WeakValueDictionary[tuple[Any, ...], Term] = WeakValueDictionary()
_uids = itertools.count(1)
_NOTHING: frozenset[Var] = frozenset()


class Term:
    """A node. Every node knows its children and its free index variables.

    Arithmetic operators build terms: ``a + b``, ``-a``, ``a * b``, ``a / b`` and ``a ** q`` for a rational ``q``.
    """

    __slots__ = ("__weakref__", "free")
    free: frozenset[Var]

    @property
    def children(self) -> tuple[Term, ...]:
        """The subterms, in the author's order."""
        return ()

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        """The same node over other subterms."""
        return self

    def __add__(self, other: Term | Number) -> Term:
        return add(self, other)

    def __radd__(self, other: Number) -> Term:
        return add(other, self)

    def __sub__(self, other: Term | Number) -> Term:
        return add(self, neg(other))

    def __rsub__(self, other: Number) -> Term:
        return add(other, neg(self))

    def __neg__(self) -> Term:
        return neg(self)

    def __mul__(self, other: Term | Number) -> Term:
        return mul(self, other)

    def __rmul__(self, other: Number) -> Term:
        return mul(other, self)

    def __truediv__(self, other: Term | Number) -> Term:
        return mul(self, power(as_term(other), -1))

    def __rtruediv__(self, other: Number) -> Term:
        return mul(other, power(self, -1))

    def __pow__(self, exponent: Number) -> Term:
        return power(self, exponent)

    def __repr__(self) -> str:
        from symres.kernel.plain import plain

        return plain(self)


def _intern(cls: type[_T], key: tuple[Any, ...], free: frozenset[Var]) -> _T:
    full = (cls, *key)
    found: Any = _interned.get(full)
    if found is None:
        found = object.__new__(cls)
        for name, value in zip(cls.fields, key, strict=True):  # type: ignore[attr-defined]
            object.__setattr__(found, name, value)
        object.__setattr__(found, "free", free)
        _interned[full] = found
    result: _T = found
    return result


def _union(terms: Iterable[Term]) -> frozenset[Var]:
    sets = [term.free for term in terms if term.free]
    if not sets:
        return _NOTHING
    return sets[0] if len(sets) == 1 else frozenset().union(*sets)


class Num(Term):
    """A rational number."""

    __slots__ = ("value",)
    fields: ClassVar = ("value",)
    value: Fraction

    def __new__(cls, value: Number) -> Num:
        return _intern(cls, (Fraction(value),), _NOTHING)


ZERO, ONE = Num(0), Num(1)


class Size(Term):
    """A symbolic size: a positive integer, the same wherever its name occurs."""

    __slots__ = ("name",)
    fields: ClassVar = ("name",)
    name: str

    def __new__(cls, name: str) -> Size:
        return _intern(cls, (name,), _NOTHING)


class Var(Term):
    """An index variable with range ``0 <= Var < dim``; each call makes a new one. ``name`` is only a hint for printing."""

    __slots__ = ("dim", "name", "uid")
    name: str
    dim: Term
    uid: int

    def __new__(cls, name: str, dim: Term | int) -> Var:
        self = object.__new__(cls)
        self.name, self.dim, self.uid = name, as_term(dim), next(_uids)
        self.free = frozenset((self,))
        return self

    def fresh(self) -> Var:
        """Another variable with the same range and name hint."""
        return Var(self.name, self.dim)


@dataclass(frozen=True)
class Tensor:
    """A tensor symbol. ``dims`` are terms over sizes; a scalar has none.

    ``kind`` is ``real``, ``positive``, ``nonnegative``, ``bool`` (entries 0 or 1) or ``int`` (entries in ``[0, bound)``).
    """

    name: str
    dims: tuple[Term, ...] = ()
    kind: str = "real"
    bound: Term | None = None

    def __call__(self, *args: Term | int) -> Entry:
        return Entry(self, tuple(as_term(arg) for arg in args))


class Entry(Term):
    """An entry ``T[i, j]`` of a tensor; out of range it is 0, which only padded reads use."""

    __slots__ = ("args", "tensor")
    fields: ClassVar = ("tensor", "args")
    tensor: Tensor
    args: tuple[Term, ...]

    def __new__(cls, tensor: Tensor, args: tuple[Term, ...]) -> Entry:
        if len(args) != len(tensor.dims):
            raise ValueError(f"{tensor.name} has {len(tensor.dims)} axes, {len(args)} indices were given")
        return _intern(cls, (tensor, args), _union(args))

    @property
    def children(self) -> tuple[Term, ...]:
        return self.args

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return Entry(self.tensor, children)


class Add(Term):
    """A sum of at least two terms; build it with :func:`add`."""

    __slots__ = ("args",)
    fields: ClassVar = ("args",)
    args: tuple[Term, ...]

    def __new__(cls, args: tuple[Term, ...]) -> Add:
        return _intern(cls, (args,), _union(args))

    @property
    def children(self) -> tuple[Term, ...]:
        return self.args

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return add(*children)


class Mul(Term):
    """A product of at least two terms; build it with :func:`mul`."""

    __slots__ = ("args",)
    fields: ClassVar = ("args",)
    args: tuple[Term, ...]

    def __new__(cls, args: tuple[Term, ...]) -> Mul:
        return _intern(cls, (args,), _union(args))

    @property
    def children(self) -> tuple[Term, ...]:
        return self.args

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return mul(*children)


class Pow(Term):
    """``base ** exponent`` with a rational exponent; build it with :func:`power`."""

    __slots__ = ("base", "exponent")
    fields: ClassVar = ("base", "exponent")
    base: Term
    exponent: Fraction

    def __new__(cls, base: Term, exponent: Fraction) -> Pow:
        return _intern(cls, (base, exponent), base.free)

    @property
    def children(self) -> tuple[Term, ...]:
        return (self.base,)

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return power(children[0], self.exponent)


class Binder(Term):
    """A node that binds one index variable in its body."""

    __slots__ = ("body", "var")
    fields: ClassVar = ("var", "body")
    var: Var
    body: Term

    def __new__(cls, var: Var, body: Term) -> Self:
        return _intern(cls, (var, body), (body.free | var.dim.free) - {var})

    @property
    def children(self) -> tuple[Term, ...]:
        return (self.body,)

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return type(self)(self.var, children[0])


class Sum(Binder):
    """The sum of the body over ``0 <= var < var.dim``; build it with :func:`sum_`."""

    __slots__ = ()


class Maximum(Binder):
    """The maximum of the body over ``0 <= var < var.dim``."""

    __slots__ = ()


class Fun(Term):
    """An elementwise function of one or more terms, by name (see :mod:`symres.language.functions`).

    The kernel itself knows ``exp``, ``log``, ``step`` (1 if the argument is > 0, else 0), ``eq0`` (1 if it is 0) and
    ``floordiv``; every other name is an unknown function to it.
    """

    __slots__ = ("args", "name")
    fields: ClassVar = ("name", "args")
    name: str
    args: tuple[Term, ...]

    def __new__(cls, name: str, *args: Term | Number) -> Fun:
        terms = tuple(as_term(arg) for arg in args)
        return _intern(cls, (name, terms), _union(terms))

    @property
    def children(self) -> tuple[Term, ...]:
        return self.args

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return Fun(self.name, *children)


class Iverson(Term):
    """1 if the integer ``arg`` is zero (``rel`` ``=``) or not negative (``rel`` ``>=``), otherwise 0."""

    __slots__ = ("arg", "rel")
    fields: ClassVar = ("rel", "arg")
    rel: str
    arg: Term

    def __new__(cls, rel: str, arg: Term) -> Iverson:
        if rel not in ("=", ">="):
            raise ValueError(f"an Iverson bracket compares with = or >=, not {rel!r}")
        return _intern(cls, (rel, arg), arg.free)

    @property
    def children(self) -> tuple[Term, ...]:
        return (self.arg,)

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return Iverson(self.rel, children[0])


class Lam(Term):
    """A whole tensor given entry by entry: the argument of an :class:`Apply`."""

    __slots__ = ("body", "vars")
    fields: ClassVar = ("vars", "body")
    vars: tuple[Var, ...]
    body: Term

    def __new__(cls, variables: tuple[Var, ...], body: Term) -> Lam:
        return _intern(cls, (variables, body), body.free - frozenset(variables))

    @property
    def children(self) -> tuple[Term, ...]:
        return (self.body,)

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        return Lam(self.vars, children[0])


class Apply(Term):
    """Entry ``outs`` of a general differentiable tensor function ``name`` of whole tensors, or a derivative of it.

    ``derivatives`` lists ``(position, indices)``: once differentiated with respect to that entry of that argument. So
    ``Apply("F", (d,), (i,), (x,), ((0, (j,)),))`` is the entry ``J[i, j]`` of the Jacobian of F at x.
    """

    __slots__ = ("arguments", "derivatives", "dims", "name", "outs")
    fields: ClassVar = ("name", "dims", "outs", "arguments", "derivatives")
    name: str
    dims: tuple[Term, ...]
    outs: tuple[Term, ...]
    arguments: tuple[Lam, ...]
    derivatives: tuple[tuple[int, tuple[Term, ...]], ...]

    def __new__(
        cls,
        name: str,
        dims: tuple[Term, ...],
        outs: tuple[Term, ...],
        arguments: tuple[Lam, ...],
        derivatives: tuple[tuple[int, tuple[Term, ...]], ...] = (),
    ) -> Apply:
        free = _union((*outs, *arguments, *(index for _, indices in derivatives for index in indices)))
        return _intern(cls, (name, dims, outs, arguments, derivatives), free)

    @property
    def children(self) -> tuple[Term, ...]:
        return (*self.outs, *self.arguments, *(index for _, indices in self.derivatives for index in indices))

    def rebuild(self, children: tuple[Term, ...]) -> Term:
        rest = iter(children)
        outs = tuple(next(rest) for _ in self.outs)
        arguments = tuple(next(rest) for _ in self.arguments)
        derivatives = tuple((position, tuple(next(rest) for _ in indices)) for position, indices in self.derivatives)
        return Apply(self.name, self.dims, outs, arguments, derivatives)  # type: ignore[arg-type]


# ---------------------------------------------------------------- constructors


def as_term(value: Term | Number) -> Term:
    """A number as a term; a term as it is.

    Raises:
        TypeError: for anything else, floats included: a float is not an exact number.
    """
    if isinstance(value, Term):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Num(value)
    raise TypeError(f"not a term or an exact number: {value!r}")


def add(*values: Term | Number) -> Term:
    """The sum; nested sums are flattened, numbers next to each other are added, zeros dropped."""
    flat: list[Term] = []
    for term in map(as_term, values):
        for part in term.args if isinstance(term, Add) else (term,):
            if part is ZERO:
                continue
            if flat and isinstance(part, Num) and isinstance(flat[-1], Num):
                part = Num(flat.pop().value + part.value)  # type: ignore[attr-defined]
                if part is ZERO:
                    continue
            flat.append(part)
    if not flat:
        return ZERO
    return flat[0] if len(flat) == 1 else Add(tuple(flat))


def mul(*values: Term | Number) -> Term:
    """The product; nested products are flattened, numbers are collected in front, a zero factor gives 0."""
    number, flat = Fraction(1), []
    for term in map(as_term, values):
        for part in term.args if isinstance(term, Mul) else (term,):
            if isinstance(part, Num):
                number *= part.value
            else:
                flat.append(part)
    if number == 0:
        return ZERO
    if not flat:
        return Num(number)
    if number != 1:
        flat.insert(0, Num(number))
    return flat[0] if len(flat) == 1 else Mul(tuple(flat))


def neg(value: Term | Number) -> Term:
    """``-value``; the sign of a number is changed in place."""
    return mul(-1, value)


def power(base: Term | Number, exponent: Number) -> Term:
    """``base ** exponent`` for a rational exponent; exact powers of numbers are computed.

    Raises:
        ZeroDivisionError: for a negative power of the number 0.
    """
    base, exponent = as_term(base), Fraction(exponent)
    if exponent == 1:
        return base
    if exponent == 0:
        return ONE
    if isinstance(base, Num) and exponent.denominator == 1:
        return Num(base.value**exponent.numerator)
    if isinstance(base, Pow) and exponent.denominator == 1 and (base.exponent * exponent) != 0:
        return power(base.base, base.exponent * exponent)
    return base if base is ONE else Pow(base, exponent)


def sum_(variables: Var | Iterable[Var], body: Term | Number) -> Term:
    """The sum of ``body`` over one or several index variables, the first outermost."""
    result = as_term(body)
    if result is ZERO:
        return ZERO
    for var in reversed((variables,) if isinstance(variables, Var) else tuple(variables)):
        result = Sum(var, result)
    return result


def delta(left: Term | int, right: Term | int) -> Term:
    """Kronecker's delta of two index terms."""
    left, right = as_term(left), as_term(right)
    if left is right:
        return ONE
    if isinstance(left, Num) and isinstance(right, Num):
        return ZERO
    return Iverson("=", left - right)


# ---------------------------------------------------------------- substitution


def substitute(term: Term, mapping: Mapping[Var, Term]) -> Term:
    """Replace free index variables. Binders are renamed where a variable of a replacement would be captured."""
    mapping = {var: new for var, new in mapping.items() if var in term.free and var is not new}
    if not mapping:
        return term
    return _substitute(term, mapping, {})


def _substitute(term: Term, mapping: dict[Var, Term], done: dict[Term, Term]) -> Term:
    if not any(var in term.free for var in mapping):
        return term
    found = done.get(term)
    if found is not None:
        return found
    result: Term
    if isinstance(term, Var):
        result = mapping[term]
    elif isinstance(term, Binder):
        (var,), body, inner = _open((term.var,), term.body, mapping)
        result = type(term)(var, substitute(body, inner))
    elif isinstance(term, Lam):
        variables, body, inner = _open(term.vars, term.body, mapping)
        result = Lam(variables, substitute(body, inner))
    else:
        result = term.rebuild(tuple(_substitute(child, mapping, done) for child in term.children))
    done[term] = result
    return result


def _open(
    variables: tuple[Var, ...], body: Term, mapping: dict[Var, Term]
) -> tuple[tuple[Var, ...], Term, dict[Var, Term]]:
    inner = {var: new for var, new in mapping.items() if var in body.free and var not in variables}
    taken = _union(inner.values())
    renamed, fresh = [], {}
    for var in variables:
        dim = substitute(var.dim, mapping)
        if var in taken or dim is not var.dim:
            fresh[var] = Var(var.name, dim)
        renamed.append(fresh.get(var, var))
    return tuple(renamed), body, {**inner, **fresh}


def walk(term: Term) -> Iterable[Term]:
    """Every distinct subterm once, parents before children."""
    seen: set[Term] = set()
    stack = [term]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack.extend(reversed(node.children))


def transform(term: Term, rule: Callable[[Term], Term | None]) -> Term:
    """Rebuild bottom-up; where ``rule(node)`` gives a term, it takes the node's place.

    The rule must not introduce free variables that a binder above could capture.
    """
    done: dict[Term, Term] = {}

    def visit(node: Term) -> Term:
        found = done.get(node)
        if found is None:
            children = node.children
            if children:
                new = tuple(map(visit, children))
                found = node if all(a is b for a, b in zip(new, children, strict=True)) else node.rebuild(new)
            else:
                found = node
            replaced = rule(found)
            found = found if replaced is None else replaced
            done[node] = found
        return found

    return visit(term)
