"""Known kinds of fault, each as the gradient that somebody who makes it would write.

A candidate is a variant of the derived gradient: the sweep with an edge cut, a factor put in or left out, the gradient of
a slightly different forward function. :mod:`symres.verify.diagnosis` compares each with the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from symres.calculus.naming import name_sums, role
from symres.calculus.reverse import Backward, Edge, reverse
from symres.kernel.terms import (
    ONE,
    Add,
    Entry,
    Fun,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    add,
    mul,
    power,
    transform,
    walk,
)
from symres.language.program import Definition, Program
from symres.verify.witness import Claim


@dataclass(frozen=True)
class Candidate:
    """A faulty gradient with the name and the description of its fault.

    With ``scaled`` the claim may differ from the true gradient by any multiple of (candidate − true); ``describe`` says
    what a multiple means.
    """

    kind: str
    explanation: str
    backward: Backward
    gradient: Definition
    scaled: bool = False
    describe: Callable[[str], tuple[str, str]] | None = None


def candidates(claim: Claim, backward: Backward) -> Iterator[Candidate]:
    """All candidates, the simplest first."""
    for family in FAMILIES:
        yield from family(claim, backward)


Family = Callable[[Claim, Backward], Iterator[Candidate]]
FAMILIES: list[Family] = []


def family(function: Family) -> Family:
    """Register a family of faults; they are tried in the order of the file."""
    FAMILIES.append(function)
    return function


def _variant(claim: Claim, backward: Backward, kind: str, explanation: str, body: Term) -> Candidate:
    return Candidate(kind, explanation, backward, replace(claim.derived, body=body))


@family
def upstream_dropped(claim: Claim, backward: Backward) -> Iterator[Candidate]:
    """The upstream gradient is replaced by ones, or handed through as it is."""
    tensors = set(claim.upstream.values())
    adjoints = {t: replace(d, body=_replace(d.body, tensors, ONE)) for t, d in backward.adjoints.items()}
    ones = replace(backward, adjoints=adjoints)
    gradient = ones.adjoints[claim.program.inputs[claim.wrt]]
    yield Candidate(
        "upstream-dropped",
        "the upstream gradient is missing: the local derivative is not multiplied by it",
        ones,
        gradient,
    )
    for tensor in claim.upstream.values():
        if tensor.dims == claim.derived.tensor.dims:
            yield _variant(
                claim,
                backward,
                "identity",
                "the upstream gradient is handed through unchanged: the layer's own derivative is missing",
                Entry(tensor, claim.derived.vars),
            )


def _replace(term: Term, tensors: set[Tensor], value: Term) -> Term:
    return transform(term, lambda node: value if isinstance(node, Entry) and node.tensor in tensors else None)


@family
def transposed(claim: Claim, backward: Backward) -> Iterator[Candidate]:
    """Two axes of equal length are exchanged."""
    definition = claim.derived
    for first in range(len(definition.vars)):
        for second in range(first + 1, len(definition.vars)):
            if definition.tensor.dims[first] == definition.tensor.dims[second]:
                indices = list(definition.vars)
                indices[first], indices[second] = indices[second], indices[first]
                text = f"axes {first} and {second} are exchanged: the gradient is transposed"
                yield _variant(claim, backward, "transposed", text, definition.at(indices))


@family
def other_forwards(claim: Claim, backward: Backward) -> Iterator[Candidate]:
    """The right gradient, of a forward function that differs by one convention."""
    for kind, text, rule in _CONVENTIONS:
        changed = rewritten(claim.program, rule)
        if changed is None:
            continue
        other = reverse(changed, [claim.wrt], claim.upstream)
        tensor = changed.inputs[claim.wrt]
        if tensor in other.adjoints:
            yield Candidate(kind, text, other, other.adjoints[tensor])


@family
def broken_edges(claim: Claim, backward: Backward) -> Iterator[Candidate]:
    """One path of the chain rule is missing, doubled, of the wrong sign or wrongly scaled."""
    named = name_sums(claim.program)
    whole = reverse(named, [claim.wrt], claim.upstream)
    wrt = named.inputs[claim.wrt]
    edges = list(_edges(whole))
    for edge in edges:
        cut = reverse(named, [claim.wrt], claim.upstream, cut={edge})
        if wrt in cut.adjoints:
            kind, text = _describe_edge(named, whole, edge, wrt)
            yield Candidate(
                kind,
                text,
                cut,
                cut.adjoints[wrt],
                scaled=True,
                describe=partial(_scaled, kind, text),
            )
    statistics = [
        tensor for tensor, definition in named.definitions.items() if role(definition) in ("mean", "variance")
    ]
    both = {edge for edge in edges if edge[1] in statistics}
    if len(both) > 1:
        cut = reverse(named, [claim.wrt], claim.upstream, cut=both)
        if wrt in cut.adjoints:
            yield Candidate(
                "statistics-constant",
                "the statistics are treated as constants: the paths through the mean and the variance are both missing "
                "(this is the formula of evaluation mode)",
                cut,
                cut.adjoints[wrt],
            )


def _edges(whole: Backward) -> Iterator[Edge]:
    for target, parts in whole.paths.items():
        for place, (source, _) in enumerate(parts):
            yield source, target, sum(other == source for other, _ in parts[:place])


def _describe_edge(program: Program, whole: Backward, edge: Edge, wrt: Tensor) -> tuple[str, str]:
    source, target, _ = edge
    if target == wrt:
        definition = program.definitions.get(source) if source is not None else None
        if _is_skip(whole, edge):
            return "skip-missing", f"the residual branch: what flows straight into {wrt.name} is missing"
        kind = role(definition) if definition is not None else "value"
        if kind in ("mean", "variance"):
            return f"{kind}-path-missing", f"the path through the {kind} `{_name(source)}` is missing"
        return "path-missing", f"the path through `{_name(source)}` is missing"
    kind = role(program.definitions[target]) if target in program.definitions else "value"
    if kind in ("mean", "variance", "scale"):
        word = {"scale": "variance"}.get(kind, kind)
        return (
            f"{word}-path-missing",
            f"the path through the {word} is missing: `{target.name}` is treated as a constant",
        )
    return "path-missing", f"the path through `{target.name}` is missing"


def _name(tensor: Tensor | None) -> str:
    return tensor.name if tensor is not None else "the output"


def _is_skip(whole: Backward, edge: Edge) -> bool:
    """Whether the edge carries its upstream gradient unchanged, or masked: an identity path."""
    source, target, count = edge
    own = [part for place, part in whole.paths[target] if place == source][count]
    nodes = list(walk(own))
    return len(whole.paths[target]) > 1 and not any(isinstance(node, (Sum, Pow)) for node in nodes) and _plain(own)


def _plain(term: Term) -> bool:
    """An entry, or a product of entries and masks: nothing but the gradient that arrives."""
    factors_ = term.args if isinstance(term, Mul) else (term,)
    entries = [part for part in factors_ if isinstance(part, Entry)]
    return len(entries) == 1 and all(
        part in entries or isinstance(part, Fun) and part.name == "step" for part in factors_
    )


def _scaled(kind: str, text: str, ratio: str) -> tuple[str, str]:
    path = text.removesuffix(" is missing").split(" is missing:")[0]
    base = kind.removesuffix("-missing")
    if ratio == "-1":
        return f"{base}-sign", f"{path} has the wrong sign"
    if ratio == "2":
        return f"{base}-doubled", f"{path} is counted twice"
    return f"{base}-scale", f"{path} is multiplied by {ratio}"


@family
def factors(claim: Claim, backward: Backward) -> Iterator[Candidate]:
    """A parameter is forgotten, or taken out of the means."""
    wrt = claim.program.inputs[claim.wrt]
    for name, tensor in claim.program.inputs.items():
        if tensor == wrt or tensor.kind != "real":
            continue
        adjoints = {t: replace(d, body=_replace(d.body, {tensor}, ONE)) for t, d in backward.adjoints.items()}
        without = replace(backward, adjoints=adjoints)
        gradient = without.adjoints[wrt]
        yield Candidate(f"{name}-forgotten", f"the factor `{name}` is forgotten", without, gradient)
        for indices in _fitting(tensor, gradient):
            outside = replace(gradient, body=mul(Entry(tensor, indices), gradient.body))
            yield Candidate(
                f"{name}-outside",
                f"`{name}` stands outside the means; it belongs inside, since it varies along the normalised axis",
                without,
                outside,
            )


def _fitting(tensor: Tensor, gradient: Definition) -> Iterator[tuple[Term, ...]]:
    """The indices at which a broadcast factor may stand: consecutive axes of the gradient with its dimensions."""
    count = len(tensor.dims)
    for first in range(len(gradient.vars) - count + 1 if count else 0):
        if gradient.tensor.dims[first : first + count] == tensor.dims:
            yield gradient.vars[first : first + count]


@family
def masks(claim: Claim, backward: Backward) -> Iterator[Candidate]:
    """A mask is missing, or is that of another tensor."""
    terms = [definition.body for definition in backward.adjoints.values()]
    found = list(
        dict.fromkeys(node for term in terms for node in walk(term) if isinstance(node, Fun) and node.name == "step")
    )
    for mask in found[:12]:
        for other in (ONE, *(m for m in found if m is not mask and m.free == mask.free)):
            adjoints = {
                t: replace(d, body=transform(d.body, lambda node, m=mask, o=other: o if node is m else None))  # type: ignore[misc]
                for t, d in backward.adjoints.items()
            }
            masked = replace(backward, adjoints=adjoints)
            text = "a mask is missing" if other is ONE else "a mask is that of another tensor"
            kind = "mask-missing" if other is ONE else "mask-of-another-tensor"
            yield Candidate(
                kind, f"{text}: the one of {mask.args[0]}", masked, masked.adjoints[claim.program.inputs[claim.wrt]]
            )


def rewritten(program: Program, rule: Callable[[Term], Term | None]) -> Program | None:
    definitions = {
        tensor: replace(definition, body=transform(definition.body, rule))
        for tensor, definition in program.definitions.items()
    }
    outputs = {name: replace(value, body=transform(value.body, rule)) for name, value in program.outputs.items()}
    same = all(definitions[t].body is d.body for t, d in program.definitions.items()) and all(
        outputs[n].body is v.body for n, v in program.outputs.items()
    )
    return None if same else replace(program, definitions=definitions, outputs=outputs)


def _biased(node: Term) -> Term | None:
    """1/(N − 1) becomes 1/N."""
    if isinstance(node, Pow) and node.exponent == -1 and isinstance(node.base, Add) and not node.base.free:
        parts = [part for part in node.base.args if part is not Num(-1)]
        if len(parts) == 1 and isinstance(parts[0], Size):
            return power(parts[0], -1)
    return None


def eps_inside(node: Term) -> Term | None:
    """√v + ε becomes √(v + ε)."""
    if isinstance(node, Add) and len(node.args) == 2:
        roots = [part for part in node.args if isinstance(part, Pow) and part.exponent == Fraction(1, 2)]
        rest = [part for part in node.args if part not in roots]
        if len(roots) == 1 and len(rest) == 1 and _is_small(rest[0]):
            return power(add(roots[0].base, rest[0]), Fraction(1, 2))
    return None


def _eps_outside(node: Term) -> Term | None:
    """√(v + ε) becomes √v + ε."""
    if isinstance(node, Pow) and node.exponent.denominator == 2 and isinstance(node.base, Add):
        small = [part for part in node.base.args if _is_small(part)]
        rest = [part for part in node.base.args if part not in small]
        if len(small) == 1 and rest:
            root = add(power(add(*rest), Fraction(1, 2)), small[0])
            return power(root, 2 * node.exponent)
    return None


def _is_small(term: Term) -> bool:
    if isinstance(term, Num):
        return 0 < term.value < Fraction(1, 100)
    return isinstance(term, Entry) and term.tensor.kind == "positive" and not term.args


_CONVENTIONS: list[tuple[str, str, Callable[[Term], Term | None]]] = [
    ("unbiased-count", "the variance is divided by N − 1 forward but treated as divided by N backward", _biased),
    ("eps-inside", "ε stands outside the root forward, but is treated as if it stood inside", eps_inside),
    ("eps-outside", "ε stands inside the root forward, but is treated as if it stood outside", _eps_outside),
]
