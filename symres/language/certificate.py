"""Certificates: what a derivation claims, as JSON that the second judge reads without any code of ours.

The format is described in ``symres/judge/README.md``. A certificate holds the definitions that its claims need, in
order, and the claims; sizes, inputs and unknown functions are collected from the terms.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from symres import __version__
from symres.errors import CertificateError
from symres.kernel.terms import Apply, Binder, Entry, Fun, Lam, Size, Tensor, Term, Var, walk
from symres.language.functions import FUNCTIONS, split_name
from symres.language.json_terms import to_json, variables_to_json
from symres.language.program import Definition, Program


@dataclass(frozen=True)
class Recurrence:
    """``tensor[0, …] = base`` and ``tensor[i, …] = step`` for i >= 1, i the first of ``vars``.

    ``step`` may read entries of the tensor itself at a smaller first index, as ``tensor[i - 1, …]``.
    """

    tensor: Tensor
    vars: tuple[Var, ...]
    base: Term
    step: Term


@dataclass(frozen=True)
class EqualClaim:
    """``left = right`` for all values of the index variables ``vars``, all sizes and all inputs."""

    label: str
    vars: tuple[Var, ...]
    left: Term
    right: Term


@dataclass(frozen=True)
class GradientClaim:
    """``gradient`` is the gradient with respect to ``wrt`` of the sum over the outputs of upstream · output.

    Outputs are names of definitions, or of outputs of the program; ``vars`` are the indices of ``wrt``.
    """

    label: str
    outputs: tuple[str, ...]
    upstream: tuple[str, ...]
    wrt: str
    vars: tuple[Var, ...]
    gradient: Term


Claim = EqualClaim | GradientClaim
Part = Definition | Recurrence


def certificate(
    id: str,
    kind: str,
    title: str,
    parts: Program | Iterable[Program | Part],
    claims: Iterable[Claim],
    also: Iterable[Tensor] = (),
) -> dict[str, Any]:
    """The certificate of some claims about a program, or about definitions in order.

    Args:
        id: of the derivation.
        kind: of the derivation: gradient, identity, induction, …
        title: of the derivation.
        parts: where the names come from. The outputs of a program become definitions. Those that no claim needs are
            left out.
        claims: what is claimed.
        also: tensors to declare beside those that occur, such as the upstream gradient of an output that plays no part.

    Raises:
        CertificateError: if a name has two meanings, or a term has free indices other than its own.
    """
    defined, claims = _defined(parts), tuple(claims)
    needed = _needed(defined, claims)
    definitions = [part for name, part in defined.items() if name in needed]
    return _document(id, kind, title, definitions, claims, also)


def definitions_document(parts: Program | Iterable[Program | Part], also: Iterable[Tensor] = ()) -> dict[str, Any]:
    """All definitions of a program, without a claim: what :class:`symres.judge.Values` evaluates.

    Args:
        parts: the program, or definitions in order.
        also: tensors to declare beside those that the definitions read, such as upstream gradients.

    Raises:
        CertificateError: if a name has two meanings, or a term has free indices other than its own.
    """
    defined = _defined(parts)
    return _document("definitions", "definitions", "", list(defined.values()), (), also)


def content_hash(document: Mapping[str, Any]) -> str:
    """SHA-256 of the JSON with sorted keys, without blanks, in ASCII; an entry ``hash`` does not count."""
    rest = {key: value for key, value in document.items() if key != "hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def output_definitions(program: Program) -> Iterator[Definition]:
    """The outputs of a program as definitions under their own names, except those that are definitions already.

    Raises:
        CertificateError: if an output has the name of an input, or of a definition that is something else.
    """
    by_name = {tensor.name: definition for tensor, definition in program.definitions.items()}
    for name, value in program.outputs.items():
        same = by_name.get(name)
        if same is not None and value.body in (same.tensor(*value.vars), same.at(value.vars)):
            continue
        if same is not None or name in program.inputs:
            raise CertificateError(f"the output {name} has the name of something else in {program.name}")
        yield Definition(Tensor(name, tuple(var.dim for var in value.vars)), value.axes, value.vars, value.body)


def _document(
    id: str, kind: str, title: str, definitions: list[Part], claims: tuple[Claim, ...], also: Iterable[Tensor] = ()
) -> dict[str, Any]:
    collected = _Collected(definitions, claims, also)
    document: dict[str, Any] = {
        "format": "symres-certificate",
        "version": 1,
        "symres": __version__,
        "id": id,
        "kind": kind,
        "title": title,
        "sizes": sorted(collected.sizes),
        "tensors": {name: _tensor(tensor) for name, tensor in sorted(collected.tensors.items())},
        "functions": dict(sorted(collected.functions.items())),
        "definitions": [_definition(part) for part in definitions],
        "claims": [_claim(claim) for claim in claims],
    }
    return {**document, "hash": content_hash(document)}


def _defined(parts: Program | Iterable[Program | Part]) -> dict[str, Part]:
    found: dict[str, Part] = {}
    for part in (parts,) if isinstance(parts, Program) else parts:
        several = (*part.definitions.values(), *output_definitions(part)) if isinstance(part, Program) else (part,)
        for each in several:
            if each.tensor.name in found:
                raise CertificateError(f"{each.tensor.name} is defined twice")
            found[each.tensor.name] = each
    return found


def _terms(item: Part | Claim) -> tuple[Term, ...]:
    match item:
        case Definition():
            return (item.body,)
        case Recurrence():
            return (item.base, item.step)
        case EqualClaim():
            return (item.left, item.right)
        case GradientClaim():
            return (item.gradient,)


def _names(claim: Claim) -> tuple[str, ...]:
    return (*claim.outputs, *claim.upstream, claim.wrt) if isinstance(claim, GradientClaim) else ()


def _needed(defined: Mapping[str, Part], claims: Iterable[Claim]) -> set[str]:
    """The definitions that the claims rest on."""
    waiting = [name for claim in claims for name in _names(claim)]
    terms = [term for claim in claims for term in _terms(claim)]
    needed: set[str] = set()
    while waiting or terms:
        for term in terms:
            waiting.extend(node.tensor.name for node in walk(term) if isinstance(node, Entry))
        new = {name for name in waiting if name in defined} - needed
        needed |= new
        waiting, terms = [], [term for name in new for term in _terms(defined[name])]
    return needed


class _Collected:
    """Sizes, inputs and unknown functions that occur in definitions and claims.

    Raises:
        CertificateError: if a claim names what occurs nowhere.
    """

    def __init__(self, definitions: Iterable[Part], claims: Iterable[Claim], also: Iterable[Tensor]) -> None:
        self.sizes: set[str] = set()
        self.tensors: dict[str, Tensor] = {}
        self.functions: dict[str, dict[str, Any]] = {}
        self._defined = {part.tensor.name for part in definitions}
        self._seen: set[Term] = set()
        for item in (*definitions, *claims):
            for term in (*_terms(item), *(var.dim for var in item.vars)):
                self.look(term)
        for tensor in also:
            self.tensor(tensor)
        for claim in claims:
            for name in _names(claim):
                if name not in self.tensors and name not in self._defined:
                    raise CertificateError(f"{name}, which {claim.label!r} speaks of, occurs in no term")

    def look(self, term: Term) -> None:
        """Collect from a term and from the ranges of its variables."""
        for node in walk(term):
            if node in self._seen:
                continue
            self._seen.add(node)
            if isinstance(node, Size):
                self.sizes.add(node.name)
            elif isinstance(node, Entry):
                self.tensor(node.tensor)
            elif isinstance(node, Binder):
                self.look(node.var.dim)
            elif isinstance(node, Lam):
                for var in node.vars:
                    self.look(var.dim)
            elif isinstance(node, Apply):
                axes = [[to_json(var.dim) for var in argument.vars] for argument in node.arguments]
                self.function(node.name, {"out": [to_json(dim) for dim in node.dims], "args": axes})
                for dim in node.dims:
                    self.look(dim)
            elif isinstance(node, Fun) and node.name not in FUNCTIONS:
                self.function(split_name(node.name)[0], {"elementwise": len(node.args)})

    def tensor(self, tensor: Tensor) -> None:
        """Collect an input; a definition is none."""
        if tensor.name in self._defined:
            return
        if self.tensors.setdefault(tensor.name, tensor) != tensor:
            raise CertificateError(f"two different tensors are named {tensor.name}")
        for dim in (*tensor.dims, *(() if tensor.bound is None else (tensor.bound,))):
            self.look(dim)

    def function(self, name: str, described: dict[str, Any]) -> None:
        """Collect an unknown function."""
        if self.functions.setdefault(name, described) != described:
            raise CertificateError(f"the function {name} is used with different numbers of entries")


def _tensor(tensor: Tensor) -> dict[str, Any]:
    bound = None if tensor.bound is None else to_json(tensor.bound)
    return {"dims": [to_json(dim) for dim in tensor.dims], "kind": tensor.kind, "bound": bound}


def _definition(part: Part) -> dict[str, Any]:
    named: dict[str, Any] = {"name": part.tensor.name, "vars": variables_to_json(part.vars)}
    if isinstance(part, Definition):
        return {**named, "body": to_json(part.body, part.vars)}
    # the base may not read the first variable, but the names of the others have to be the same in both
    base, step = to_json(part.base, part.vars), to_json(part.step, part.vars)
    return {"recurrence": {**named, "base": base, "step": step}}


def _claim(claim: Claim) -> dict[str, Any]:
    named: dict[str, Any] = {"label": claim.label, "vars": variables_to_json(claim.vars)}
    if isinstance(claim, EqualClaim):
        sides = {"left": to_json(claim.left, claim.vars), "right": to_json(claim.right, claim.vars)}
        return {"kind": "equal", **named, **sides}
    return {
        "kind": "gradient",
        **named,
        "outputs": list(claim.outputs),
        "upstream": list(claim.upstream),
        "wrt": claim.wrt,
        "gradient": to_json(claim.gradient, claim.vars),
    }
