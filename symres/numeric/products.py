"""Contractions of two arrays in NumPy: ``@`` where it is one, ``tensordot`` and ``einsum`` elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from symres.numeric.nodes import Labels


@dataclass(frozen=True)
class Operand:
    """The source of an array as an argument, as a factor and as what one can put a dot after; and its labels."""

    argument: str
    factor: str
    atom: str
    labels: Labels

    def ordered(self, labels: Labels) -> str:
        """The source with the axes in another order."""
        if labels == self.labels:
            return self.factor
        permutation = [self.labels.index(label) for label in labels]
        if permutation == [1, 0]:
            return f"{self.atom}.T"
        if permutation[:-2] == list(range(len(labels) - 2)):
            return f"{self.atom}.swapaxes(-1, -2)"
        return f"{self.atom}.transpose({', '.join(map(str, permutation))})"


def spell_einsum(left: Operand, right: Operand, *, gone: Labels, order: Labels) -> tuple[str, bool]:
    """The sum over ``gone`` of left times right with axes in ``order``; and whether the source is an ``@`` product.

    ``@`` and ``tensordot`` use BLAS, ``einsum`` of arrays with the same labels makes no array of the products.
    """
    batch = tuple(label for label in left.labels if label in right.labels and label not in gone)
    rows = tuple(label for label in left.labels if label not in right.labels)
    columns = tuple(label for label in right.labels if label not in left.labels)
    summed = tuple(label for label in left.labels if label in right.labels and label in gone)
    if set(summed) == set(gone) and len(summed) == 1:
        source, given = _matrix(left, right, batch, rows, columns, summed, order)
        if source and given == order:
            return source, True
        if source and batch:
            return Operand(source, source, f"({source})", given).ordered(order), False
    if set(summed) == set(gone) and not batch and (rows or columns):
        return _tensordot(left, right, rows, columns, summed, order), False
    return _einsum(left, right, order), False


def _matrix(
    left: Operand, right: Operand, batch: Labels, rows: Labels, columns: Labels, summed: Labels, order: Labels
) -> tuple[str, Labels]:
    """The source of ``left @ right`` and the axes it has, the other way round where that gives ``order``; or ``""``."""
    found: list[tuple[bool, int, str, Labels]] = []
    for a, b, m, n in ((left, right, rows, columns), (right, left, columns, rows)):
        if batch and len(m) == len(n) == 1:
            wanted = ((*batch, *m, *summed), (*batch, *summed, *n))
        elif not batch and len(n) <= 1 and (len(m) <= 1 or a.labels == (*m, *summed)):
            wanted = ((*m, *summed), (*summed, *n))
        else:
            continue
        given = (*batch, *m, *n)
        turned = sum(operand.labels != labels for operand, labels in zip((a, b), wanted, strict=True))
        found.append((given != order, turned, f"{a.ordered(wanted[0])} @ {b.ordered(wanted[1])}", given))
    return min(found, key=lambda each: each[:2])[2:] if found else ("", ())


def _tensordot(left: Operand, right: Operand, rows: Labels, columns: Labels, summed: Labels, order: Labels) -> str:
    if order == (*columns, *rows):
        left, right, rows, columns = right, left, columns, rows
    pairs = [tuple(operand.labels.index(label) for label in summed) for operand in (left, right)]
    axes = ", ".join(str(pair if len(pair) > 1 else pair[0]) for pair in pairs)
    source = f"np.tensordot({left.argument}, {right.argument}, axes=({axes}))"
    return Operand(source, source, source, (*rows, *columns)).ordered(order)


def _einsum(left: Operand, right: Operand, order: Labels) -> str:
    letters: dict[object, str] = {}
    for label in (*left.labels, *right.labels):
        wanted = [label.name[:1].lower(), *"abcdefghijklmnopqrstuvwxyz"]
        letters.setdefault(label, next(c for c in wanted if c.isascii() and c.isalpha() and c not in letters.values()))
    one, other, result = ("".join(letters[label] for label in labels) for labels in (left.labels, right.labels, order))
    return f'np.einsum("{one},{other}->{result}", {left.argument}, {right.argument})'
