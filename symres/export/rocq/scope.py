"""From terms to Coq: which identifier a tensor and an index variable has, and what is known about it.

A *symbol* is a tensor as the certificate knows it: an input, a definition, a derivative of one. Tensors that gradients are
taken by, and upstream gradients, are explicit arguments of every definition that uses them; sizes and all other inputs
are variables of the section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import singledispatchmethod

from symres.errors import Unsupported
from symres.export.rocq.indices import shifted, sides
from symres.export.rocq.names import Names
from symres.export.rocq.nodes import (
    Applied,
    Argument,
    Call,
    Inverse,
    Leaf,
    Level,
    Node,
    Number,
    Opposite,
    Plus,
    Power,
    Times,
    Total,
    text,
)
from symres.export.rocq.symbols import ELEMENTWISE, Symbol
from symres.kernel.plain import split_sign
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
    substitute,
)
from symres.language.functions import FUNCTIONS, split_name


@dataclass
class Scope:
    """What names mean at one place of the file.

    ``point`` gives the text of an explicit tensor (``x``, or ``(c u)`` on a curve), ``at`` the one where sign lemmas
    are read (``(c t)``).
    """

    symbols: dict[Tensor, Symbol]
    functions: dict[tuple[str, tuple[int, ...]], str] = field(default_factory=dict)
    point: dict[Tensor, str] = field(default_factory=dict)
    at: dict[Tensor, str] = field(default_factory=dict)
    vars: dict[Var, str] = field(default_factory=dict)
    tangent: Callable[[Term], Term] | None = None
    derivatives: bool = True
    insides: Mapping[Tensor, tuple[tuple[Var, ...], Term]] = field(default_factory=dict)

    def child(self, **changes: object) -> Scope:
        """A scope of its own for index variables."""
        return replace(self, vars=dict(self.vars), **changes)  # type: ignore[arg-type]

    @contextmanager
    def bound(self, *variables: Var) -> Iterator[tuple[str, ...]]:
        """Give index variables names that nothing in scope has."""
        names = Names((*self.vars.values(), *(symbol.name for symbol in self.symbols.values())))
        added = [(var, names.new(var.name)) for var in variables]
        before = dict(self.vars)
        self.vars.update(added)
        try:
            yield tuple(name for _, name in added)
        finally:
            self.vars = before

    # ------------------------------------------------------------ indices and sizes

    def size(self, dim: Term) -> str:
        """A range as a natural number.

        Raises:
            Unsupported: if it is neither one symbolic size nor a number.
        """
        if isinstance(dim, Size):
            return self.symbols[Tensor(dim.name, (), "size")].name
        if isinstance(dim, Num) and dim.value.denominator == 1 and dim.value > 0:
            return str(dim.value)
        base, more = shifted(dim)
        if isinstance(base, Size) and more > 0:
            return f"({self.size(base)} + {more})"
        raise Unsupported(f"Coq certificates have no sums over a range of length {dim}")

    def fact(self, dim: Term) -> str:
        """The proof that a range is not empty."""
        return f"{self.size(dim)}_pos" if isinstance(dim, Size) else "ltac:(lia)"

    def index(self, term: Term) -> str:
        """An index, as an argument of an application."""
        if isinstance(term, Var):
            return self.vars[term]
        if isinstance(term, Entry) and term.tensor.kind == "int":
            return f"({self.application(term)})" if term.args else self.application(term)
        if isinstance(term, Num) and term.value.denominator == 1 and term.value >= 0:
            return str(term.value)
        if isinstance(term, Size):
            return self.size(term)
        base, more = shifted(term)
        if isinstance(base, (Var, Size)) and more > 0:
            return "(S " * more + self.index(base) + ")" * more
        raise Unsupported(f"Coq certificates have no index arithmetic: {term}")

    def range(self, term: Term) -> str:
        """The proof that an index is within its range."""
        if isinstance(term, Var):
            return "H" + self.vars[term]
        if isinstance(term, Entry):
            return f"({' '.join((self.symbols[term.tensor].range, *self.ranged(term.args)))})"
        return "ltac:(lia)"

    def ranged(self, args: tuple[Term, ...]) -> list[str]:
        """Each index followed by the proof that it is within its range."""
        return [word for arg in args for word in (self.index(arg), self.range(arg))]

    def application(self, entry: Entry, point: Mapping[Tensor, str] | None = None) -> str:
        """The entry of a tensor, without parentheses around it."""
        symbol = self.symbols[entry.tensor]
        where = self.point if point is None else point
        explicit = [where.get(tensor, self.symbols[tensor].name) for tensor in symbol.params]
        name = where.get(entry.tensor, symbol.name)
        return " ".join((name, *explicit, *map(self.index, entry.args)))

    def lemma(self, name: str, entry: Entry) -> str:
        """A lemma about a tensor at the point of the curve, applied to explicit tensors and indices."""
        explicit = [self.at.get(tensor, self.symbols[tensor].name) for tensor in self.symbols[entry.tensor].params]
        return f"({' '.join((name, *explicit, *self.ranged(entry.args)))})"

    # ------------------------------------------------------------ expressions

    def text(self, term: Term, level: Level = Level.SUM) -> str:
        """The term in Coq's notation."""
        return text(self.lower(term), level)

    @singledispatchmethod
    def lower(self, term: Term) -> Node:
        """The term as a tree of Coq's signs.

        Raises:
            Unsupported: for what certificates do not cover, by name.
        """
        raise Unsupported(f"Coq certificates do not cover {type(term).__name__}")

    @lower.register
    def _(self, term: Num) -> Node:
        return Opposite(Number(-term.value)) if term.value < 0 else Number(term.value)

    @lower.register
    def _(self, term: Size) -> Node:
        name = self.size(term)
        return Leaf(f"INR {name}", Level.APPLICATION, None, f"(size_pos {name} {name}_pos)")

    @lower.register
    def _(self, term: Entry) -> Node:
        if term.tensor.kind == "int":
            raise Unsupported(f"Coq certificates use the integer tensor {term.tensor.name} as an index only")
        symbol = self.symbols[term.tensor]
        proof = None
        if symbol.derivative and self.derivatives:
            own = term.args[1:] if symbol.inductive else term.args
            proof = " ".join((symbol.derivative, *self.ranged(own)))
            proof = f"({proof})" if own else proof
        words = self.application(term)
        return Leaf(
            words,
            Level.ATOM if words.isidentifier() else Level.APPLICATION,
            proof,
            self.lemma(symbol.positive, term) if symbol.positive else "",
            self.lemma(symbol.nonnegative, term) if symbol.nonnegative else "",
            self._inside(term),
        )

    def _inside(self, term: Entry) -> Callable[[], Node] | None:
        """The right-hand side of a definition, for proofs that have to look into it."""
        if term.tensor not in self.insides:
            return None
        variables, body = self.insides[term.tensor]
        here = self.child()
        return lambda: here.lower(substitute(body, dict(zip(variables, term.args, strict=True))))

    @lower.register
    def _(self, term: Add) -> Node:
        node = self.lower(term.args[0])
        for part in term.args[1:]:
            negative, rest = split_sign(part)
            node = Plus(node, Opposite(self.lower(rest)) if negative else self.lower(rest))
        return node

    @lower.register
    def _(self, term: Mul) -> Node:
        negative, rest = split_sign(term)
        if negative:
            return Opposite(self.lower(rest))
        node = self.lower(term.args[0])
        for part in term.args[1:]:
            node = Times(node, self.lower(part))
        return node

    @lower.register
    def _(self, term: Pow) -> Node:
        base, exponent = self.lower(term.base), term.exponent
        if exponent.denominator == 2:
            base, exponent = Call("sqrt", base, term.base, dict(self.vars)), 2 * exponent
        elif exponent.denominator != 1:
            raise Unsupported(f"Coq certificates have no powers with the exponent {term.exponent}")
        count = abs(int(exponent))
        node = base if count == 1 else Power(base, count)
        return Inverse(node, term.base, dict(self.vars)) if exponent < 0 else node

    @lower.register
    def _(self, term: Sum) -> Node:
        with self.bound(term.var) as (name,):
            body, moved = self.lower(term.body), self._moved(term.body)
        return Total(self.size(term.var.dim), self.fact(term.var.dim), name, "H" + name, body, moved)

    @lower.register
    def _(self, term: Maximum) -> Node:
        with self.bound(term.var) as (name,):
            body = self.child(derivatives=False, tangent=None).text(term.body)
        return Leaf(f"maximum {self.size(term.var.dim)} (fun {name} => {body})")

    def _moved(self, term: Term) -> str:
        """The derivative of a part at the point of the curve, as text."""
        if self.tangent is None:
            return ""
        return text(self.child(point=self.at, derivatives=False, tangent=None).lower(self.tangent(term)))

    @lower.register
    def _(self, term: Fun) -> Node:
        if term.name in ELEMENTWISE:
            return Call(ELEMENTWISE[term.name], self.lower(term.args[0]), term.args[0], dict(self.vars))
        row = FUNCTIONS.get(term.name)
        if row is not None and row.definition is not None:
            return self.lower(row.definition(*term.args))
        name = self.functions.get(split_name(term.name))
        if row is not None or name is None or len(term.args) != 1:
            raise Unsupported(f"Coq certificates do not cover the function {term.name}")
        return Call(name, self.lower(term.args[0]), term.args[0], dict(self.vars))

    @lower.register
    def _(self, term: Iverson) -> Node:
        below, above = sides(term)
        name = "delta" if term.rel == "=" else "at_most"
        return Leaf(f"{name} {self._natural(below)} {self._natural(above)}")

    def _natural(self, parts: list[Term]) -> str:
        words = [self.index(part) for part in parts]
        return words[0] if len(words) == 1 else f"({' + '.join(words) or '0'})"

    @lower.register
    def _(self, term: Apply) -> Node:
        base = self.functions.get((term.name, tuple(position for position, _ in term.derivatives)))
        if base is None:
            raise Unsupported(f"Coq certificates do not cover second derivatives of {term.name}")
        arguments = []
        for argument in term.arguments:
            with self.bound(*argument.vars) as names:
                words = self._moved(argument.body)
                hyps = tuple("H" + name for name in names)
                arguments.append(Argument(names, hyps, self.lower(argument.body), words))
        indices = (*term.outs, *(index for _, of in term.derivatives for index in of))
        return Applied(
            base,
            f"{base}_derivative",
            tuple(arguments),
            tuple(map(self.index, indices)),
            tuple(map(self.range, indices)),
        )
