"""Numerical guards: small constants and rounded decimals in which two codes differ without a wrong term.

``log(p + 1e-12)`` forward, its derivative without the 1e-12 backward: to an exact prover the two differ. They agree once
every small constant is taken to its limit 0, or every long decimal replaced by the closed form it rounds. Such a
mismatch is refuted as what it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from symres.calculus.reverse import reverse
from symres.errors import SymresError
from symres.kernel.terms import ZERO, Entry, Num, Tensor, Term, power, transform, walk
from symres.language.constants import PI
from symres.language.equality import Expanded, proved_equal
from symres.verify.candidates import eps_inside, rewritten
from symres.verify.verdict import Diagnosis
from symres.verify.witness import Claim, seen

Rule = Callable[[Term], Term | None]
_SMALL = Fraction(1, 1000)
_CLOSED: tuple[tuple[str, Term, float], ...] = (
    ("√(2/π)", power(2 / PI(), Fraction(1, 2)), math.sqrt(2 / math.pi)),
    ("1/√(2π)", power(2 * PI(), Fraction(-1, 2)), 1 / math.sqrt(2 * math.pi)),
    ("2/√π", 2 * power(PI(), Fraction(-1, 2)), 2 / math.sqrt(math.pi)),
    ("1/√π", power(PI(), Fraction(-1, 2)), 1 / math.sqrt(math.pi)),
    ("√2", power(2, Fraction(1, 2)), math.sqrt(2)),
    ("1/√2", power(2, Fraction(-1, 2)), 1 / math.sqrt(2)),
    ("π", PI(), math.pi),
)


def guard(claim: Claim) -> Diagnosis | None:
    """The guard or the rounded constant that alone makes the claim differ, or None."""
    for kind, text, rule in _rules(claim):
        try:
            program = rewritten(claim.program, rule) or claim.program
            backward = reverse(program, [claim.wrt], claim.upstream)
            gradient = backward.adjoints[program.inputs[claim.wrt]]
            claimed = replace(claim.claimed, body=transform(claim.claimed.body, rule))
            extra = {t: d for t, d in backward.definitions.items() if t not in backward.program.definitions}
            without = Claim(backward.program, extra, claim.upstream, claim.wrt, claimed, gradient)
            tried, different = seen(without)
            if not tried or different:
                continue
            definitions = Expanded(backward.definitions, upstream=claim.upstream.values())
            if proved_equal(claimed.body, gradient.at(claim.claimed.vars), definitions):
                return Diagnosis(kind, text, guard=kind != "eps-inside")
        except (SymresError, ZeroDivisionError, KeyError):
            continue
    return None


def _rules(claim: Claim) -> Iterator[tuple[str, str, Rule]]:
    numbers = _numbers(claim)
    small = [value for value in numbers if 0 < abs(value) <= _SMALL]
    if small:
        shown = ", ".join(f"{float(value):g}" for value in small)
        text = f"a numerical guard: the two agree once the small constant {shown} is taken to 0; no term is wrong"
        yield "guard", text, lambda node: ZERO if isinstance(node, Num) and node.value in small else None
    rounded: dict[Fraction, Term] = {}
    names: list[str] = []
    for value in numbers:
        for name, term, exact in _CLOSED:
            digits = max(len(str(abs(value.numerator))) - 1, 2)
            if value.denominator > 100 and abs(float(abs(value)) - exact) <= 5 * 10.0 ** -min(digits, 9):
                rounded[value] = term if value > 0 else -term
                names.append(f"{float(value):.10g} for {name}")
                break
    if rounded:
        text = (
            f"a rounded constant: the two agree with the exact value in place of {'; '.join(names)}; no term is wrong"
        )
        yield "rounded-constant", text, lambda node: rounded.get(node.value) if isinstance(node, Num) else None
    scalars = [t for t in claim.program.inputs.values() if t.kind == "positive" and not t.dims and t.name != claim.wrt]
    outside = rewritten(claim.program, eps_inside) is not None
    for tensor in scalars:
        if outside:
            text = f"{tensor.name} stands outside the root forward, but is treated as if it stood inside"
            yield (
                "eps-inside",
                text,
                partial(_without, tensor),
            )
            continue
        text = f"a numerical guard: the two agree at {tensor.name} = 0 only; {tensor.name} is treated differently in the two passes"
        yield "guard", text, partial(_without, tensor)


def _without(tensor: Tensor, node: Term) -> Term | None:
    return ZERO if isinstance(node, Entry) and node.tensor == tensor else None


def _numbers(claim: Claim) -> list[Fraction]:
    terms = [claim.claimed.body, *(d.body for d in claim.program.definitions.values())]
    terms += [value.body for value in claim.program.outputs.values()]
    return sorted({node.value for term in terms for node in walk(term) if isinstance(node, Num)})
