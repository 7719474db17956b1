"""Identity proofs: chains of equalities between named values, each link checked for all sizes.

A side is a NumPy function of the values that the layer names, traced and, on numbers, its own cross-check; or a term::

    about(layer_norm)
        .chain("mean", mean_of_x_hat, 0, reasons=["centred values sum to zero"])
        .document(__name__)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symres.derivation.certificate import certificate
from symres.derivation.claim import call, known_values, named_arrays, spoken
from symres.derivation.document import Check, Derivation, Part
from symres.derivation.heading import Heading, heading
from symres.derivation.indices import Indices
from symres.derivation.ledger import Ledger
from symres.derivation.record import kernel_check, second_judge
from symres.derivation.wording import Words
from symres.kernel.terms import Entry, Term, as_term
from symres.language.certificate import output_definitions
from symres.language.formula import Block, Display, Formula, Text, definition, equation
from symres.language.program import Definition, Program, Value
from symres.numeric.points import points

Function = Callable[..., Any]
Side = Function | Term | int
_TOLERANCE = 1e-10


def about(layer: Function | Program | Iterable[Definition], shapes: str | None = None) -> Identities:
    """Begin a proof about a NumPy function, or about definitions."""
    if isinstance(layer, Program):
        return Identities(layer)
    if callable(layer):
        from symres.trace.run import trace

        return Identities(trace(layer, shapes=shapes), layer)
    program = Program("definitions")
    program.definitions.update({each.tensor: each for each in layer})
    return Identities(program)


class Identities:
    """A proof of equalities in the making.

    Args:
        program: what the named values are.
        function: the NumPy function that was traced.
    """

    def __init__(self, program: Program, function: Function | None = None) -> None:
        self.indices = Indices()
        self.program, self.function = self.indices.program(program), function
        self.outputs = tuple(output_definitions(self.program))
        self.ledger = Ledger(self.indices, (*self.program.definitions.values(), *self.outputs))
        self.words = Words(self.program)
        self.parts: list[Part] = []
        self.opening: list[Block] = []
        self.shown: list[Display] = []
        self.compared: list[tuple[Function, Function | int]] = []
        self.remarks: list[Text] = []
        self.sources: list[Function] = [function] if function else []

    def let(self, words: str, **slots: Formula) -> Identities:
        """A sentence of the statement, before its formulas."""
        self.opening.append(Text(words, slots))
        return self

    def remark(self, words: str, **slots: Formula) -> Identities:
        """A remark in plain words."""
        self.remarks.append(Text(words, slots))
        return self

    def chain(self, name: str, *sides: Side, title: str = "", reasons: Sequence[str]) -> Identities:
        """Prove that all sides are equal, each to the next one, for the reason given; the first and last are the claim.

        Raises:
            RefusedStep: if a link is not proved.
            ValueError: if there is not one reason for each link.
        """
        terms = self._terms(sides)
        steps = []
        links = zip(terms, terms[1:], reasons, strict=False)
        for place, (left, right, reason) in enumerate(links, start=1):
            label = name if len(terms) == 2 else f"{name}-{place}"
            last = place == len(terms) - 1
            steps.append(self.ledger.step(label, (left, right), "identity", Text(reason), key=last))
        if len(steps) != len(reasons) or len(steps) != len(terms) - 1:
            raise ValueError(f"{name} has {len(terms) - 1} links and {len(reasons)} reasons")
        if len(terms) > 2:
            self.ledger.equal(name, terms[0], terms[-1])
        self.parts.append(Part(title, tuple(steps)))
        self.shown.append(Display(self.indices.relation(equation(terms[0], terms[-1]))))
        for side, other in zip(sides, sides[1:], strict=False):
            if callable(side) and not isinstance(other, Term):
                self.compared.append((side, other))
        self.sources += [side for side in sides if callable(side) and side not in self.sources]
        return self

    def _terms(self, sides: Sequence[Side]) -> list[Term]:
        known = known_values(self.program)
        values: list[Value | Term | int] = []
        for side in sides:
            if callable(side):
                program = spoken(side, known, self.indices)
                self.ledger.define(*program.definitions.values())
                (value,) = program.outputs.values()
                values.append(value)
            else:
                values.append(side)
        variables = next((value.vars for value in values if isinstance(value, Value)), ())
        return [value.at(*variables) if isinstance(value, Value) else as_term(value) for value in values]

    # ------------------------------------------------------------ the document

    def compare(self) -> Iterable[Check]:
        """The two sides of every link, run on numbers."""
        if not self.compared:
            return
        sizes: list[Mapping[str, int]] = []
        errors: list[float] = []
        for point in points(self.program):
            sizes.append(point.sizes)
            with np.errstate(divide="ignore", invalid="ignore"):
                values = named_arrays(self.program, point.arrays, point.functions)
                pairs = [(call(one, values), call(two, values) if callable(two) else two) for one, two in self.compared]
            for found, wanted in pairs:
                # Where a condition of the theorem fails, a division by zero, a side has no value.
                if np.all(np.isfinite(found)) and np.all(np.isfinite(wanted)):
                    scale = max(1.0, float(np.max(np.abs(wanted))))
                    errors.append(float(np.max(np.abs(found - wanted))) / scale)
        worst = max(errors, default=None)
        passed = worst is not None and worst <= _TOLERANCE
        yield Check("NumPy", "both sides as they are written", passed, tuple(sizes), worst)

    def document(self, module: str | Heading) -> Derivation:
        """The finished derivation, checked by the second judge and numerically."""
        head = module if isinstance(module, Heading) else heading(module)
        own = [each for tensor, each in self.ledger.definitions.items() if tensor not in self.program.definitions]
        parts = [*self.program.definitions.values(), *own]
        document = certificate(head.id, head.kind, head.title, parts, self.ledger.claims)
        record = (kernel_check(len(self.ledger.claims)), second_judge(document), *self.compare())
        opening = self.opening or [self.words.scope()]
        named = (*self.program.definitions.values(), *self.outputs)
        return Derivation(
            id=head.id,
            title=head.title,
            subject=head.subject,
            kind=head.kind,
            verdict=head.verdict,
            statement=(*opening, *self.shown),
            assumptions=self.words.assumptions(),
            definitions=tuple(definition(Entry(d.tensor, d.vars), d.body) for d in named),
            parts=tuple(self.parts),
            remarks=(*head.remarks, *self.remarks),
            sources=head.sources,
            record=record,
            listing="\n\n".join(inspect.getsource(each).rstrip() for each in self.sources) + "\n"
            if self.sources
            else "",
            program=self.program,
            certificate=document,
        )
