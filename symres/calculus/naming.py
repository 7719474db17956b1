"""Names for the parts of a program that the author left without one: sums become definitions of their own."""

from __future__ import annotations

from dataclasses import replace

from symres.kernel.terms import Entry, Lam, Maximum, Mul, Num, Pow, Size, Sum, Tensor, Term
from symres.language.program import Definition, Program


def name_sums(program: Program, limit: int = 60) -> Program:
    """The same program with every sum or mean inside a longer expression as a definition of its own.

    At most ``limit`` names are given.
    """
    definitions: dict[Tensor, Definition] = {}
    given = [0]

    def named(term: Term, whole: bool = False) -> Term:
        kind = None if whole else _mean(term)
        # A mean is named as a whole: the sum inside it is not named once more.
        within = _mean(term) == "mean"
        children = tuple(named(child, within and isinstance(child, Sum)) for child in term.children)
        same = all(new is old for new, old in zip(children, term.children, strict=True))
        inner = term if same else term.rebuild(children)
        if kind is None or given[0] >= limit or isinstance(term, Lam):
            return inner
        variables = tuple(sorted(inner.free, key=lambda var: var.uid))
        given[0] += 1
        tensor = Tensor(f"{kind}_{given[0]}", tuple(var.dim for var in variables))
        definitions[tensor] = Definition(tensor, tuple((var.dim,) for var in variables), variables, inner)
        return Entry(tensor, variables)

    for tensor, definition in program.definitions.items():
        body = named(definition.body, whole=True)
        definitions[tensor] = replace(definition, body=body)
    outputs = {name: replace(value, body=named(value.body)) for name, value in program.outputs.items()}
    return replace(program, definitions=definitions, outputs=outputs)


def _mean(node: Term) -> str | None:
    """``mean`` for a sum divided by a size, ``sum`` for a bare sum or maximum, None for anything else."""
    if isinstance(node, Mul) and sum(isinstance(arg, Sum) for arg in node.args) == 1:
        rest = [arg for arg in node.args if not isinstance(arg, Sum)]
        if all(isinstance(part, (Num, Size)) or isinstance(part, Pow) and not part.free for part in rest):
            return "mean"
    if isinstance(node, (Sum, Maximum)):
        return "sum"
    return None


def role(definition: Definition) -> str:
    """What a definition is in the words of the field: ``mean``, ``variance``, ``scale`` (a root or its inverse), ``step``."""
    body = definition.body
    if any(isinstance(node, Pow) and node.exponent.denominator == 2 for node in _outside_sums(body)):
        return "scale"
    sums = [node for node in _outside_sums(body) if isinstance(node, Sum)]
    if sums:
        return "variance" if any(_square(node.body) for node in sums) else "mean"
    return "value"


def _outside_sums(term: Term) -> list[Term]:
    found, stack = [], [term]
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, Sum):
            stack.extend(node.children)
    return found


def _square(term: Term) -> bool:
    while isinstance(term, Sum):
        term = term.body
    if isinstance(term, Pow):
        return term.exponent == 2
    return isinstance(term, Mul) and len(term.args) == 2 and term.args[0] is term.args[1]
