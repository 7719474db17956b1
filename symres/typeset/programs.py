"""Traced functions in print: the named intermediates in order, then the results, with axes and sizes as traced."""

from __future__ import annotations

from collections.abc import Iterator

from symres.kernel.terms import Entry, Tensor
from symres.language.formula import Relation, definition, equation
from symres.language.program import Program
from symres.typeset.notation import Notation
from symres.typeset.printer import WIDTHS, Printer


def relations(program: Program) -> Iterator[Relation]:
    """``name := …`` for each definition and ``name = …`` for each result, entry by entry."""
    for found in program.definitions.values():
        yield definition(found.tensor(*found.vars), found.body)
    for name, value in program.outputs.items():
        result = Tensor(name, tuple(var.dim for var in value.vars))(*value.vars)
        if not isinstance(value.body, Entry) or value.body.tensor.name != name:
            yield equation(result, value.body)


def latex_program(program: Program, *, notation: Notation | None = None, width: float = WIDTHS["one"]) -> str:
    """LaTeX of a traced function for a display: one relation under the other, in lines of ``width`` ems."""
    found = list(relations(program))
    printer = Printer.of(found, program, notation=notation, width=width)
    return (
        f"\\begin{{aligned}}\n{printer.align(found)}\n\\end{{aligned}}" if len(found) > 1 else printer.display(found[0])
    )
