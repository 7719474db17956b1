"""From terms to named pieces: every sum and every nonlinear function of a statement becomes an item with a name.

An item is ``name[vars] := body`` where the body is a polynomial in entries of inputs and earlier items, one sum of such
a polynomial, or one function of it. So no proof has to rewrite anything under a binder. *Opaque* items stay atoms of
the normal form; the others are replaced by their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import singledispatchmethod

from symres.errors import Unsupported
from symres.export.rocq import apart
from symres.export.rocq.abstraction import abstract, positions
from symres.export.rocq.indices import is_index
from symres.export.rocq.monomials import Component, atom_key
from symres.export.rocq.normal import Item, Normal
from symres.export.rocq.products import bracket, inverted
from symres.export.rocq.restarts import Refold, Reroot
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
    power,
    substitute,
    transform,
    walk,
)
from symres.language.functions import FUNCTIONS
from symres.language.program import Definition


class Algebra(Normal):
    """The items of one proof and their normal forms.

    Args:
        definitions: what tensors stand for: the layer's definitions, tangents, claimed gradients.
        folded: definitions that stay atoms.
        name: a maker of new identifiers for items.
        rooted: keys of expressions whose square root is needed beside their reciprocal.
    """

    def __init__(
        self,
        definitions: Mapping[Tensor, Definition],
        folded: frozenset[Tensor],
        name: Callable[[str], str],
        rooted: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__()
        self.definitions, self.folded, self.name, self.rooted = definitions, folded, name, rooted
        self.keys: dict[tuple[str, str], tuple[Tensor, tuple[int, ...]]] = {}
        self.divided: set[str] = set()
        self.sources: dict[Tensor, Term] = {}
        self.places: dict[Tensor, tuple[Term, ...]] = {}
        self._flat: dict[Term, Term] = {}

    # ------------------------------------------------------------ items

    def item(self, tensor: Tensor) -> Item | None:
        """The item of a tensor; ``None`` for an input."""
        found = self.items.get(tensor)
        if found is None and tensor in self.definitions:
            definition = self.definitions[tensor]
            whole = definition.body
            body: Term = Sum(whole.var, self.flat(whole.body)) if isinstance(whole, Sum) else self.flat(whole)
            found = Item(tensor, definition.vars, body, "sum" if isinstance(body, Sum) else "poly", defined=True)
            self._add(found)
            if tensor in self.folded:
                self._make_opaque(found)
        return found

    def _add(self, item: Item) -> None:
        self.items[item.tensor] = item
        self.ranks.setdefault(item.tensor, len(self.ranks))

    def _make_opaque(self, item: Item) -> None:
        body = self.body(item.tensor)
        self.opaque.add(item.tensor)
        if len(body) == 1:
            ((mono, c),) = body.items()
            if c == 1 and len(mono) == 1 and isinstance(mono[0][0], Component) and mono[0][1] == 1:
                key, order = abstract(body)
                self.folds.setdefault(key, (item.tensor, positions(order, item.vars)))

    def _new(self, hint: str, kind: str, body: Term) -> Entry:
        free = tuple(sorted(body.free, key=lambda var: (var.name, var.uid)))
        fresh = tuple(var.fresh() for var in free)
        tensor = Tensor(self.name(hint), tuple(var.dim for var in free), "bool" if hint == "step" else "real")
        body = substitute(body, dict(zip(free, fresh, strict=True)))
        self._add(Item(tensor, fresh, body, kind))
        return Entry(tensor, free)

    def _function(self, hint: str, arg: Term, body: Term, source: Term) -> Entry:
        """The item of a function of ``arg``, the same atom as an earlier one where the arguments are equal."""
        key, order = abstract(self.nf(arg))
        if hint == "root" and key in self.divided and key not in self.rooted:
            raise Reroot(key)
        if hint == "denominator" and key in self.rooted:
            self._function("root", arg, Pow(arg, Fraction(1, 2)), source)
        kind = "same"
        if hint == "denominator" and ("root", key) in self.keys:
            hint, kind = "root", "square"
        entry = self._new("denominator" if kind == "square" else hint, "function", body)
        item = self.items[entry.tensor]
        self.sources[entry.tensor], self.places[entry.tensor] = source, entry.args
        found = self.keys.get((hint, key))
        inner = dict(zip(entry.args, item.vars, strict=True))
        if found is None or len(order) != len(body.free) or len(found[1]) != len(order):
            self.keys.setdefault((hint, key), (item.tensor, positions(tuple(inner[var] for var in order), item.vars)))
            self.opaque.add(item.tensor)
            if hint == "denominator":
                self._make_opaque(item)
        else:
            tensor, place_of = found
            args: list[Term] = [inner[order[k]] for k in place_of]
            same = Entry(tensor, tuple(args))
            self.items[entry.tensor] = Item(item.tensor, item.vars, item.body, kind, same)
        return entry

    # ------------------------------------------------------------ flat terms

    def flat(self, term: Term) -> Term:
        """The term with every sum and every function replaced by the entry of an item.

        Raises:
            Unsupported: for what certificates do not cover.
        """
        found = self._flat.get(term)
        if found is None:
            found = self._flat[term] = self._at_any_index(term) or self._flatten(term)
        return found

    def _at_any_index(self, term: Term) -> Term | None:
        """The item of a term that reads at given indices, such as labels, as one for any index, at these."""
        if not isinstance(term, (Sum, Fun, Pow, Apply, Maximum)):
            return None
        given = {n: Var("at", n.tensor.bound) for n in walk(term) if is_index(n) and n.free <= term.free}  # type: ignore[attr-defined]
        if not given:
            return None
        return substitute(self.flat(transform(term, given.get)), {var: entry for entry, var in given.items()})

    @singledispatchmethod
    def _flatten(self, term: Term) -> Term:
        raise Unsupported(f"Coq certificates do not cover {type(term).__name__}")

    @_flatten.register(Num)
    @_flatten.register(Size)
    def _(self, term: Term) -> Term:
        return term

    @_flatten.register
    def _(self, term: Entry) -> Term:
        self.item(term.tensor)
        return term

    @_flatten.register
    def _(self, term: Add) -> Term:
        return add(*map(self.flat, term.args))

    @_flatten.register
    def _(self, term: Mul) -> Term:
        return mul(*map(self.flat, term.args))

    @_flatten.register
    def _(self, term: Sum) -> Term:
        return self._new("part", "sum", Sum(term.var, self.flat(term.body)))

    @_flatten.register
    def _(self, term: Pow) -> Term:
        base, exponent = self.flat(term.base), term.exponent
        if exponent.denominator == 2:
            parts = apart.under_root(self.nf(base))
            if parts is not None:
                outside, whole = self.flat(parts), mul(term.base, power(parts, -2))
                inside = self.flat(whole)
                root = self._function("root", inside, Pow(inside, Fraction(1, 2)), whole)
                return power(self._split("root", Pow(base, Fraction(1, 2)), mul(outside, root)), 2 * exponent)
            return power(self._function("root", base, Pow(base, Fraction(1, 2)), term.base), 2 * exponent)
        if exponent.denominator != 1:
            raise Unsupported(f"Coq certificates have no powers with the exponent {exponent}")
        if exponent > 0 or inverted(self.nf(base), 1) is not None:
            return power(base, exponent)
        key, _ = abstract(self.nf(base))
        if key in self.rooted or ("root", key) in self.keys:
            return power(self._function("denominator", base, base, term.base), exponent)
        self.divided.add(key)
        parts = apart.content(self.nf(base), self.items)
        if parts is not None:
            outside, whole = self.flat(parts), mul(term.base, power(parts, -1))
            inside = self.flat(whole)
            below = self._function("denominator", inside, inside, whole)
            return power(self._split("content", base, mul(outside, below)), exponent)
        if isinstance(base, Entry) and base.tensor in self.definitions:
            raise Refold(base.tensor)
        return power(self._function("denominator", base, base, term.base), exponent)

    @_flatten.register
    def _(self, term: Fun) -> Term:
        row = FUNCTIONS.get(term.name)
        if row is not None and row.definition is not None and term.name != "tanh":
            return self.flat(row.definition(*term.args))
        if len(term.args) != 1:
            raise Unsupported(f"Coq certificates do not cover the function {term.name}")
        arg = self.flat(term.args[0])
        take = {"exp": apart.exponential, "log": apart.logarithm}.get(term.name)
        split = take(self.nf(arg), self.items) if take else None
        if term.name == "exp" and (log := apart.single_log(self.nf(arg), self.items)) is not None:
            return self._split("explog", Fun("exp", arg), log)
        if split is not None:
            flat = self._powers_of_e(split) if term.name == "exp" else self.flat(split)
            aid = None
            if term.name == "log":
                rest = [t for t in (flat.args if isinstance(flat, Add) else (flat,)) if not self._is_log(t)]
                aid = self.flat(Fun("exp", add(*rest)))
            return self._split(term.name, Fun(term.name, arg), flat, aid)
        return self._function(term.name, arg, Fun(term.name, arg), term.args[0])

    def _powers_of_e(self, split: Term) -> Term:
        factors = split.args if isinstance(split, Mul) else (split,)
        pairs = [(f.base, f.exponent) if isinstance(f, Pow) else (f, Fraction(1)) for f in factors]
        return mul(*(power(self.flat(base), exponent) for base, exponent in pairs))

    def _is_log(self, term: Term) -> bool:
        item = self.items.get(term.tensor) if isinstance(term, Entry) else None
        return item is not None and isinstance(item.body, Fun) and item.body.name == "log"

    def _split(self, kind: str, body: Term, split: Term, aid: Term | None = None) -> Entry:
        """The item of an expression that is taken apart."""
        free = tuple(sorted(body.free | split.free, key=lambda var: (var.name, var.uid)))
        fresh = dict(zip(free, (var.fresh() for var in free), strict=True))
        tensor = Tensor(self.name(kind), tuple(var.dim for var in free))
        variables = tuple(fresh.values())
        same = None if aid is None else substitute(aid, fresh)
        self._add(Item(tensor, variables, substitute(body, fresh), kind, same, split=substitute(split, fresh)))  # type: ignore[arg-type]
        return Entry(tensor, free)

    @_flatten.register
    def _(self, term: Maximum) -> Term:
        body = self.flat(term.body)
        key, order = abstract(self.nf(body), (term.var,))
        return self._keyed("maximum", key, list(order), Maximum(term.var, body))

    @_flatten.register
    def _(self, term: Iverson) -> Term:
        return bracket(term)

    @_flatten.register
    def _(self, term: Apply) -> Term:
        for argument in term.arguments:
            self.flat(argument.body)
        hint = term.name + "".join(f".{position}" for position, _ in term.derivatives)
        bodies = [abstract(self.nf(self.flat(argument.body)), argument.vars) for argument in term.arguments]
        return self._applied(hint, term, bodies)

    def _applied(self, hint: str, term: Apply, bodies: list[tuple[str, tuple[Var, ...]]]) -> Entry:
        outs = (*term.outs, *(index for _, of in term.derivatives for index in of))
        order: list[Var] = []
        for var in (
            *(v for out in outs for v in sorted(out.free, key=lambda v: v.uid)),
            *(v for _, o in bodies for v in o),
        ):
            if var not in order:
                order.append(var)
        names = {var: f"?{k}" for k, var in enumerate(order)}
        key = "|".join(
            (*(atom_key(out, lambda v: names.get(v, v.name)) for out in outs),
             *(text + ",".join(names[var] for var in found) for text, found in bodies))
        )  # fmt: skip
        return self._keyed(hint, key, order, term)

    def _keyed(self, hint: str, key: str, order: list[Var], body: Term) -> Entry:
        """The item of a function that is the same atom as an earlier one with the same key."""
        entry = self._new(hint, "function", body)
        item = self.items[entry.tensor]
        inner = dict(zip(entry.args, item.vars, strict=True))
        found = self.keys.get((hint, key))
        if found is None:
            self.keys[(hint, key)] = item.tensor, positions(tuple(inner[var] for var in order), item.vars)
            self.opaque.add(item.tensor)
        else:
            same = Entry(found[0], tuple(inner[order[k]] for k in found[1]))
            self.items[entry.tensor] = Item(item.tensor, item.vars, item.body, "same", same)
        return entry
