"""Maxima over indices as definitions of their own, so that the adjoint of each is collected before it is passed on."""

from __future__ import annotations

from dataclasses import replace

from symres.kernel.terms import Entry, Maximum, Tensor, Term, transform, walk
from symres.language.program import Definition, Program


def name_maxima(program: Program) -> Program:
    """The same program with every maximum over indices named; maxima of maxima are one maximum over several indices."""
    definitions: dict[Tensor, Definition] = {}

    def joint(node: Maximum) -> Maximum:
        """A maximum of named maxima as one over several indices, which is attained at one entry."""
        inner = definitions.get(node.body.tensor) if isinstance(node.body, Entry) else None
        if inner is None or not isinstance(inner.body, Maximum) or not isinstance(node.body, Entry):
            return node
        found: Maximum = Maximum(node.var, inner.at(node.body.args))
        return found

    def hoist(term: Term) -> Term:
        def rule(node: Term) -> Term | None:
            if not isinstance(node, Maximum):
                return None
            node = joint(node)
            variables = tuple(sorted(node.free, key=lambda var: var.uid))
            tensor = Tensor(f"max_{len(definitions) + 1}", tuple(var.dim for var in variables))
            definitions[tensor] = Definition(tensor, tuple((var.dim,) for var in variables), variables, node)
            return Entry(tensor, variables)

        return transform(term, rule)

    for tensor, definition in program.definitions.items():
        if isinstance(definition.body, Maximum):
            inner = hoist(definition.body.body)
            definitions[tensor] = replace(definition, body=joint(Maximum(definition.body.var, inner)))
        else:
            definitions[tensor] = replace(definition, body=hoist(definition.body))
    outputs = {name: replace(value, body=hoist(value.body)) for name, value in program.outputs.items()}
    bodies = [*(definition.body for definition in definitions.values()), *(value.body for value in outputs.values())]
    used = {node.tensor for body in bodies for node in walk(body) if isinstance(node, Entry)}
    kept = {tensor: one for tensor, one in definitions.items() if tensor in used or tensor in program.definitions}
    return replace(program, definitions=kept, outputs=outputs)
