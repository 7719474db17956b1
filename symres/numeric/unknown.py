"""Unknown functions in generated code: they become keyword arguments of the generated function.

An elementwise ``f`` is the argument ``f``, its derivatives ``f'`` and ``f''`` are ``df`` and ``d2f``. A general F of
whole arrays is ``F``; its derivative by the first argument is ``dF_1``, an array with the axes of the value before
those of the argument. Where F is applied to each sample, the code calls it once for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symres.errors import Unsupported
from symres.kernel.terms import Apply, Var
from symres.language.functions import derivative_name, split_name
from symres.numeric.names import identifier
from symres.numeric.nodes import Node
from symres.numeric.reads import at_indices

if TYPE_CHECKING:
    from symres.numeric.lower import Lowering

EACH_PRELUDE = (
    "def each(function, axes, *arrays):",
    '    """The values of a function on the parts of arrays, one for each index of their first axes."""',
    "    lead = np.broadcast_shapes(*(array.shape[:axes] for array in arrays))",
    "    parts = [np.broadcast_to(array, lead + array.shape[axes:]) for array in arrays]",
    "    values = [function(*(part[place] for part in parts)) for place in np.ndindex(lead)]",
    "    return np.reshape(values, lead + np.shape(values[0]))",
)


def function_name(name: str) -> str:
    """The Python name of an unknown function or of a derivative of one."""
    base, positions = split_name(name)
    order = f"d{len(positions) if len(positions) > 1 else ''}" if positions else ""
    which = "".join(f"_{position + 1}" for position in positions) if "." in name else ""
    return f"{order}{identifier(base)}{which}"


def lower_apply(term: Apply, to: Lowering) -> Node:
    """The values of a general function, or of a derivative of one, over the indices on which its arguments depend."""
    ordered = sorted(term.derivatives, key=lambda pair: pair[0])
    name = term.name
    for position, _ in ordered:
        name = derivative_name(name, position, 2)
    arguments = [to.term(argument.body) for argument in term.arguments]
    for argument, node in zip(term.arguments, arguments, strict=True):
        if not set(argument.vars) <= set(node.labels):
            raise Unsupported(
                f"an argument of {term.name} that is constant along an axis cannot be written in NumPy yet"
            )
    outer = tuple(
        dict.fromkeys(
            label
            for argument, node in zip(term.arguments, arguments, strict=True)
            for label in node.labels
            if label not in argument.vars
        )
    )
    dims = [*term.dims, *(var.dim for position, _ in ordered for var in term.arguments[position].vars)]
    own = to.canon.choose((Var("k", dim) for dim in dims), frozenset(outer))
    inner = tuple(argument.vars for argument in term.arguments)
    node = to.graph.make("apply", arguments, (name, outer, inner), (*outer, *own), "real")
    indices = [*term.outs, *(index for _, many in ordered for index in many)]
    return at_indices(to.graph, node, [*outer, *indices], to.term)


def spell_apply(name: str, count: int, parts: list[tuple[str, bool]]) -> tuple[str, bool]:
    """The call of a function on sources, of which some run over ``count`` outer axes; and whether it uses ``each``."""
    if not count:
        return f"{name}({', '.join(source for source, _ in parts)})", False
    moving = [source for source, moves in parts if moves]
    if len(moving) == len(parts):
        return f"each({name}, {count}, {', '.join(moving)})", True
    letters = iter("uvwxyz")
    rows = [next(letters) if moves else source for source, moves in parts]
    bound = ", ".join(row for row, (_, moves) in zip(rows, parts, strict=True) if moves)
    return f"each(lambda {bound}: {name}({', '.join(rows)}), {count}, {', '.join(moving)})", True
