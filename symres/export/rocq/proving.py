"""What the algebra needs to know about single items: that they are not zero, or equal their own squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from symres.errors import Unsupported
from symres.export.rocq.items import Algebra, Refold
from symres.export.rocq.layer import Layer
from symres.export.rocq.scope import Scope, Symbol
from symres.export.rocq.scripts import Scripts
from symres.export.rocq.writing import binders
from symres.kernel.terms import Entry, Pow, Tensor, Term, Var, add, neg
from symres.language.program import Definition


@dataclass
class Conditions:
    """Facts about atoms, each from a lemma that is written when it is first asked for."""

    layer: Layer
    assumed: dict[str, str] = field(default_factory=dict)
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
        if item is None or source is None:
            raise Unsupported(f"{entry} stands below a fraction line and nothing says that it is not zero")
        root = isinstance(item.body, Pow)
        premise, free = self.layer.premise("positive" if root else "nonzero", source)
        assumed = f"H_{premise.name}"
        self.assumed.setdefault(assumed, premise.name)
        back = dict(zip(scripts.algebra.places[entry.tensor], entry.args, strict=True))
        words = [word for var in free for word in scope.ranged((back[var],))]
        proof = f"({' '.join((assumed, *words))})"
        return f"(pos_nonzero _ (sqrt_pos_pos _ {proof}) : {scope.text(entry)} <> 0)" if root else f"({proof} : {scope.text(entry)} <> 0)"


def balanced(
    label: str, left: Term, right: Term, definitions: dict[Tensor, Definition], keep: tuple[Tensor, ...]
) -> tuple[Algebra, bool]:
    """The algebra in which two sides are compared, and whether they agree in it.

    As many of the definitions in ``keep`` as possible stay atoms: the proof is then shorter, and reads like the page.
    """

    def attempt(folded: frozenset[Tensor]) -> tuple[Algebra, bool, frozenset[Tensor]]:
        while True:
            algebra = Algebra(definitions, folded, _numbered(label))
            try:
                difference = algebra.nf(algebra.flat(add(left, neg(right))))
            except Refold as found:
                folded |= {found.tensor}
                continue
            return algebra, not difference, folded

    algebra, agree, forced = attempt(frozenset())
    if not agree:
        return algebra, False
    for tensor in keep:
        if tensor not in forced:
            other, still, folded = attempt(forced | {tensor})
            if still:
                algebra, forced = other, folded
    return algebra, True


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

