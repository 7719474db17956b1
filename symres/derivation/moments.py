"""Moments of statistics of a batch: expectations of polynomials in independent, identically distributed entries.

A monomial is a sum over indices of products of entries. For each partition of these indices into classes of equal ones,
entries of different classes are independent, and a class of k equal entries gives the k-th central moment; there are
B (B - 1) … (B - c + 1) ways to choose c different indices. So an expectation is a sum over partitions, exact for every
batch size B. It is compared with the closed form by the kernel, and with all outcomes of a small distribution one by one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import singledispatch
from itertools import product
from math import prod

import numpy as np

from symres.derivation.certificate import certificate
from symres.derivation.document import Check, Derivation, Part
from symres.derivation.heading import Heading, heading
from symres.derivation.indices import Indices
from symres.derivation.ledger import Ledger
from symres.derivation.record import kernel_check, second_judge
from symres.errors import UsageError
from symres.kernel.decide import equal
from symres.kernel.normal import normal_form, poly_term
from symres.kernel.terms import (
    ONE,
    ZERO,
    Add,
    Entry,
    Mul,
    Num,
    Pow,
    Size,
    Sum,
    Tensor,
    Term,
    Var,
    add,
    mul,
    transform,
    walk,
)
from symres.language.formula import Display, Text, definition, equation
from symres.language.program import Definition, unfold
from symres.trace.run import trace

Function = Callable[..., object]
B = Size("B")
MEAN = Tensor("m")
MOMENTS = {0: ONE, 1: ZERO} | {k: Tensor(f"mu_{k}")() for k in range(2, 9)}
# Values with their probabilities, with different central moments: mean 1, mu_2 = 3/2, mu_3 = 3/2, mu_4 = 9/2.
DISTRIBUTION = {Fraction(0): Fraction(1, 2), Fraction(1): Fraction(1, 4), Fraction(3): Fraction(1, 4)}
_LARGEST = 4

# A coefficient, the indices summed over, and for each centred entry its index.
Monomial = tuple[Term, tuple[Var, ...], tuple[Var, ...]]


def partitions(items: Sequence[Var]) -> Iterator[list[list[Var]]]:
    """All partitions of some indices into classes."""
    if not items:
        yield []
        return
    first, *rest = items
    for partition in partitions(rest):
        yield [[first], *partition]
        for place, group in enumerate(partition):
            yield [*partition[:place], [first, *group], *partition[place + 1 :]]


@singledispatch
def monomials(term: Term) -> list[Monomial]:
    """A polynomial in the entries of x = m + c as monomials in the centred entries c.

    Raises:
        UsageError: if it is no polynomial in them.
    """
    if not isinstance(term, (Num, Size)):
        raise UsageError(f"{term!r} is no polynomial in the entries of a batch")
    return [(term, (), ())]


@monomials.register
def _(term: Entry) -> list[Monomial]:
    (index,) = term.args
    if not isinstance(index, Var):
        raise UsageError(f"{term!r} is no entry at an index that is summed over")
    return [(MEAN(), (), ()), (ONE, (), (index,))]


@monomials.register
def _(term: Add) -> list[Monomial]:
    return [one for child in term.args for one in monomials(child)]


@monomials.register
def _(term: Mul) -> list[Monomial]:
    found: list[Monomial] = [(ONE, (), ())]
    for child in term.args:
        found = [_times(one, _fresh(two)) for one in found for two in monomials(child)]
    return found


@monomials.register
def _(term: Pow) -> list[Monomial]:
    exponent = term.exponent
    if not any(isinstance(node, Entry) for node in walk(term)):
        return [(term, (), ())]
    if exponent.denominator != 1 or exponent < 0:
        raise UsageError(f"{term!r} is no polynomial in the entries of a batch")
    found: list[Monomial] = [(ONE, (), ())]
    for _ in range(int(exponent)):
        found = [_times(one, _fresh(two)) for one in found for two in monomials(term.base)]
    return found


@monomials.register
def _(term: Sum) -> list[Monomial]:
    return [(coefficient, (term.var, *bound), at) for coefficient, bound, at in monomials(term.body)]


def _fresh(one: Monomial) -> Monomial:
    """The monomial with summed indices of its own, so that a factor may occur twice."""
    coefficient, bound, at = one
    new = {var: Var(var.name, var.dim) for var in bound}
    return coefficient, tuple(new.values()), tuple(new.get(var, var) for var in at)


def _times(one: Monomial, two: Monomial) -> Monomial:
    return mul(one[0], two[0]), one[1] + two[1], one[2] + two[2]


def expectation(polynomial: Term) -> Term:
    """The expectation of a polynomial in the entries, in B, the mean m and the central moments mu_2, mu_3, …"""
    collected: dict[Term, list[Term]] = {}
    for coefficient, bound, at in monomials(polynomial):
        for classes in partitions(bound):
            moments = mul(*(MOMENTS[sum(at.count(var) for var in group)] for group in classes))
            choices = [B - k for k in range(len(classes))]
            collected.setdefault(moments, []).append(mul(coefficient, *choices))
    coefficients = {moments: add(*parts) for moments, parts in collected.items() if moments is not ZERO}
    return add(
        *(
            mul(poly_term(normal_form(coefficient)), moments)
            for moments, coefficient in coefficients.items()
            if not equal(coefficient, ZERO)
        )
    )


class Moments:
    """Expectations and variances of statistics of a batch, in the making."""

    def __init__(self) -> None:
        self.indices = Indices()
        self.ledger = Ledger(self.indices)
        self.parts: list[Part] = []
        self.shown: list[Display] = []
        self.statistics: list[Definition] = []
        self.named: list[tuple[Term, Text]] = []
        self.listed: list[Function] = []
        self.errors: list[Fraction] = []

    def expectation(self, name: str, statistic: Function, value: Term, *, reason: str) -> Moments:
        """Prove that the expectation of a NumPy function of x, a polynomial in its entries, is ``value``.

        Raises:
            RefusedStep: if the kernel does not prove it.
            UsageError: if the function is no polynomial in the entries.
        """
        own = self._define("E", name, expectation(self._body(name, statistic)), "expectation")
        return self._show(f"expectation-{name}", own, value, statistic, 1, reason)

    def variance(self, name: str, statistic: Function, value: Term, *, reason: str) -> Moments:
        """The same for the variance of a statistic whose expectation was shown under this name."""
        body = self._body(name, statistic)
        own = self._define("Var", name, expectation(body**2) - Tensor(f"E_{name}")() ** 2, "variance")
        return self._show(f"variance-{name}", own, value, statistic, 2, reason)

    def _body(self, name: str, statistic: Function) -> Term:
        program = trace(statistic, shapes={"x": "B"})
        (value,) = program.outputs.values()
        if statistic not in self.listed:
            self.listed.append(statistic)
            self.statistics.append(Definition(Tensor(name), (), (), unfold(value.body, program.definitions)))
        return self.statistics[self.listed.index(statistic)].body

    def _define(self, sign: str, name: str, body: Term, word: str) -> Term:
        tensor = Tensor(f"{sign}_{name}")
        self.ledger.define(Definition(tensor, (), (), body))
        self.named.append((tensor(), Text(f"the {word} of {{s}}", {"s": Tensor(name)()})))
        return tensor()

    def _show(self, label: str, own: Term, value: Term, statistic: Function, order: int, reason: str) -> Moments:
        words = "the sum over the partitions of the indices"
        derived = next(made.body for tensor, made in self.ledger.definitions.items() if tensor() is own)
        steps = [self.ledger.step(f"{label}-partitions", (own, derived), "partition", Text(words))]
        steps.append(self.ledger.step(label, (own, value), "collect", Text(reason), key=True))
        self.parts.append(Part(label.replace("-", " ").capitalize(), tuple(steps)))
        self.shown.append(Display(equation(own, value)))
        self.errors.append(max(abs(exact - found) for exact, found in self._outcomes(statistic, value, order)))
        return self

    def _outcomes(self, statistic: Function, value: Term, order: int) -> Iterator[tuple[Fraction, Fraction]]:
        """The expectation or variance over all outcomes, exactly, and the closed form, at batch sizes from 2 on."""
        mean = sum(x * p for x, p in DISTRIBUTION.items())
        moments = {f"mu_{k}": sum((x - mean) ** k * p for x, p in DISTRIBUTION.items()) for k in range(2, 9)}
        numbers: dict[Term, Term] = {Tensor(name)(): Num(number) for name, number in {"m": mean, **moments}.items()}
        for size in range(2, _LARGEST + 1):
            outcomes = list(product(DISTRIBUTION, repeat=size))
            weights = [prod(DISTRIBUTION[x] for x in outcome) for outcome in outcomes]
            found = [Fraction(statistic(np.array(outcome, dtype=object))) for outcome in outcomes]  # type: ignore[call-overload]
            first = sum(w * s for w, s in zip(weights, found, strict=True))
            second = sum(w * s * s for w, s in zip(weights, found, strict=True))
            known: dict[Term, Term] = {**numbers, B: Num(size)}
            closed = poly_term(normal_form(transform(value, known.get)))
            if not isinstance(closed, Num):
                raise UsageError(f"{value!r} is not written in B, m and central moments")
            yield (first if order == 1 else second - first**2), closed.value

    def document(self, module: str | Heading) -> Derivation:
        """The finished derivation, checked by the second judge and by enumeration."""
        head = module if isinstance(module, Heading) else heading(module)
        definitions = self.ledger.definitions.values()
        document = certificate(head.id, head.kind, head.title, definitions, self.ledger.claims)
        sizes = tuple({"B": size} for size in range(2, _LARGEST + 1))
        worst = max(self.errors)
        method = "all outcomes of a distribution on three values, in exact fractions"
        return Derivation(
            id=head.id,
            title=head.title,
            subject=head.subject,
            kind=head.kind,
            verdict=head.verdict,
            statement=(Text("For every size {B},", {"B": B}), *self.shown),
            assumptions=(Text("the entries of x are independent and have the same distribution, with finite moments"),),
            notation=(
                (MEAN(), Text("the mean of an entry")),
                *((MOMENTS[k], Text(f"its central moment of order {k}")) for k in (2, 4)),
                *self.named,
            ),
            definitions=tuple(definition(Entry(each.tensor, ()), each.body) for each in self.statistics),
            parts=tuple(self.parts),
            remarks=head.remarks,
            sources=head.sources,
            record=(
                kernel_check(len(self.ledger.claims)),
                second_judge(document),
                Check("enumeration", method, worst == 0, sizes, float(worst)),
            ),
            listing="\n\n".join(inspect.getsource(each).rstrip() for each in self.listed) + "\n",
            certificate=document,
        )
