"""Array expressions as NumPy source, with as few parentheses as Python allows."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from symres.kernel.terms import Size, Var
from symres.language.constants import VALUES
from symres.language.functions import FUNCTIONS
from symres.numeric.layout import Layout, demands
from symres.numeric.names import identifier
from symres.numeric.nodes import REDUCTIONS, Node, is_python_number
from symres.numeric.products import Operand, spell_einsum
from symres.numeric.unknown import EACH_PRELUDE, function_name, spell_apply

# How tightly an expression binds, loosest first. A matrix product is set apart from other products.
COMPARE, SUM, MATRIX, PRODUCT, SIGN, POWER, ATOM = range(7)

READ_PRELUDE = (
    "def read(array, *indices):",
    '    """array[indices], where an index out of range reads 0."""',
    "    array = np.pad(array, [(0, 0 if isinstance(index, slice) else 1) for index in indices])",
    "    places = zip(array.shape, indices)",
    "    inside = (i if isinstance(i, slice) else np.where((i >= 0) & (i < n - 1), i, n - 1) for n, i in places)",
    "    return array[tuple(inside)]",
)
_OPERATORS = {"add": ("+", SUM, SUM, MATRIX), "sub": ("-", SUM, SUM, MATRIX)}
_OPERATORS |= {"mul": ("*", PRODUCT, PRODUCT, SIGN), "div": ("/", PRODUCT, PRODUCT, SIGN)}


class Speller:
    """Spells nodes, given the layouts they are stored in and the names of those computed before.

    ``prelude`` collects the lines that the spellings need in their module, ``sizes`` the sizes and ``functions`` the
    unknown functions that they mention.
    """

    def __init__(self, stored: Mapping[Node, Layout], names: Mapping[Node, str]) -> None:
        self.stored, self.names = stored, names
        self.prelude: dict[tuple[str, ...], None] = {}
        self.sizes: dict[Size, None] = {}
        self.functions: dict[str, None] = {}

    def text(self, node: Node, layout: Layout, tightness: int = COMPARE) -> str:
        """The source of the array in a layout, in parentheses where it binds less than ``tightness``."""
        stored = self.stored.get(node, node.labels)
        if node in self.names:
            source, binding = self.names[node], ATOM
        else:
            source, binding = self.compute(node, stored)
        if stored != layout:
            source, binding = view(_guard(source, binding, ATOM), stored, layout), ATOM
        return _guard(source, binding, tightness)

    def compute(self, node: Node, layout: Layout) -> tuple[str, int]:
        """The source that computes a node in the layout it is stored in, and how tightly it binds."""
        return getattr(self, f"_{node.op if node.op not in REDUCTIONS else 'reduction'}")(node, layout)  # type: ignore[no-any-return]

    def _parts(self, node: Node, layout: Layout, *tightness: int) -> list[str]:
        needed = demands(node, layout)
        return [self.text(arg, part, t) for (arg, part), t in zip(needed, tightness, strict=True)]

    def _number(self, node: Node, layout: Layout) -> tuple[str, int]:
        value: Fraction = node.data[0]
        if value.denominator == 1:
            return str(value), ATOM if value >= 0 else SIGN
        decimal = value * 10**6
        if decimal.denominator == 1:
            return repr(float(value)), ATOM if value >= 0 else SIGN
        return f"{value.numerator} / {value.denominator}", PRODUCT

    def _size(self, node: Node, layout: Layout) -> tuple[str, int]:
        self.sizes[node.data[0]] = None
        return self.size_name(node.data[0]), ATOM

    def size_name(self, size: Size) -> str:
        """The variable that holds a size; told apart from an argument of the same name."""
        name = identifier(size.name)
        return f"{name}_size" if name in self.names.values() else name

    def _constant(self, node: Node, layout: Layout) -> tuple[str, int]:
        if node.data[0] == "-infinity":
            return "-np.inf", SIGN
        values = {tensor.name: value for tensor, value in VALUES.items()}
        return ("np.pi" if node.data[0] == "pi" else repr(values[node.data[0]])), ATOM

    def _arange(self, node: Node, layout: Layout) -> tuple[str, int]:
        return view(f"np.arange({self.text(node.args[0], ())})", node.labels, layout), ATOM

    def _arithmetic(self, node: Node, layout: Layout) -> tuple[str, int]:
        sign, binding, left, right = _OPERATORS[node.op]
        (one, first), (other, second) = demands(node, layout)
        source = self.text(other, second, right)
        # Booleans are neither subtracted nor added as numbers in NumPy.
        cast = one.kind == other.kind == "bool" and node.op in ("add", "sub")
        start = self.number(one, first) if cast else self.text(one, first, left)
        return f"{start} {sign} {source}", binding

    _add = _sub = _mul = _div = _arithmetic

    def number(self, node: Node, layout: Layout) -> str:
        """The source of an array, a boolean one turned into numbers."""
        return (
            f"{self.text(node, layout, ATOM)}.astype(float)" if node.kind == "bool" else self.text(node, layout, ATOM)
        )

    def _neg(self, node: Node, layout: Layout) -> tuple[str, int]:
        arg, part = demands(node, layout)[0]
        if arg.kind == "bool":
            return f"-{self.number(arg, part)}", SIGN
        # The sign of a product is that of its first factor.
        binding = PRODUCT if arg.op in ("mul", "div") and arg not in self.names else SIGN
        return f"-{self.text(arg, part, binding)}", binding

    def _pow(self, node: Node, layout: Layout) -> tuple[str, int]:
        exponent: Fraction = node.data[0]
        arg, part = demands(node, layout)[0]
        base = self.number(arg, part) if arg.kind == "bool" else ""
        if exponent == Fraction(1, 2) and is_python_number(arg):
            # np.sqrt would give a float64, and turn what it meets from float32 into float64
            return f"{self.text(arg, part, ATOM)}**0.5", POWER
        if exponent == Fraction(1, 2):
            return f"np.sqrt({base or self.text(arg, part)})", ATOM
        power = str(exponent) if exponent.denominator == 1 else f"({exponent})"
        return f"{base or self.text(arg, part, ATOM)}**{power}", POWER

    def _fun(self, node: Node, layout: Layout) -> tuple[str, int]:
        row = FUNCTIONS[node.data[0]]
        if row.prelude:
            self.prelude[row.prelude] = None
        tightness = SIGN if row.name == "floordiv" else COMPARE
        parts = [
            self.number(arg, part) if arg.kind == "bool" else self.text(arg, part, tightness)
            for arg, part in demands(node, layout)
        ]
        if row.name == "floordiv":
            return row.numpy.format(*parts)[1:-1], PRODUCT
        return row.numpy.format(*parts), ATOM

    def _unknown(self, node: Node, layout: Layout) -> tuple[str, int]:
        self.functions[node.data[0]] = None
        parts = [self.text(arg, part) for arg, part in demands(node, layout)]
        return f"{function_name(node.data[0])}({', '.join(parts)})", ATOM

    def _apply(self, node: Node, layout: Layout) -> tuple[str, int]:
        name, outer, inner = node.data
        self.functions[name] = None
        parts = [
            (self.text(arg, part), len(part) > len(own))
            for (arg, part), own in zip(demands(node, layout), inner, strict=True)
        ]
        source, repeated = spell_apply(function_name(name), len(outer), parts)
        if repeated:
            self.prelude[EACH_PRELUDE] = None
        return view(source, node.labels, layout), ATOM

    def _compare(self, node: Node, layout: Layout) -> tuple[str, int]:
        left, right = self._parts(node, layout, SUM, SUM)
        return f"{left} {node.data[0]} {right}", COMPARE

    def _where(self, node: Node, layout: Layout) -> tuple[str, int]:
        return f"np.where({', '.join(self._parts(node, layout, COMPARE, COMPARE, COMPARE))})", ATOM

    def _maximum(self, node: Node, layout: Layout) -> tuple[str, int]:
        return f"np.maximum({', '.join(self._parts(node, layout, COMPARE, COMPARE))})", ATOM

    def _reduction(self, node: Node, layout: Layout) -> tuple[str, int]:
        arg = node.args[0]
        axes = [arg.labels.index(label) for label in node.data]
        if len(axes) == 1:
            where = f"axis={axes[0] if axes[0] < len(arg.labels) - 1 or len(arg.labels) == 1 else -1}"
        else:
            where = f"axis={tuple(sorted(axes))}"
        keep = layout != node.labels
        if not node.labels and not keep:
            where = ""
        arguments = ", ".join([where, "keepdims=True"] if keep else [where] if where else [])
        return f"{self.text(arg, arg.labels, ATOM)}.{node.op}({arguments})", ATOM

    def _rename(self, node: Node, layout: Layout) -> tuple[str, int]:
        return self.text(*demands(node, layout)[0], ATOM), ATOM

    def _take(self, node: Node, layout: Layout) -> tuple[str, int]:
        base, *indices = node.args
        slots, padded, _ = node.data
        layouts = dict(demands(node, layout)[1 : 1 + len(indices)])
        rest = iter(indices)
        parts = []
        for kind, *data in slots:
            if kind == "index":
                index = next(rest)
                parts.append(self.text(index, layouts[index]))
            elif kind == "whole":
                parts.append("slice(None)" if padded else ":")
            else:
                parts.append(self._span(*data[1:], padded=padded))
        array = self.text(base, base.labels, ATOM)
        if padded:
            self.prelude[READ_PRELUDE] = None
            source = f"read({', '.join([array, *parts])})"
        else:
            while len(parts) > 1 and parts[-1] == ":":
                parts.pop()
            source = f"{array}[{', '.join(parts)}]"
        return view(source, node.labels, layout), ATOM

    def _span(self, start: Node, length: Node, step: int, *, padded: bool) -> str:
        begin = self.text(start, (), SUM)
        count = self.text(length, (), SIGN)
        stop = count if step == 1 else f"{step} * {count}"
        stop = stop if begin == "0" else f"{begin} + {stop}"
        begin = "" if begin == "0" else begin
        if padded:
            return f"slice({', '.join([begin or '0', stop, *([str(step)] if step > 1 else [])])})"
        return f"{begin}:{stop}" + (f":{step}" if step > 1 else "")

    def _einsum(self, node: Node, layout: Layout) -> tuple[str, int]:
        order = tuple(label for label in layout if label is not None)
        left, right = node.args
        logical = left.kind == right.kind == "bool"
        operands: list[Operand] = []
        for arg in node.args:
            if logical and not operands:  # numbers, not truth values, are to be added up
                number = self.number(arg, arg.labels)
                operands.append(Operand(number, number, number, arg.labels))
            else:
                argument, factor, atom = (self.text(arg, arg.labels, t) for t in (COMPARE, SIGN, ATOM))
                operands.append(Operand(argument, factor, atom, arg.labels))
        source, is_matrix = spell_einsum(*operands, gone=node.data, order=order)
        if order == layout:
            return source, MATRIX if is_matrix else ATOM
        return view(_guard(source, MATRIX if is_matrix else ATOM, ATOM), order, layout), ATOM


def _guard(source: str, binding: int, tightness: int) -> str:
    return f"({source})" if binding < tightness else source


def view(source: str, stored: Layout, wanted: Layout) -> str:
    """The source of an array stored in one layout as it is wanted in another: axes exchanged, inserted or dropped."""
    have = [label for label in stored if label is not None]
    want = [label for label in wanted if label is not None]
    if have != want:
        if None in stored:
            source, stored = view(source, stored, tuple(have)), tuple(have)
        permutation = [have.index(label) for label in want]
        source += ".T" if permutation == [1, 0] else f".transpose({', '.join(map(str, permutation))})"
        stored = tuple(want)
    return source + _index(stored, wanted)


def _index(stored: Layout, wanted: Layout) -> str:
    slots: list[str] = []
    rest: list[Var | None] = list(stored)
    for label in wanted:
        if label is None:
            # Keep an axis of length 1 that stands here, else insert one.
            slots.append(":" if rest and rest[0] is None and rest.pop(0) is None else "None")
            continue
        while rest and rest[0] is None:
            rest.pop(0)
            slots.append("0")
        rest.pop(0)
        slots.append(":")
    slots += ["0"] * len(rest)
    while slots and slots[-1] == ":":
        slots.pop()
    return f"[{', '.join(slots)}]" if slots else ""
