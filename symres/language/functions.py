"""Elementwise functions: one table row each, and the names of unknown functions.

A row gives the partial derivatives as terms of the arguments, the definition in simpler functions where there is one,
and the spellings in NumPy, SymPy and LaTeX. :func:`expand_functions` follows the definitions down to what the kernel
knows (``exp``, ``log``, ``step``, ``eq0``, ``floordiv`` and rational powers) and to the atoms, functions without a
definition (``erf``, ``sin``, ``cos``, ``arctan``, …).

A name without a row is an unknown smooth function. Its derivative is named by the function: ``f'`` for one argument
(``f''`` next); for several, ``f.1`` is the derivative by the first argument and ``f.1.2`` the mixed second derivative,
positions sorted because partial derivatives of smooth functions commute.

Derivatives are those off the kinks: ``step`` and ``eq0`` have derivative 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from symres.errors import UsageError
from symres.kernel.terms import Fun, Number, Term, as_term, transform
from symres.language.function_rows import HALF, ROWS, Row, exp, log, sqrt, step

__all__ = [
    "ATOMS",
    "FUNCTIONS",
    "HALF",
    "Row",
    "absolute",
    "derivative_name",
    "exp",
    "expand_functions",
    "log",
    "maximum",
    "minimum",
    "partial",
    "relu",
    "sign",
    "split_name",
    "sqrt",
    "step",
    "table",
]


def table(rows: Iterable[Row]) -> dict[str, Row]:
    """The rows by name.

    Raises:
        UsageError: if two rows have the same name, or a name is reserved for derivatives of unknown functions.
    """
    found: dict[str, Row] = {}
    for row in rows:
        if row.name in found:
            raise UsageError(f"two rows of the function table are named {row.name!r}")
        if "'" in row.name or "." in row.name:
            raise UsageError(f"the name {row.name!r} would be read as a derivative")
        found[row.name] = row
    return found


FUNCTIONS = table(ROWS)
ATOMS = frozenset(name for name, row in FUNCTIONS.items() if row.definition is None)
"""The functions without a definition in simpler ones."""


def partial(node: Fun, position: int) -> Term:
    """The derivative of an elementwise function by its argument ``position`` (from 0), off the kinks.

    Raises:
        UsageError: if the number of arguments is not the one in the table.
    """
    row = FUNCTIONS.get(node.name)
    if row is None:
        return Fun(derivative_name(node.name, position, len(node.args)), *node.args)
    if len(node.args) != row.arity:
        raise UsageError(f"{row.name} takes {row.arity} argument(s), {len(node.args)} were given")
    return row.partials[position](*node.args)


def split_name(name: str) -> tuple[str, tuple[int, ...]]:
    """The function and the argument positions (from 0) by which it is differentiated.

    ``f''`` is ``("f", (0, 0))`` and ``f.1.2`` is ``("f", (0, 1))``.
    """
    base = name.rstrip("'")
    if base != name:
        return base, (0,) * (len(name) - len(base))
    base, *positions = name.split(".")
    return base, tuple(int(position) - 1 for position in positions)


def derivative_name(name: str, position: int, arity: int) -> str:
    """The name of the derivative of an unknown function by its argument ``position`` (from 0)."""
    if arity == 1:
        return name + "'"
    base, positions = split_name(name)
    return ".".join((base, *(str(k + 1) for k in sorted((*positions, position)))))


def expand_functions(term: Term) -> Term:
    """Replace every function that has a definition by it, down to the kernel's functions and the atoms."""

    def rule(node: Term) -> Term | None:
        row = FUNCTIONS.get(node.name) if isinstance(node, Fun) else None
        if row is None or row.definition is None:
            return None
        return expand_functions(row.definition(*node.children))

    return transform(term, rule)


def relu(u: Term | Number) -> Term:
    """max(0, u) = u [u > 0]."""
    return as_term(u) * step(u)


def sign(u: Term | Number) -> Term:
    """The sign of u off 0: 2 [u > 0] - 1."""
    return 2 * step(u) - 1


def absolute(u: Term | Number) -> Term:
    """|u| = u (2 [u > 0] - 1)."""
    return as_term(u) * sign(u)


def maximum(a: Term | Number, b: Term | Number) -> Term:
    """max(a, b) = b + (a - b) [a > b]."""
    return b + relu(as_term(a) - b)


def minimum(a: Term | Number, b: Term | Number) -> Term:
    """min(a, b) = a - (a - b) [a > b]."""
    return a - relu(as_term(a) - b)
