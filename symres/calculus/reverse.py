"""Reverse-mode differentiation over the named intermediates of a program.

The sweep visits the definitions from the last to the first. Each gets one adjoint ``∂T[k] = Σ (adjoint of what uses T)
· (local derivative)``, written with the adjoints already found, so that the result reads as a person's chain rule does
and grows linearly with the number of definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from symres.calculus.maxima import name_maxima
from symres.errors import Unsupported
from symres.kernel.terms import (
    ZERO,
    Add,
    Apply,
    Entry,
    Fun,
    Iverson,
    Lam,
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
    delta,
    mul,
    power,
    substitute,
    sum_,
    transform,
    walk,
)
from symres.language.equality import proved_equal
from symres.language.formula import adjoint
from symres.language.functions import partial
from symres.language.program import Definition, Program


@dataclass(frozen=True)
class Contribution:
    """One summand of an adjoint: what flows into ``target[args]`` from the definition of ``source``.

    The summand is ``Σ_bound weight``, where ``args`` are the indices at which the target is used.
    """

    target: Tensor
    args: tuple[Term, ...]
    weight: Term
    bound: tuple[Var, ...]
    source: Tensor | None


@dataclass
class Backward:
    """The result of a sweep: one adjoint definition for every tensor reached, in the order of the sweep."""

    program: Program
    upstream: Mapping[str, Tensor]
    adjoints: dict[Tensor, Definition] = field(default_factory=dict)
    paths: dict[Tensor, list[tuple[Tensor | None, Term]]] = field(default_factory=dict)

    def gradient(self, name: str) -> Definition:
        """The adjoint of the input ``name``: the gradient of ``Σ upstream · output`` with respect to it."""
        return self.adjoints[self.program.inputs[name]]

    @property
    def definitions(self) -> dict[Tensor, Definition]:
        """The program's definitions followed by the adjoints, each by its tensor."""
        return {**self.program.definitions, **{adjoint(t): d for t, d in self.adjoints.items()}}


Edge = tuple[Tensor | None, Tensor, int]
"""A use of the second tensor in the definition of the first, counted from 0; ``None`` stands for the outputs."""


def reverse(
    program: Program,
    wrt: Iterable[str],
    upstream: Mapping[str, Tensor] | None = None,
    cut: Container[Edge] = (),
) -> Backward:
    """Differentiate ``Σ_outputs Σ upstream · output`` with respect to the inputs ``wrt``.

    ``upstream`` names the upstream gradient of each output; by default ``d`` and the output's name. Nothing flows along
    the edges in ``cut``: the result is then the gradient that forgets them.

    Raises:
        Unsupported: where the program uses something that has no derivative here.
    """
    program = name_maxima(program)
    wanted = [program.inputs[name] for name in wrt]
    upstream = upstream or {name: Tensor(f"d{name}", _atomic(value.axes)) for name, value in program.outputs.items()}
    incoming: dict[Tensor, list[Contribution]] = {}
    active = _active(program, set(wanted))

    def emit(contribution: Contribution) -> None:
        if contribution.target not in active or contribution.weight is ZERO:
            return
        before = incoming.setdefault(contribution.target, [])
        count = sum(other.source == contribution.source for other in before)
        if (contribution.source, contribution.target, count) in cut:
            contribution = replace(contribution, weight=ZERO)
        before.append(contribution)

    for name, value in program.outputs.items():
        variables = tuple(var.fresh() for var in value.vars)
        seed = Entry(upstream[name], variables)
        pull(value.at(*variables), seed, variables, None, emit)
    result = Backward(program, upstream)
    for tensor in [*reversed(program.definitions), *wanted]:
        if tensor in result.adjoints or (tensor not in incoming and tensor not in wanted):
            continue
        axes = _axes(program, tensor)
        variables = _variables(program, tensor)
        parts = [(c.source, _collect(c, variables)) for c in incoming.get(tensor, [])]
        result.adjoints[tensor] = Definition(adjoint(tensor), axes, variables, add(*(term for _, term in parts)))
        result.paths[tensor] = parts
        definition = program.definitions.get(tensor)
        if definition is not None and isinstance(definition.body, Maximum) and (cut or _vanishes(result, tensor)):
            # A shift by the maximum does not change the result; nothing flows through it, nor is it what a cut is about.
            result.adjoints[tensor] = Definition(adjoint(tensor), axes, variables, ZERO)
            continue
        if definition is not None and parts:
            fresh = tuple(var.fresh() for var in definition.vars)
            body = definition.at(fresh)
            # The derivative of t = tanh(a) is 1 - t²: a body that stands in its own derivative goes by its name.
            named = {body: Entry(tensor, fresh)} if isinstance(body, Fun) else {}
            pull(body, Entry(adjoint(tensor), fresh), fresh, tensor, lambda c, n=named: emit(_by_name(c, n)))  # type: ignore[misc]
    return result


def _by_name(contribution: Contribution, named: dict[Term, Entry]) -> Contribution:
    if not named:
        return contribution
    return replace(contribution, weight=transform(contribution.weight, named.get))


def _vanishes(backward: Backward, tensor: Tensor) -> bool:
    return proved_equal(backward.adjoints[tensor].body, ZERO, backward.definitions)


def _atomic(axes: tuple[tuple[Term, ...], ...]) -> tuple[Term, ...]:
    return tuple(size for axis in axes for size in axis)


def _axes(program: Program, tensor: Tensor) -> tuple[tuple[Term, ...], ...]:
    definition = program.definitions.get(tensor)
    if definition is not None:
        return definition.axes
    return program.axes.get(tensor.name, tuple((dim,) for dim in tensor.dims))


def _variables(program: Program, tensor: Tensor) -> tuple[Var, ...]:
    definition = program.definitions.get(tensor)
    if definition is not None:
        return tuple(var.fresh() for var in definition.vars)
    return tuple(Var("ijkl"[place % 4], dim) for place, dim in enumerate(tensor.dims))


def _active(program: Program, wanted: set[Tensor]) -> set[Tensor]:
    """The tensors through which a wanted input reaches an output."""
    active = set(wanted)
    for tensor, definition in program.definitions.items():
        if any(entry in active for entry in tensors(definition.body)):
            active.add(tensor)
    return active


def tensors(term: Term) -> set[Tensor]:
    """The tensors whose entries occur in a term."""
    return {node.tensor for node in walk(term) if isinstance(node, Entry)}


def _collect(contribution: Contribution, variables: tuple[Var, ...]) -> Term:
    """The contribution to ``∂target[variables]``: bound indices that are plain arguments become the indices."""
    renaming: dict[Var, Term] = {}
    remaining = list(contribution.bound)
    deltas: list[Term] = []
    for arg, var in zip(contribution.args, variables, strict=True):
        if isinstance(arg, Var) and arg in remaining and arg.dim is var.dim:
            renaming[arg] = var
            remaining.remove(arg)
        else:
            deltas.append(delta(arg, var))
    body = mul(*deltas, contribution.weight) if deltas else contribution.weight
    return substitute(sum_(remaining, body), renaming)


# ---------------------------------------------------------------- pullbacks, one rule for each class of term

Emit = Callable[[Contribution], None]
Rule = Callable[..., None]
PULLBACKS: dict[type[Term], Rule] = {}


def pullback(cls: type[Term]) -> Callable[[Rule], Rule]:
    """Register the pullback of a class of terms; a second one for the same class is an error."""

    def register(rule: Rule) -> Rule:
        if cls in PULLBACKS:
            raise ValueError(f"there is a pullback for {cls.__name__} already")
        PULLBACKS[cls] = rule
        return rule

    return register


def pull(term: Term, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    """Send ``weight``, the derivative of the loss by this occurrence of ``term``, to the entries it is made of.

    ``bound`` are the index variables over which the occurrence is summed.
    """
    rule = PULLBACKS.get(type(term))
    if rule is None:
        raise Unsupported(f"there is no derivative for {type(term).__name__}")
    rule(term, weight, bound, source, emit)


@pullback(Num)
@pullback(Size)
@pullback(Var)
@pullback(Iverson)
def _constant(term: Term, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    """Nothing flows into a constant."""


@pullback(Entry)
def _entry(term: Entry, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    emit(Contribution(term.tensor, term.args, weight, bound, source))


@pullback(Add)
def _add(term: Add, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    for arg in term.args:
        pull(arg, weight, bound, source, emit)


@pullback(Mul)
def _mul(term: Mul, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    for place, arg in enumerate(term.args):
        rest = mul(*term.args[:place], *term.args[place + 1 :])
        pull(arg, mul(weight, rest), bound, source, emit)


@pullback(Pow)
def _pow(term: Pow, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    slope = mul(term.exponent, power(term.base, term.exponent - 1))
    pull(term.base, mul(weight, slope), bound, source, emit)


@pullback(Sum)
def _sum(term: Sum, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    var = term.var.fresh()
    pull(substitute(term.body, {term.var: var}), weight, (*bound, var), source, emit)


@pullback(Maximum)
def _maximum(term: Maximum, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    # Off ties the maximum is attained at one entry only, which takes the whole gradient.
    body: Term = term
    while isinstance(body, Maximum):
        var = body.var.fresh()
        body = substitute(body.body, {body.var: var})
        bound = (*bound, var)
    pull(body, mul(weight, Fun("eq0", body - term)), bound, source, emit)


@pullback(Fun)
def _fun(term: Fun, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    for place, arg in enumerate(term.args):
        slope = partial(term, place)
        if slope is not ZERO:
            pull(arg, mul(weight, slope), bound, source, emit)


@pullback(Apply)
def _apply(term: Apply, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    for place, lam in enumerate(term.arguments):
        fresh = tuple(var.fresh() for var in lam.vars)
        jacobian = Apply(term.name, term.dims, term.outs, term.arguments, (*term.derivatives, (place, fresh)))
        body = substitute(lam.body, dict(zip(lam.vars, fresh, strict=True)))
        pull(body, mul(weight, jacobian), (*bound, *fresh), source, emit)


@pullback(Lam)
def _lam(term: Lam, weight: Term, bound: tuple[Var, ...], source: Tensor | None, emit: Emit) -> None:
    raise Unsupported("a whole tensor has no derivative outside the function it is an argument of")
