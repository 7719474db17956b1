"""Writing through a view: the contents of a buffer after an assignment, for all sizes.

A view reads ``buffer[t_1(u), …, t_m(u)]`` at its own indices u. After ``view = c`` the buffer at (b_1, …, b_m) is
c(u) where some u gives t(u) = b, and its old contents elsewhere. Where a map is a bare variable the inverse is a
renaming; a constant map gives a bracket; a shifted one a sum over a delta, with a range bracket for the region.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symres.kernel.terms import ONE, ZERO, Num, Term, Var, add, mul
from symres.trace.indexterms import floor_quotient
from symres.trace.polynomials import coefficient, index, same
from symres.trace.signals import NeedsConcreteSizes
from symres.trace.tidy import (
    addends,
    at,
    bracket,
    complement,
    equal_indices,
    factors,
    pinned,
    summed,
    tidy,
)

if TYPE_CHECKING:
    from symres.trace.array import Buffer

_UNROLLED = 4096


@dataclass
class Inverse:
    """Where the entries of a view lie in its buffer.

    ``reading`` gives view variables in terms of buffer variables; ``guards`` brackets that hold on the region;
    ``left`` view variables that must be summed over, with the ``deltas`` that fix them; ``region`` the 0/1 factors
    that tell whether a buffer entry belongs to the view.
    """

    reading: dict[Var, Term]
    guards: list[Term]
    deltas: list[Term]
    left: list[Var]
    region: list[Term]
    injective: bool = True

    def spread(self, content: Term) -> Term:
        """The content at the buffer's indices, 0 outside the region; what falls on one entry is added."""
        body = at(content, self.reading)
        return summed(self.left, mul(*self.guards, *self.deltas, body))


def invert(base: Sequence[Var], names: Sequence[Var], index_terms: Sequence[Term]) -> Inverse:
    """Invert the maps ``base = index_terms(names)``."""
    result = Inverse({}, [], [], [], [])
    rest: list[int] = []
    for k, (var, term) in enumerate(zip(base, index_terms, strict=True)):
        if isinstance(term, Var) and term in names and term not in result.reading and same(term.dim, var.dim):
            result.reading[term] = var
        else:
            rest.append(k)
    # Maps that determine their variable come first, so that the others become conditions on it.
    rest.sort(key=lambda k: _shift(at(index_terms[k], result.reading), names) is None)
    for position, k in enumerate(rest):
        term = at(index_terms[k], result.reading)
        inside = [name for name in names if name in term.free and name not in result.reading]
        alone = not any(name in index_terms[j].free for j in rest[position + 1 :] for name in inside)
        if not inside:
            result.guards.append(equal_indices(base[k], term))
        elif not (alone and _digits(base[k], term, inside, result)):
            _leave(base[k], term, inside, alone, result)
    unseen = [name for name in names if name not in result.reading and name not in result.left]
    result.left += unseen
    result.injective &= not unseen
    result.guards = [guard for guard in result.guards if guard is not ONE]
    result.region = [*result.guards, *result.region]
    return result


def _digits(var: Var, term: Term, inside: list[Var], result: Inverse) -> bool:
    """Solve a map onto the whole range by its digits: ``b = u·K + v`` gives u = b // K and v = b - u·K."""
    coefficients = {name: coefficient(term, name) for name in inside}
    if any(value is None for value in coefficients.values()):
        return False
    scale: Term = ONE
    digits: list[tuple[Var, Term]] = []
    for _ in inside:
        name = next((n for n, value in coefficients.items() if value is not None and same(value, scale)), None)
        if name is None:
            return False
        del coefficients[name]
        digits.append((name, scale))
        scale = index(mul(scale, name.dim))
    constant = at(term, dict.fromkeys(inside, ZERO))
    if constant is not ZERO or not same(scale, var.dim):
        return False
    remaining: Term = var
    for name, weight in reversed(digits):
        digit = floor_quotient(remaining, weight)
        result.reading[name] = digit
        remaining = index(remaining - mul(digit, weight))
    return True


def _shift(term: Term, names: Sequence[Var]) -> tuple[Var, Term, Term] | None:
    """``(u, ±1, start)`` for a term ``start ± u`` with one view variable u."""
    inside = [name for name in names if name in term.free]
    if len(inside) != 1:
        return None
    unit = coefficient(term, inside[0])
    if unit not in (ONE, Num(-1)) or unit is None:
        return None
    return inside[0], unit, at(term, {inside[0]: ZERO})


def _leave(var: Var, term: Term, inside: list[Var], alone: bool, result: Inverse) -> None:
    """A map that is not onto: sum over a delta, and describe the region."""
    shift = _shift(term, inside)
    if shift is not None:
        name, unit, start = shift
        offset = index(mul(unit, var - start))
        limits = [bracket(">=", offset), bracket(">=", name.dim - 1 - offset)]
        limits = [limit for limit in limits if limit is not ONE]
        if not limits or not alone:
            result.reading[name] = offset
            result.guards += limits
            return
        result.region += limits
        result.deltas.append(equal_indices(var, term))
        result.left.append(name)
        return
    delta = equal_indices(var, term)
    result.deltas.append(delta)
    result.left += [name for name in inside if name not in result.left]
    linear = len(inside) == 1 and isinstance(coefficient(term, inside[0]), Num)
    result.injective &= linear and alone
    if result.injective:
        result.region.append(summed(inside, delta))


def write(buffer: Buffer, names: Sequence[Var], index_terms: Sequence[Term], content: Term) -> None:
    """``view = content``: the last of several values for one entry wins, as in NumPy.

    Raises:
        NeedsConcreteSizes: if an entry may be given several values and the sizes are symbols.
    """
    base = buffer.value
    inverse = invert(base.vars, names, index_terms)
    if not inverse.injective:
        _write_one_by_one(buffer, names, index_terms, content)
        return
    increment = _increment(at(base.body, dict(zip(base.vars, index_terms, strict=True))), content)
    if increment is not None:
        buffer.replace(add(base.body, inverse.spread(increment)))
        return
    new = inverse.spread(content)
    buffer.replace(add(outside(base.body, inverse.region, base.vars), new))


def _increment(old: Term, content: Term) -> Term | None:
    """What the content adds to the old contents, where it has the form old + …: such a write is an accumulation."""
    if old is ZERO:
        return None
    rest = list(addends(content))
    for part in addends(old):
        if part not in rest:
            return None
        rest.remove(part)
    return add(*rest)


def _write_one_by_one(buffer: Buffer, names: Sequence[Var], index_terms: Sequence[Term], content: Term) -> None:
    cells: list[dict[Var, Term]] = [{}]
    for name in names:
        if not isinstance(name.dim, Num):
            raise NeedsConcreteSizes("an assignment to repeated indices keeps the last value only")
        cells = [{**cell, name: Num(k)} for cell in cells for k in range(int(name.dim.value))]
    if len(cells) > _UNROLLED:
        raise NeedsConcreteSizes("an assignment to repeated indices of a large array")
    base = buffer.value
    body = base.body
    for cell in cells:
        hit = mul(*(equal_indices(var, at(term, cell)) for var, term in zip(base.vars, index_terms, strict=True)))
        body = add(outside(body, [hit], base.vars), mul(hit, at(content, cell)))
    buffer.replace(body)


def accumulate(buffer: Buffer, names: Sequence[Var], index_terms: Sequence[Term], content: Term) -> None:
    """``np.add.at(view, content)``: every value is added, those for one entry together."""
    base = buffer.value
    buffer.replace(add(base.body, invert(base.vars, names, index_terms).spread(content)))


def outside(body: Term, region: Iterable[Term], base: Sequence[Var]) -> Term:
    """The body where the product of the 0/1 factors is 0, and 0 where it is 1."""
    inside = tidy(mul(*region))
    if inside is ZERO:
        return body
    if inside is ONE:
        return ZERO
    away = complement(inside)
    kept = []
    for part in addends(body):
        known = {var: value for var in base if (value := pinned(part, var)) is not None}
        here = at(inside, known) if known else inside
        if here is ZERO or away in factors(part):
            kept.append(part)
        elif here is not ONE:
            kept.append(mul(away, part))
    return add(*kept)
