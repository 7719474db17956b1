"""The part of a certificate that states: sizes, inputs, hypotheses, and the layer's definitions under their own names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from symres.errors import Unsupported
from symres.export.rocq.functions import declare_functions
from symres.export.rocq.indices import before_last, shifted, variables_of
from symres.export.rocq.monomials import AT_MOST, DELTA
from symres.export.rocq.names import Names
from symres.export.rocq.scope import Scope
from symres.export.rocq.signs import nonnegative, positive
from symres.export.rocq.symbols import Symbol
from symres.export.rocq.writing import binders, forall, kind_of
from symres.kernel.terms import Entry, Pow, Size, Tensor, Term, Var, add, substitute, walk
from symres.language.certificate import Recurrence


@dataclass(frozen=True)
class Premise:
    """A condition on the inputs that the theorem assumes: ``term`` is not zero, or positive, at all indices."""

    name: str
    kind: str
    term: Term
    vars: tuple[Var, ...]
    params: tuple[Tensor, ...]


@dataclass
class Layer:
    """Everything a theorem speaks of.

    Args:
        explicit: inputs that gradients are taken by, and upstream gradients: arguments of every definition using them.
        others: all other inputs, variables of the section.
    """

    explicit: tuple[Tensor, ...]
    others: tuple[Tensor, ...]
    bodies: tuple[Term, ...]
    names: Names = field(default_factory=Names)
    symbols: dict[Tensor, Symbol] = field(default_factory=dict)
    functions: dict[tuple[str, tuple[int, ...]], str] = field(default_factory=dict)
    premises: dict[tuple[str, str], Premise] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)
    header: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    insides: dict[Tensor, tuple[tuple[Var, ...], Term]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for tensor in (*self.explicit, *self.others):
            if tensor in self.explicit and tensor.kind in ("bool", "int"):
                raise Unsupported(
                    f"Coq certificates take gradients by real tensors only, {tensor.name} is {tensor.kind}"
                )
        self.symbols[DELTA], self.symbols[AT_MOST] = Symbol("delta"), Symbol("at_most")
        self._sizes()
        for tensor in self.explicit:
            self.symbols[tensor] = Symbol(self.names.new(tensor.name))
        for tensor in self.others:
            self._input(tensor)
        declare_functions(self)

    def scope(self) -> Scope:
        """The names where nothing moves."""
        return Scope(self.symbols, self.functions, insides=self.insides)

    # ------------------------------------------------------------ the header of the section

    def _sizes(self) -> None:
        dims = [dim for tensor in (*self.explicit, *self.others) for dim in tensor.dims]
        dims += [tensor.bound for tensor in self.others if tensor.bound is not None]
        for body in self.bodies:
            for node in walk(body):
                dims += [var.dim for var in variables_of(node)]
                if isinstance(node, Size):
                    dims.append(node)
        found = sorted({size.name for dim in dims for size in walk(dim) if isinstance(size, Size)})
        for size in found:
            self.symbols[Tensor(size, (), "size")] = Symbol(self.names.new(size))
        for node in (node for body in self.bodies for node in walk(body)):
            if isinstance(node, Pow) and node.exponent < 0:
                base, more = shifted(node.base)
                if isinstance(base, Size) and more < 0:
                    self.need(self.scope().size(base), 1 - more)

    def sizes(self) -> list[str]:
        """The names of the sizes."""
        return [symbol.name for tensor, symbol in self.symbols.items() if tensor.kind == "size"]

    def need(self, size: str, least: int) -> None:
        """Assume that a size is at least some number."""
        self.least[size] = max(least, self.least.get(size, 1))

    def size_lines(self) -> list[str]:
        """The declarations of the sizes."""
        lines = []
        sizes = self.sizes()
        if sizes:
            lines.append(f"Variables ({' '.join(sizes)} : nat).")
        for size in sizes:
            lines.append(f"Hypothesis {size}_size : ({self.least.get(size, 1)} <= {size})%nat.")
        for size in sizes:
            lines.append(f"Lemma {size}_pos : (1 <= {size})%nat. Proof. pose proof {size}_size. lia. Qed.")
            proof = f"exact (pos_nonzero _ (size_pos {size} {size}_pos))"
            lines.append(f"Lemma {size}_nonzero : INR {size} <> 0. Proof. {proof}. Qed.")
        return lines

    def _ranges(self, tensor: Tensor) -> tuple[tuple[Var, ...], list[str]]:
        variables = tuple(Var("ijklmn"[k % 6], dim) for k, dim in enumerate(tensor.dims))
        return variables, [self.scope().size(dim) for dim in tensor.dims]

    def _input(self, tensor: Tensor) -> None:
        name = self.names.new(tensor.name)
        self.symbols[tensor] = Symbol(name)
        self.header.append(f"Variable {name} : {kind_of(tensor)}.")
        variables, sizes = self._ranges(tensor)
        with self.scope().bound(*variables) as names:
            entry = " ".join((name, *names))
            every = forall(names, sizes)
        if tensor.kind == "positive":
            self.header.append(f"Hypothesis {name}_pos : {every}0 < {entry}.")
            self.symbols[tensor] = Symbol(name, positive=f"{name}_pos")
        elif tensor.kind == "nonnegative":
            self.header.append(f"Hypothesis {name}_nonneg : {every}0 <= {entry}.")
            self.symbols[tensor] = Symbol(name, nonnegative=f"{name}_nonneg")
        elif tensor.kind == "bool":
            self.header.append(f"Hypothesis {name}_idem : {every}{entry} * {entry} = {entry}.")
        elif tensor.kind == "int":
            if tensor.bound is None:
                raise Unsupported(f"the integer tensor {tensor.name} has no bound")
            self.header.append(f"Hypothesis {name}_range : {every}({entry} < {self.scope().size(tensor.bound)})%nat.")
            self.symbols[tensor] = Symbol(name, range=f"{name}_range")

    # ------------------------------------------------------------ definitions

    def params(self, body: Term) -> tuple[Tensor, ...]:
        """The explicit tensors that a term uses, in order."""
        used: set[Tensor] = set()
        for node in walk(body):
            if isinstance(node, Entry):
                used |= {node.tensor, *self.symbols[node.tensor].params}
        return tuple(tensor for tensor in self.explicit if tensor in used)

    def typed(self, tensors: Iterable[Tensor]) -> str:
        """Binders for explicit tensors, ending with a space."""
        return "".join(f"({self.symbols[tensor].name} : {kind_of(tensor)}) " for tensor in tensors)

    def define(
        self, tensor: Tensor, variables: Sequence[Var], body: Term, hint: str = "", also: Sequence[Tensor] = ()
    ) -> None:
        """Write a definition and, where its sign follows from its form, a lemma about the sign."""
        params = (*self.params(body), *also)
        name = self.names.new(hint or tensor.name)
        self.symbols[tensor] = Symbol(name, params)
        scope = self.scope()
        with scope.bound(*variables) as names:
            words = scope.text(body)
            self.lines.append(f"Definition {name} {self.typed(params)}{binders(names)}: R :=\n  {words}.")
        self.lines += self.signs(scope, tensor, tuple(variables), body)
        self.insides[tensor] = tuple(variables), body

    def define_recurrence(
        self, part: Recurrence, hint: str = "", always: Sequence[Tensor] = (), also: Sequence[Tensor] = ()
    ) -> None:
        """Write a recurrence along the depth as a Fixpoint; its parameters begin with ``always`` and end with ``also``."""
        name = self.names.new(hint or part.tensor.name)
        self.symbols[part.tensor] = Symbol(name)
        self.symbols[part.tensor] = Symbol(name, (*(always or self.params(add(part.base, part.step))), *also))
        scope, before = self.scope(), before_last(part)
        with scope.bound(*part.vars, before.var) as names:
            base, step = scope.text(part.base), scope.text(before.step)
        head = f"{self.typed(self.symbols[part.tensor].params)}{binders(names[:-1])}"
        self.lines += [
            f"Fixpoint {name} {head}{{struct {names[0]}}} : R :=",
            f"  match {names[0]} with",
            f"  | O => {base}",
            f"  | S {names[-1]} => {step}",
            "  end.",
        ]

    def signs(self, scope: Scope, tensor: Tensor, variables: tuple[Var, ...], body: Term) -> list[str]:
        """A lemma that all entries of a definition are positive, or not negative, where its form shows it."""
        symbol = self.symbols[tensor]
        with scope.bound(*variables) as names:
            node = scope.lower(body)
            try:
                sizes = [scope.size(var.dim) for var in variables]
            except Unsupported:
                return []
            for word, sign, prove in (("pos", "<", positive), ("nonneg", "<=", nonnegative)):
                proof = prove(node)
                if proof is None:
                    continue
                lemma = self.names.new(f"{symbol.name}_{word}")
                params = symbol.params
                head = f"{self.typed(params)}{binders(names, sizes)}"
                entry = " ".join((symbol.name, *(self.symbols[p].name for p in params), *names))
                known = (lemma, "") if word == "pos" else ("", lemma)
                self.symbols[tensor] = Symbol(symbol.name, params, "", *known)
                return [f"Lemma {lemma} {head}: 0 {sign} {entry}.", f"Proof. exact {proof}. Qed."]
        return []

    # ------------------------------------------------------------ premises

    def premise(self, kind: str, term: Term) -> tuple[Premise, tuple[Var, ...]]:
        """The condition on the inputs that ``term`` is not zero (or positive), and the indices at which it is asked."""
        free = tuple(dict.fromkeys(var for node in walk(term) for var in variables_of(node) if var in term.free))
        labelled = substitute(term, {var: _place(var.dim, k) for k, var in enumerate(free)})
        key = kind, repr(labelled)
        found = self.premises.get(key)
        if found is None:
            name = self.names.new({"kink": "off_kink", "nonzero": "nonzero", "positive": "positive"}[kind])
            found = self.premises[key] = Premise(name, kind, term, free, self.params(term))
            self.lines.append(self._predicate(found))
        return found, free

    def _predicate(self, premise: Premise) -> str:
        scope = self.scope()
        with scope.bound(*premise.vars) as names:
            every = forall(names, [scope.size(var.dim) for var in premise.vars])
            words = scope.text(premise.term)
        condition = f"0 < {words}" if premise.kind == "positive" else f"{words} <> 0"
        return f"Definition {premise.name} {self.typed(premise.params)}: Prop :=\n  {every}{condition}."


_places: dict[tuple[Term, int], Var] = {}


def _place(dim: Term, k: int) -> Var:
    return _places.setdefault((dim, k), Var(f"p{k}", dim))
