"""Writing through a view: the contents of a buffer after an assignment, for all sizes.

A view reads ``buffer[t_1(u), …, t_m(u)]`` at its own indices u. After ``view = c`` the buffer at (b_1, …, b_m) is
c(u) where some u gives t(u) = b, and its old contents elsewhere. Where a map is a bare variable the inverse is a
renaming; a constant map gives a bracket; a shifted one a sum over a delta, with a range bracket for the region.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symres.kernel.terms import ONE, ZERO, Fun, Num, Term, Var, add, mul, walk
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


@dataclass(frozen=True)
class Map:
    """``place = term``: a buffer variable, or a combination of several, in terms of the view's variables."""

    place: Term
    dim: Term
    term: Term


def _joined(maps: list[Map], base: Sequence[Var]) -> list[Map]:
    """Neighbouring maps made of one flat index by division and remainder, joined to a map of the flat index."""
    joined: list[Map] = []
    for each in maps:
        last = joined[-1] if joined else None
        if last is not None and _divides(last.term) and _follows(last.place, each.place, base):
            flat = index(add(mul(last.term, each.dim), each.term))
            if not _divides(flat):
                place = index(add(mul(last.place, each.dim), each.place))
                joined[-1] = Map(place, index(mul(last.dim, each.dim)), flat)
                continue
        joined.append(each)
    return joined


def _divides(term: Term) -> bool:
    return any(isinstance(node, Fun) and node.name == "floordiv" for node in walk(term))


def _follows(first: Term, second: Term, base: Sequence[Var]) -> bool:
    """Whether the second variable is the next one in the buffer after those of the first place."""
    last = max(position for position, var in enumerate(base) if var in first.free)
    return last + 1 < len(base) and base[last + 1] is second


def invert(base: Sequence[Var], names: Sequence[Var], index_terms: Sequence[Term]) -> Inverse:
    """Invert the maps ``base = index_terms(names)``."""
    result = Inverse({}, [], [], [], [])
    rest: list[Map] = []
    for var, term in zip(base, index_terms, strict=True):
        if isinstance(term, Var) and term in names and term not in result.reading and same(term.dim, var.dim):
            result.reading[term] = var
        else:
            rest.append(Map(var, var.dim, term))
    rest = _joined([Map(each.place, each.dim, at(each.term, result.reading)) for each in rest], base)
    # Maps that determine their variable come first, so that the others become conditions on it.
    rest.sort(key=lambda each: _shift(each.term, names) is None)
    for number, each in enumerate(rest):
        term = at(each.term, result.reading)
        inside = [name for name in names if name in term.free and name not in result.reading]
        alone = not any(name in other.term.free for other in rest[number + 1 :] for name in inside)
        now = Map(each.place, each.dim, term)
        if not inside:
            result.guards.append(equal_indices(each.place, term))
        elif not (alone and _digits(now, inside, result)):
            _leave(now, inside, alone, result)
    unseen = [name for name in names if name not in result.reading and name not in result.left]
    result.left += unseen
    result.injective &= not unseen
    result.guards = [guard for guard in result.guards if guard is not ONE]
    result.region = [*result.guards, *result.region]
    return result


def _digits(each: Map, inside: list[Var], result: Inverse) -> bool:
    """Solve a map onto the whole range by its digits: ``b = u·K + v`` gives u = b // K and v = b - u·K."""
    coefficients = {name: coefficient(each.term, name) for name in inside}
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
    constant = at(each.term, dict.fromkeys(inside, ZERO))
    if constant is not ZERO or not same(scale, each.dim):
        return False
    remaining = each.place
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


def _leave(each: Map, inside: list[Var], alone: bool, result: Inverse) -> None:
    """A map that is not onto: sum over a delta, and describe the region."""
    shift = _shift(each.term, inside)
    if shift is not None:
        name, unit, start = shift
        offset = index(mul(unit, each.place - start))
        limits = [bracket(">=", offset), bracket(">=", name.dim - 1 - offset)]
        limits = [limit for limit in limits if limit is not ONE]
        if not limits or not alone:
            result.reading[name] = offset
            result.guards += limits
            return
        result.region += limits
        result.deltas.append(equal_indices(each.place, each.term))
        result.left.append(name)
        return
    delta = equal_indices(each.place, each.term)
    result.deltas.append(delta)
    result.left += [name for name in inside if name not in result.left]
    linear = len(inside) == 1 and isinstance(coefficient(each.term, inside[0]), Num)
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
