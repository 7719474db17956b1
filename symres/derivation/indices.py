"""One set of index variables for a whole derivation, so that a sample is b in every formula and a feature i.

Renaming index variables changes no value: free ones are renamed in whole definitions, bound ones where they are bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symres.kernel.terms import Binder, Lam, Term, Var, substitute
from symres.language.formula import Relation
from symres.language.program import Definition, Program, Value


class Indices:
    """The index variables of a derivation, by range: the first for the first axis of that length, and so on."""

    def __init__(self) -> None:
        self._pools: dict[Term, list[Var]] = {}

    def variable(self, like: Var, taken: Iterable[Var]) -> Var:
        """The first variable with the range of ``like`` that is not taken."""
        pool, used = self._pools.setdefault(like.dim, []), set(taken)
        found = next((var for var in pool if var not in used), None)
        if found is None:
            found = Var(like.name, like.dim)
            pool.append(found)
        return found

    def axes(self, variables: Iterable[Var]) -> tuple[Var, ...]:
        """Variables for the axes of a value, all different."""
        chosen: list[Var] = []
        for var in variables:
            chosen.append(self.variable(var, chosen))
        return tuple(chosen)

    def term(self, term: Term, scope: frozenset[Var] = frozenset()) -> Term:
        """The term with its bound variables renamed; ``scope`` are variables in force around it."""
        if not isinstance(term, (Binder, Lam)):
            children = tuple(self.term(child, scope) for child in term.children)
            return term.rebuild(children) if children else term
        bound = (term.var,) if isinstance(term, Binder) else term.vars
        chosen: list[Var] = []
        for var in bound:
            chosen.append(self.variable(var, scope | term.free | set(chosen)))
        body = substitute(term.body, dict(zip(bound, chosen, strict=True)))
        inner = self.term(body, scope | term.free | set(chosen))
        return type(term)(chosen[0], inner) if isinstance(term, Binder) else Lam(tuple(chosen), inner)

    def definition(self, definition: Definition) -> Definition:
        """The definition at the variables of the derivation."""
        variables = self.axes(definition.vars)
        body = self.term(definition.at(variables), frozenset(variables))
        return replace(definition, vars=variables, body=body)

    def value(self, value: Value) -> Value:
        """The value at the variables of the derivation."""
        variables = self.axes(value.vars)
        return replace(value, vars=variables, body=self.term(value.at(*variables), frozenset(variables)))

    def program(self, program: Program) -> Program:
        """The program at the variables of the derivation."""
        definitions = {tensor: self.definition(each) for tensor, each in program.definitions.items()}
        outputs = {name: self.value(value) for name, value in program.outputs.items()}
        return replace(program, definitions=definitions, outputs=outputs)

    def relation(self, relation: Relation) -> Relation:
        """A relation between terms with its bound variables renamed."""
        scope = frozenset[Var]().union(*(part.free for part in relation.parts if isinstance(part, Term)))
        parts = tuple(self.term(part, scope) if isinstance(part, Term) else part for part in relation.parts)
        return Relation(parts, relation.ops)
