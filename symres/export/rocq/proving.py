"""What the algebra needs to know about single items: that they are not zero, or equal their own squares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from symres.errors import Unsupported
from symres.export.rocq.items import Algebra
from symres.export.rocq.layer import Layer, Premise
from symres.export.rocq.monomials import Poly
from symres.export.rocq.restarts import Refold, Reroot
from symres.export.rocq.scope import Scope
from symres.export.rocq.scripts import Scripts
from symres.export.rocq.sums import exchange
from symres.export.rocq.symbols import Symbol
from symres.export.rocq.writing import binders, braces
from symres.kernel.terms import Entry, Pow, Sum, Tensor, Term, Var, add, neg, substitute, sum_
from symres.language.program import Definition


@dataclass
class Conditions:
    """Facts about atoms, each from a lemma that is written when it is first asked for."""

    layer: Layer
    assumed: dict[str, Premise] = field(default_factory=dict)
    written: set[Tensor] = field(default_factory=set)

    def new(self, hint: str) -> str:
        """An identifier that nothing has."""
        return self.layer.names.new(hint)

    def signs(self, scope: Scope, tensor: Tensor, variables: tuple[Var, ...], body: Term) -> list[str]:
        """The lemma about the sign of an item, where its form shows it."""
        return self.layer.signs(scope, tensor, variables, body)

    def idempotent(self, scripts: Scripts, entry: Entry) -> str:
        """A proof that an atom equals its own square."""
        scope, name = scripts.scope, self.layer.symbols[entry.tensor].name
        if name in ("delta", "at_most"):
            return f"({name}_idem {' '.join(map(scope.index, entry.args))})"
        item = scripts.algebra.items.get(entry.tensor)
        if item is not None and entry.tensor not in self.written:
            self.written.add(entry.tensor)
            with scope.bound(*item.vars) as names:
                head = binders(names, [scope.size(var.dim) for var in item.vars])
                words = scope.text(Entry(entry.tensor, item.vars))
            scripts.lines.append(f"Lemma {name}_idem {head}: {words} * {words} = {words}.")
            scripts.lines.append("Proof. apply step_idem. Qed.")
        return f"({' '.join((f'{name}_idem', *scope.ranged(entry.args)))})"

    def nonzero(self, scripts: Scripts, entry: Entry) -> str:
        """A proof that an atom is not zero.

        Raises:
            Unsupported: if neither its form nor a premise of the theorem says so.
        """
        scope, symbol = scripts.scope, self.layer.symbols[entry.tensor]
        if symbol.positive:
            return f"(pos_nonzero _ {scope.lemma(symbol.positive, entry)})"
        item = scripts.algebra.items.get(entry.tensor)
        source = scripts.algebra.sources.get(entry.tensor)
        if source is None:
            if item is not None and not item.defined:
                raise Unsupported(f"{entry} stands below a fraction line and nothing says that it is not zero")
            premise, free = self.layer.premise("nonzero", entry)
            self.assumed.setdefault(f"H_{premise.name}", premise)
            return f"({' '.join((f'H_{premise.name}', *scope.ranged(free)))} : {scope.text(entry)} <> 0)"
        assert item is not None
        root = isinstance(item.body, Pow)
        premise, free = self.layer.premise("positive" if root else "nonzero", source)
        assumed = f"H_{premise.name}"
        self.assumed.setdefault(assumed, premise)
        back = dict(zip(scripts.algebra.places[entry.tensor], entry.args, strict=True))
        words = [word for var in free for word in scope.ranged((back[var],))]
        proof = f"({' '.join((assumed, *words))})"
        return (
            f"(pos_nonzero _ (sqrt_pos_pos _ {proof}) : {scope.text(entry)} <> 0)"
            if root
            else f"({proof} : {scope.text(entry)} <> 0)"
        )


@dataclass
class Balance:
    """Two closed sums and the indices that both are summed over: the sides agree at each value of these.

    ``shared`` pairs an outer index of the left side with one of the right.
    """

    label: str
    left: Term
    right: Term
    definitions: Mapping[Tensor, Definition]
    keep: tuple[Tensor, ...]
    shared: list[tuple[Var, Var]] = field(default_factory=list)

    def solve(self) -> Algebra | None:
        """The algebra in which the sides agree, with as many shared indices and folded definitions as possible.

        The proof is then shorter, and reads like the page. ``None`` if the sides are not found equal.
        """
        algebra: Algebra | None = None
        forced: frozenset[Tensor] = frozenset()
        own, other = outer(self.left)[0], outer(self.right)[0]
        self.shared = aligned(own, other)
        if self.shared:
            algebra, forced = self._try(forced)
        if algebra is None:
            self.shared = []
        for var in own if algebra is None else ():
            for match in other:
                if match.dim is var.dim and match not in [right for _, right in self.shared]:
                    self.shared.append((var, match))
                    found, folded = self._try(forced)
                    if found is not None:
                        algebra, forced = found, folded
                        break
                    self.shared.pop()
        if algebra is None:
            algebra, forced = self._attempt(forced)
        if algebra is None:
            return None
        for tensor in self.keep:
            if tensor not in forced:
                found, folded = self._try(forced | {tensor})
                if found is not None:
                    algebra, forced = found, folded
        return algebra

    def at_shared(self) -> tuple[Term, Term]:
        """Both sides at fixed values of the shared indices."""
        (own, left), (other, right) = outer(self.left), outer(self.right)
        lefts, rights = [a for a, _ in self.shared], [b for _, b in self.shared]
        left = sum_(tuple(var for var in own if var not in lefts), left)
        right = sum_(tuple(var for var in other if var not in rights), right)
        return left, substitute(right, {b: a for a, b in self.shared})

    def _try(self, folded: frozenset[Tensor]) -> tuple[Algebra | None, frozenset[Tensor]]:
        """An attempt that may also fail because something is not covered in this form."""
        try:
            return self._attempt(folded)
        except Unsupported:
            return None, folded

    def _attempt(self, folded: frozenset[Tensor]) -> tuple[Algebra | None, frozenset[Tensor]]:
        algebra, difference = self._compare(folded)
        return (algebra if not difference or algebra.vanishes(difference) else None), algebra.folded

    def _compare(self, folded: frozenset[Tensor]) -> tuple[Algebra, Poly]:
        left, right = self.at_shared()
        rooted: frozenset[str] = frozenset()
        while True:
            algebra = Algebra(self.definitions, folded, _numbered(self.label), rooted)
            try:
                return algebra, algebra.nf(algebra.flat(add(left, neg(right))))
            except Refold as found:
                folded |= {found.tensor}
            except Reroot as found:
                rooted |= {found.key}

    def algebra(self) -> Algebra:
        """An algebra for the sides as they are, equal or not."""
        return self._compare(frozenset())[0]

    def proof(self, scripts: Scripts) -> list[str]:
        """The script that shows the sides equal."""
        scope, lines = scripts.scope, []
        sides = outer(self.left), outer(self.right)
        for k, (variables, body) in enumerate(sides):
            first = [pair[k] for pair in self.shared]
            wanted = [*first, *(var for var in variables if var not in first)]
            words = scope.text(sum_(wanted, body))
            steps = exchange(variables, wanted)
            if steps:
                turned = steps if k == 0 else ["symmetry.", *steps]
                lines += [f"transitivity ({words}).", *([] if k == 0 else ["2:"])]
                lines += braces([*turned, "reflexivity."])
        with scope.bound(*(var for var, _ in self.shared)) as names:
            lines += [f"apply sum_ext; intros {name} H{name}." for name in names]
            flat = [scripts.algebra.flat(side) for side in self.at_shared()]
            closing = scripts.equate(*flat, relations=scripts.algebra.relations)
            lines += [f"change ({scope.text(flat[0])} = {scope.text(flat[1])}).", *closing]
        return lines


def aligned(own: list[Var], other: list[Var]) -> list[tuple[Var, Var]]:
    """The indices of two sums paired by their ranges, in order."""
    pairs, rest = [], list(other)
    for var in own:
        match = next((one for one in rest if one.dim is var.dim), None)
        if match is not None:
            rest.remove(match)
            pairs.append((var, match))
    return pairs


def outer(term: Term) -> tuple[list[Var], Term]:
    """The outer sums of a term and what they sum."""
    variables = []
    while isinstance(term, Sum):
        variables.append(term.var)
        term = term.body
    return variables, term


def _numbered(label: str) -> Callable[[str], str]:
    counts: dict[str, int] = {}

    def name(hint: str) -> str:
        counts[hint] = counts.get(hint, 0) + 1
        return f"{hint}_{label}_{counts[hint]}"

    return name


def register(layer: Layer, algebra: Algebra) -> None:
    """Give every item of an algebra an identifier."""
    for tensor in algebra.items:
        if tensor not in layer.symbols:
            layer.symbols[tensor] = Symbol(layer.names.new(tensor.name))
