"""A loop in closed form: what its variables hold after all iterations, and at the start of the k-th.

The body was run once with the index k and a placeholder P for what each carried variable held before it. Its result is

* free of P: the value of the last iteration;
* ``P(u) + r(k, u)``: after the loop V(u) + Σ_k r(k, u), where V is the value before the loop;
* ``(1 - h(k, u)) P(u) + w(k, u)`` where the regions h of different iterations are disjoint, w is 0 outside h, and w
  reads P inside the region of its own iteration only: V(u) (1 - Σ_k h) + Σ_k w with V for P.

A variable that reads another one uses the other's value at the start of iteration k. Anything else is a true
recurrence, which has no closed form here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from symres.kernel.terms import ONE, ZERO, Entry, Fun, Iverson, Pow, Tensor, Term, Var, add, mul, transform, walk
from symres.trace.indexterms import complemented, nonnegative
from symres.trace.polynomials import coefficient, index
from symres.trace.signals import NeedsConcreteSizes
from symres.trace.tidy import addends, at, bracket, complement, factors, summed, tidy
from symres.trace.writing import outside


@dataclass
class Carried:
    """A variable of the loop: its placeholder, its value before the loop and after one iteration, at ``vars``."""

    placeholder: Tensor
    vars: tuple[Var, ...]
    before: Term
    step: Term
    name: str = ""


@dataclass
class Closed:
    """The value after the loop, at the variables of the carried one, and its value at the start of iteration k."""

    after: Term
    at_start: Callable[[Term], Term] | None


def solve(carried: Sequence[Carried], k: Var) -> dict[Tensor, Closed]:
    """The closed form of every carried variable.

    Raises:
        NeedsConcreteSizes: if one of them is a recurrence that has none.
    """
    found: dict[Tensor, Closed] = {}
    waiting = list(carried)
    while waiting:
        left = []
        for one in waiting:
            step = with_known(one.step, carried, found, k)
            foreign = _reads(step, {other.placeholder for other in carried if other is not one})
            closed = None if foreign else _close(one, step, k)
            if closed is None:
                left.append(one)
            else:
                found[one.placeholder] = closed
        if len(left) == len(waiting):
            names = ", ".join(sorted({one.name for one in left if one.name})) or "a variable"
            raise NeedsConcreteSizes(
                f"the loop over {k.name} is a recurrence in {names}, with no closed form for all sizes"
            )
        waiting = left
    return found


def _reads(term: Term, tensors: set[Tensor]) -> list[Entry]:
    return [node for node in walk(term) if isinstance(node, Entry) and node.tensor in tensors]


def with_known(term: Term, carried: Sequence[Carried], found: dict[Tensor, Closed], k: Var) -> Term:
    """A term with the placeholders of solved variables replaced by their values at the start of iteration k."""
    starts = {
        one.placeholder: (one.vars, found[one.placeholder].at_start) for one in carried if one.placeholder in found
    }
    if not any(start for _, start in starts.values()):
        return term

    def rule(node: Term) -> Term | None:
        if not isinstance(node, Entry) or node.tensor not in starts:
            return None
        names, start = starts[node.tensor]
        return None if start is None else at(start(k), dict(zip(names, node.args, strict=True)))

    return tidy(transform(term, rule))


def _close(one: Carried, step: Term, k: Var) -> Closed | None:
    own = _reads(step, {one.placeholder})
    if not own:
        return _replaced(one, step, k)
    whole = one.placeholder(*one.vars)
    parts = list(addends(step))
    if whole in parts:
        parts.remove(whole)
        added = add(*parts)
        return None if _reads(added, {one.placeholder}) else _accumulated(one, added, k)
    return _written(one, parts, k)


def total(k: Var, body: Term) -> Term:
    """Σ_k body over the whole range; parts without k are multiplied by the number of iterations."""
    parts = addends(body)
    return add(*(summed([k], part) if k in part.free else mul(k.dim, part) for part in parts))


def _before(k: Var, now: Term, body: Term) -> Term:
    """Σ_{k < now} body, for 0 <= now <= range of k."""
    fresh = k.fresh()
    earlier = bracket(">=", index(now - 1 - fresh))
    parts = [
        summed([fresh], mul(earlier, at(part, {k: fresh}))) if k in part.free else mul(now, part)
        for part in addends(body)
    ]
    return add(*parts)


def _accumulated(one: Carried, added: Term, k: Var) -> Closed:
    return Closed(add(one.before, total(k, added)), lambda now: add(one.before, _before(k, now, added)))


def _replaced(one: Carried, step: Term, k: Var) -> Closed:
    """A value that does not depend on what was before: that of the last iteration."""
    some = bracket(">=", index(k.dim - 1))
    last = at(step, {k: index(k.dim - 1)})
    after = last if some is ONE else add(mul(some, last), mul(complement(some), one.before))
    partial = any(isinstance(node, Pow) or (isinstance(node, Fun) and node.name == "log") for node in walk(step))

    def at_start(now: Term) -> Term:
        later = bracket(">=", index(now - 1))
        return add(mul(later, at(step, {k: index(now - 1)})), mul(complement(later), one.before))

    # Before the first iteration the step would be read at -1, where only entries are sure to have a value.
    return Closed(after, None if partial else at_start)


# ---------------------------------------------------------------- writes into regions


def _written(one: Carried, parts: Iterable[Term], k: Var) -> Closed | None:
    whole = one.placeholder(*one.vars)
    kept: list[Term] | None = None
    content: list[Term] = []
    for part in parts:
        rest = [factor for factor in factors(part) if factor is not whole]
        regions = [complemented(factor) for factor in rest]
        if kept is None and len(rest) == len(factors(part)) - 1 and rest and all(regions):
            kept = [region for region in regions if region is not None]
        else:
            content.append(part)
    if kept is None:
        return None
    axis = next((var for var in one.vars if _disjoint(kept, var, k)), None)
    if axis is None or not all(_inside(part, kept) and _local(part, one, kept, axis, k) for part in content):
        return None
    hit = complement(mul(*map(complement, kept))) if len(kept) > 1 else kept[0]
    new = _initial(add(*content), one)

    def form(hits: Term, written: Term) -> Term:
        return add(outside(one.before, [hits], one.vars), written)

    return Closed(
        form(total(k, hit), total(k, new)),
        lambda now: form(_before(k, now, hit), _before(k, now, new)),
    )


def _initial(term: Term, one: Carried) -> Term:
    def rule(node: Term) -> Term | None:
        if isinstance(node, Entry) and node.tensor == one.placeholder:
            return at(one.before, dict(zip(one.vars, node.args, strict=True)))
        return None

    return tidy(transform(term, rule))


def _inside(part: Term, kept: Sequence[Term]) -> bool:
    """Whether a part is 0 outside one of the regions: it has all brackets of the region among its factors."""
    own = set(factors(part))
    return part is ZERO or any(own.issuperset(factors(region)) for region in kept)


def _interval(region: Term, var: Var) -> tuple[Term, Term] | None:
    """Bounds of an index variable in a region, from its brackets that are linear in the variable."""
    low: Term | None = None
    high: Term | None = None
    for factor in factors(region):
        if not isinstance(factor, Iverson) or var not in factor.free:
            continue
        slope = coefficient(factor.arg, var)
        if slope not in (ONE, index(-ONE)) or slope is None:
            continue
        root = at(factor.arg, {var: ZERO})
        bound = index(mul(-1, root)) if slope is ONE else root
        if factor.rel == "=":
            return bound, bound
        if slope is ONE:
            low = bound
        else:
            high = bound
    return None if low is None or high is None else (low, high)


def _disjoint(kept: Sequence[Term], var: Var, k: Var) -> bool:
    """Whether no value of the variable lies in the regions of two iterations: they move on by their length."""
    intervals = [_interval(region, var) for region in kept]
    if any(interval is None for interval in intervals):
        return False
    known = [interval for interval in intervals if interval is not None]
    later = [(at(low, {k: index(k + 1)}), at(high, {k: index(k + 1)})) for low, high in known]
    upwards = all(nonnegative(next_low - high - 1) for next_low, _ in later for _, high in known)
    return upwards or all(nonnegative(low - next_high - 1) for _, next_high in later for low, _ in known)


def _local(part: Term, one: Carried, kept: Sequence[Term], axis: Var, k: Var) -> bool:
    """Whether a part reads the old contents only where its own iteration writes."""
    position = one.vars.index(axis)
    intervals = [interval for region in kept if (interval := _interval(region, axis)) is not None]
    for entry in _reads(part, {one.placeholder}):
        place = entry.args[position]
        if place is axis:
            continue
        if not any(nonnegative(place - low) and nonnegative(high - place) for low, high in intervals):
            return False
    return True
