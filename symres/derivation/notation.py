"""How a derivation about stacks is written down: sizes, indices, general vector functions, states along the depth.

All of it makes terms; a state or a general function is called with indices and gives an entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from symres.errors import UsageError
from symres.kernel.terms import (
    ZERO,
    Add,
    Apply,
    Entry,
    Lam,
    Num,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
    add,
    as_term,
    substitute,
    sum_,
    transform,
)
from symres.language.certificate import Recurrence

Body = Callable[..., Term]


def total(count: Term | int, body: Callable[[Term], Term], name: str = "i") -> Term:
    """``Σ_{i < count} body(i)``, written out where ``count`` is a number; the sum of nothing is 0."""
    count = as_term(count)
    if isinstance(count, Num):
        return add(*(body(Num(k)) for k in range(int(count.value))))
    var = Var(name, count)
    return sum_(var, body(var))


def whole(dims: Iterable[Term], body: Body) -> Lam:
    """The tensor with these axes and the entries ``body(k, …)``: an argument of a general function."""
    variables = tuple(Var("k", dim) for dim in dims)
    return Lam(variables, body(*variables))


@dataclass(frozen=True)
class General:
    """An arbitrary differentiable function of tensors, with values of the given axes: ``F(i, d)(x)`` is one entry."""

    name: str
    dims: tuple[Term, ...]

    def __call__(self, *outs: Term | int) -> Callable[..., Term]:
        """The entry at the indices ``outs``, still to be given the arguments."""
        indices = tuple(map(as_term, outs))
        return lambda *arguments: Apply(self.name, self.dims, indices, arguments)

    def jacobian(self, *outs: Term | int, by: tuple[Term, ...], place: int = 0) -> Callable[..., Term]:
        """The derivative of an entry by the entry ``by`` of the argument number ``place``."""
        indices = tuple(map(as_term, outs))
        return lambda *arguments: Apply(self.name, self.dims, indices, arguments, ((place, by),))


class State:
    """Values along the depth: ``base`` at 0 and, from one to the next, ``step``.

    Args:
        name: printed with the depth as its first index.
        depth: the number L of blocks; the state is defined at 0, …, L + 1, so that a step from L can be spoken of.
        dims: the other axes.
        base: the entry at depth 0, given the other indices.
        step: the entry at depth n + 1, given n and the other indices.
    """

    def __init__(self, name: str, depth: Size, dims: Iterable[Term], base: Body, step: Body) -> None:
        self.tensor = Tensor(name, (depth + 2, *dims))
        self.base, self.step = base, step

    def __call__(self, *indices: Term | int) -> Entry:
        return self.tensor(*indices)

    def at(self, depth: Term | int) -> Lam:
        """The whole state at one depth, as the argument of a general function."""
        return whole(self.tensor.dims[1:], lambda *rest: self.tensor(depth, *rest))

    def recurrence(self) -> Recurrence:
        """The state as a certificate has it."""
        first, *rest = (Var(name, dim) for name, dim in zip("ndefk", self.tensor.dims, strict=False))
        return Recurrence(self.tensor, (first, *rest), self.base(*rest), self.step(first - 1, *rest))

    def unfold(self, term: Term, depth: Term | int, second: Term | None = None) -> Term:
        """The entries at ``depth`` replaced by what defines them; those inside general functions stay.

        With ``second``, only those whose next index is this one.

        Raises:
            UsageError: if the depth is neither a number nor visibly at least 1.
        """
        depth = as_term(depth)

        def rule(entry: Entry) -> Term | None:
            if entry.tensor != self.tensor or entry.args[0] is not depth:
                return None
            if second is not None and (len(entry.args) < 2 or entry.args[1] is not second):
                return None
            return self.base(*entry.args[1:]) if depth is ZERO else self.step(before(depth), *entry.args[1:])

        return outside_functions(term, rule)


def before(depth: Term) -> Term:
    """``depth - 1``, which is not negative.

    Raises:
        UsageError: if that cannot be seen.
    """
    match depth:
        case Num(value=value) if value >= 1:
            return Num(value - 1)
        case Size():
            return depth - 1
        case Add(args=(Size() as size, Num(value=value))) if value >= 1:
            return add(size, value - 1)
    raise UsageError(f"{depth!r} is not visibly a depth of at least 1")


def outside_functions(term: Term, rule: Callable[[Entry], Term | None]) -> Term:
    """Replace entries, but none in the arguments of general functions, which stay as they are."""
    held: dict[Tensor, Apply] = {}

    def hide(node: Term) -> Term | None:
        if not isinstance(node, Apply):
            return None
        variables = tuple(sorted(node.free, key=lambda var: var.uid))
        tensor = Tensor(f"held {len(held)}", tuple(var.dim for var in variables))
        held[tensor] = node
        return Entry(tensor, variables)

    def show(node: Term) -> Term | None:
        return transform(held[node.tensor], show) if isinstance(node, Entry) and node.tensor in held else None

    replaced = transform(transform(term, hide), lambda node: rule(node) if isinstance(node, Entry) else None)
    return transform(replaced, show)


def split_last(term: Term, count: Term) -> Term:
    """``Σ_{i < n+1} u(i) = Σ_{i < n} u(i) + u(n)`` for every sum over ``count`` = n + 1 terms."""
    fewer = before(count)

    def rule(node: Term) -> Term | None:
        if not isinstance(node, Sum) or node.var.dim is not count:
            return None
        var = Var(node.var.name, fewer)
        rest = sum_(var, substitute(node.body, {node.var: var}))
        return add(rest, substitute(node.body, {node.var: fewer}))

    return transform(term, rule)


def replace_entry(term: Term, pattern: Term, value: Term, variables: tuple[Var, ...]) -> Term:
    """Entries like ``pattern``, at any indices for the variables, replaced by ``value`` outside general functions.

    Raises:
        UsageError: if the pattern is no entry.
    """
    if not isinstance(pattern, Entry):
        raise UsageError(f"{pattern!r} is no entry of a state")

    def rule(entry: Entry) -> Term | None:
        if entry.tensor != pattern.tensor:
            return None
        pairs = list(zip(pattern.args, entry.args, strict=True))
        if any(want not in variables and want is not have for want, have in pairs):
            return None
        return substitute(value, {want: have for want, have in pairs if isinstance(want, Var)})

    return outside_functions(term, rule)
