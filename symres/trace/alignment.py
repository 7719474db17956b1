"""Giving the axes of several arrays common index variables: broadcasting, and the labels of contractions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from symres.kernel.terms import Num, Var, mul
from symres.language.program import Axis, Value
from symres.trace.axes import Reading, by_axis, common, length, variable
from symres.trace.polynomials import index, same
from symres.trace.signals import NeedsConcreteSizes
from symres.trace.tidy import at

Label = Hashable


def align_right(ranks: Sequence[int]) -> list[list[int]]:
    """Labels for broadcasting: axes are counted from the last, -1."""
    return [list(range(-rank, 0)) for rank in ranks]


def unify(
    operands: Sequence[Value], labels: Sequence[Sequence[Label]]
) -> tuple[dict[Label, tuple[Var, ...]], list[Reading]]:
    """Give all axes with one label the same index variables; an axis of length 1 fits every length.

    Returns:
        The variables of each label, and for each operand how its variables read in them.
    """
    where: dict[Label, list[tuple[int, Axis, tuple[Var, ...]]]] = {}
    for number, (operand, names) in enumerate(zip(operands, labels, strict=True)):
        groups = by_axis(operand.axes, operand.vars)
        for axis, own, label in zip(operand.axes, groups, names, strict=True):
            where.setdefault(label, []).append((number, axis, own))
    readings: list[Reading] = [{} for _ in operands]
    result: dict[Label, tuple[Var, ...]] = {}
    for label, places in where.items():
        # Operands whose entries depend on the axis decide its atoms; a constant takes any of the same length.
        places.sort(key=lambda place: not operands[place[0]].body.free.intersection(place[2]))
        chosen: tuple[Var, ...] = ()
        merged: list[tuple[int, Reading]] = []
        for number, axis, own in places:
            if not axis:
                continue
            dims = tuple(var.dim for var in chosen)
            if not chosen:
                chosen = tuple(var.fresh() for var in own)
                merged.append((number, dict(zip(own, chosen, strict=True))))
            elif len(axis) == len(dims) and all(map(same, axis, dims)):
                merged.append((number, dict(zip(own, chosen, strict=True))))
            elif operands[number].body.free.isdisjoint(own) and same(length(axis), length(dims)):
                merged.append((number, dict.fromkeys(own, Num(0))))
            else:
                used = [reading[var].free for k, reading in merged for var in reading if var in operands[k].body.free]
                new, reading = _aligned(chosen, frozenset().union(*used), own, operands[number].body.free)
                merged = [
                    (other, {var: at(term, {v: reading[v] for v in chosen}) for var, term in old.items()})
                    for other, old in merged
                ]
                merged.append((number, {var: reading[var] for var in own}))
                chosen = new
        for number, reading in merged:
            if any(not same(readings[number].get(var, term), term) for var, term in reading.items()):
                raise NeedsConcreteSizes("one axis is read in two ways")
            readings[number].update(reading)
        result[label] = chosen
    return result, readings


def _aligned(
    left: Sequence[Var], left_used: frozenset[Var], right: Sequence[Var], right_used: frozenset[Var]
) -> tuple[tuple[Var, ...], Reading]:
    """Common variables of two axes; atoms on which no entry depends are joined where that helps."""
    try:
        return common(_dims(left), left, _dims(right), right)
    except NeedsConcreteSizes:
        packed_left, packed_right = _packed(left, left_used), _packed(right, right_used)
        if len(packed_left) == len(left) and len(packed_right) == len(right):
            raise
        found, reading = common(_dims(packed_left), packed_left, _dims(packed_right), packed_right)
        return found, {**dict.fromkeys((*left, *right), Num(0)), **reading}


def _dims(names: Sequence[Var]) -> Axis:
    return tuple(var.dim for var in names)


def _packed(names: Sequence[Var], used: frozenset[Var]) -> list[Var]:
    """The variables with every run of unused ones replaced by one of the same total length."""
    packed: list[Var] = []
    run: list[Var] = []
    for var in (*names, None):
        if var is not None and var not in used:
            run.append(var)
            continue
        if run:
            packed.append(run[0] if len(run) == 1 else variable(index(mul(*_dims(run))), run[0]))
            run = []
        if var is not None:
            packed.append(var)
    return packed
