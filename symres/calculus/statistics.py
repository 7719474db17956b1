"""Names for the statistics that the author left without one: means, variances, maxima and roots in longer expressions.

A statistic is a reduction, or a root, that is broadcast where it stands: it depends on fewer indices than the value it
enters. Named mu, var, rstd, …, it gets an adjoint of its own, and the gradient reads as people write it.
"""

from __future__ import annotations

from dataclasses import replace

from symres.kernel.normal import normal_form
from symres.kernel.terms import Add, Binder, Entry, Lam, Maximum, Mul, Pow, Size, Sum, Tensor, Term, Var, mul, walk
from symres.language.program import Definition, Program


def name_statistics(program: Program) -> Program:
    """The same program with its unnamed statistics as definitions, equal ones under one name."""
    naming = _Naming(program)
    for tensor, definition in program.definitions.items():
        naming.definitions[tensor] = replace(definition, body=naming.visit(definition.body, frozenset(definition.vars)))
    outputs = {
        name: replace(value, body=naming.visit(value.body, frozenset(value.vars)))
        for name, value in program.outputs.items()
    }
    return replace(program, definitions=naming.definitions, outputs=outputs)


class _Naming:
    def __init__(self, program: Program) -> None:
        self.definitions: dict[Tensor, Definition] = {}
        self.taken = {*program.inputs, *program.outputs, *(tensor.name for tensor in program.definitions)}
        self.known: dict[str, Tensor] = {}

    def visit(self, term: Term, scope: frozenset[Var]) -> Term:
        """The term with the statistics in it named; ``scope`` are the indices in force."""
        if isinstance(term, Lam):
            return term
        mean = apart(term)
        if mean is not None:
            return mul(*(self.visit(part, scope) for part in mean))
        rebuilt = self.inside(term, scope, whole=bool(name_hint(term)))
        hint = name_hint(rebuilt)
        return self.name(rebuilt, hint) if hint and rebuilt.free < scope else rebuilt

    def inside(self, term: Term, scope: frozenset[Var], *, whole: bool) -> Term:
        """The term with what is in it visited; the sum that makes a statistic ``whole`` is not one by itself."""
        inner = scope | {term.var} if isinstance(term, Binder) else scope
        children = tuple(
            self.inside(child, inner, whole=True) if whole and isinstance(child, Sum) else self.visit(child, inner)
            for child in term.children
        )
        return term.rebuild(children) if children else term

    def name(self, term: Term, hint: str) -> Term:
        """An entry of the definition of a statistic."""
        variables = tuple(dict.fromkeys(node for node in walk(term) if isinstance(node, Var) and node in term.free))
        key = normal_form(term).key({var: f"@{place}" for place, var in enumerate(variables)})
        dims = tuple(var.dim for var in variables)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = Tensor(self.unique(hint), dims)
            fresh = tuple(var.fresh() for var in variables)
            body = Definition(found, (), variables, term).at(fresh)
            self.definitions[found] = Definition(found, tuple((dim,) for dim in dims), fresh, body)
        return Entry(found, variables)

    def unique(self, hint: str) -> str:
        """The name, or the name and a number."""
        name, number = hint, 1
        while name in self.taken:
            number += 1
            name = f"{hint}_{number}"
        self.taken.add(name)
        return name


def apart(term: Term) -> list[Term] | None:
    """The factors of a product with the one mean in it as one factor; None where there is nothing to take apart."""
    args = term.args if isinstance(term, Mul) else ()
    sums = [arg for arg in args if isinstance(arg, Sum)]
    sizes = [arg for arg in args if _is_size(arg)]
    if len(sums) != 1 or len(args) == len(sizes) + 1:
        return None
    body: Term = sums[0]
    dims: list[Term] = []
    while isinstance(body, Sum):
        dims.append(body.var.dim)
        body = body.body
    if normal_form(mul(*sizes, *dims)).constant() != 1:
        return None
    rest = [arg for arg in args if arg is not sums[0] and not _is_size(arg)]
    return [*rest, mul(*sizes, sums[0])]


def name_hint(term: Term) -> str:
    """What the field calls a term of this form; empty for a term that needs no name."""
    if isinstance(term, Pow) and term.exponent.denominator == 2 and isinstance(term.base, (Add, Entry)):
        return "rstd" if term.exponent < 0 else "std"
    if isinstance(term, Maximum):
        return "m"
    if isinstance(term, Sum):
        return "z" if isinstance(_summand(term), Mul) else "total"
    sums = [arg for arg in term.args if isinstance(arg, Sum)] if isinstance(term, Mul) else []
    if len(sums) != 1 or not all(arg is sums[0] or _is_size(arg) for arg in term.children):
        return ""
    body = _summand(sums[0])
    if isinstance(body, Pow) and body.exponent == 2 and isinstance(body.base, Entry):
        return "m2"
    return "var" if _is_deviation(body) else "mu" if isinstance(body, Entry) else "mean"


def _summand(term: Term) -> Term:
    while isinstance(term, Sum):
        term = term.body
    return term


def _is_size(term: Term) -> bool:
    """Whether a factor depends on sizes alone."""
    return not any(isinstance(node, (Entry, Var)) for node in walk(term)) and any(
        isinstance(n, Size) for n in walk(term)
    )


def _is_deviation(term: Term) -> bool:
    """Whether a term is the square of a difference."""
    if isinstance(term, Pow):
        return term.exponent == 2 and isinstance(term.base, Add)
    return (
        isinstance(term, Mul) and len(term.args) == 2 and term.args[0] is term.args[1] and isinstance(term.args[0], Add)
    )
