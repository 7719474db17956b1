"""Readable NumPy source for traced programs and derived gradients.

The source is a module with one function. It computes every shared subexpression once, multiplies small arrays before
large ones, contracts by ``@`` and ``einsum`` without large temporaries, works in place on its own arrays where that
saves memory, and never changes its arguments. Statements hold off the kinks of ``max`` and ``abs``; at a kink the code
takes the value of the formula (``x > 0`` is false at 0).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symres.kernel.terms import Tensor, Term, Var, mul
from symres.language.formula import adjoint
from symres.language.program import Axis, Definition, Program, Value
from symres.numeric.duplicates import without_duplicates
from symres.numeric.emit import Emitter
from symres.numeric.layout import Layout, assign, project
from symres.numeric.lower import Lowering
from symres.numeric.names import Namer, identifier
from symres.numeric.nodes import UNNAMED, Graph, Node, is_number
from symres.numeric.parameters import Parameter, given_layout, parameters_of, read_sizes, shape_text, size_names
from symres.numeric.scales import without_scales
from symres.numeric.sharing import share_products
from symres.numeric.spell import ATOM, PRODUCT, Speller, view
from symres.numeric.unknown import function_name


@dataclass
class Code:
    """A function in the making."""

    name: str
    parameters: Sequence[Parameter]
    results: Sequence[tuple[str, Value]]
    summary: str
    graph: Graph = field(default_factory=Graph)

    def write(self, definitions: Iterable[Definition], *, in_place: bool = True) -> str:
        """The module's source."""
        lowering = Lowering(self.graph)
        namer = Namer({*(p.name for p in self.parameters), *map(identifier, size_names(self.parameters))})
        given: dict[Node, str] = {}
        fixed: dict[Node, Layout] = {}
        for parameter in self.parameters:
            node = lowering.input(parameter.tensor, parameter.name)
            given[node] = parameter.name
            fixed[node] = given_layout(parameter, node)
        made, given_values = without_scales(
            *without_duplicates(list(definitions), [value for _, value in self.results])
        )
        for definition in made:
            lowering.define(definition)
        wanted = self.graph.names
        values = [lowering.over(value.body, value.vars) for value in given_values]
        shared = share_products(self.graph, [node for node, _ in values])
        roots = []
        for (name, _), node, (_, variables) in zip(self.results, shared, values, strict=True):
            roots.append((node, tuple(var for var in variables if var in node.labels), variables))
            if node.op not in UNNAMED and (node not in wanted or wanted[node] == identifier(name)):
                wanted[node] = identifier(name)
        stored = assign([(node, layout) for node, layout, _ in roots], fixed)
        emitter = Emitter(stored, given, wanted, [node for node, _, _ in roots], namer, in_place)
        speller = emitter.run()
        returned = [
            self._result(speller, lowering, node, layout, variables, value, repeated=node in [r[0] for r in roots[:k]])
            for k, ((node, layout, variables), (_, value)) in enumerate(zip(roots, self.results, strict=True))
        ]
        body = [*self._sizes(speller, lowering), *emitter.lines]
        return self._module(speller, [*body, *listed("return ", returned, "")])

    def _result(
        self,
        speller: Speller,
        lowering: Lowering,
        node: Node,
        layout: Layout,
        variables: tuple[Var, ...],
        value: Value,
        *,
        repeated: bool,
    ) -> str:
        """The source of a result in its NumPy shape; an argument, or a result given before, is copied."""
        ours = node.op not in UNNAMED | {"take", "unknown", "apply"} and not repeated
        if node.kind != "real" and variables and len(layout) == len(variables):
            source, ours = f"{speller.text(node, layout, ATOM)}.astype(float)", True
        elif len(layout) < len(variables):
            shape = self._shape(speller, lowering, [(var.dim,) for var in variables])
            source, ours = _filled(speller, node, variables, shape), True
        else:
            source = speller.text(node, layout, ATOM)
        if any(len(axis) > 1 for axis in value.axes):
            source = f"{source}.reshape({self._shape(speller, lowering, value.axes)[1:-1].removesuffix(',')})"
        elif any(not axis for axis in value.axes):
            rest = iter(variables)
            slots = tuple(next(rest) if axis else None for axis in value.axes)
            # A leading axis of length 1 is asked for explicitly: NumPy would only broadcast to it.
            source = view(source, variables, slots)
        return source if ours or not variables else f"{source}.copy()"

    def _shape(self, speller: Speller, lowering: Lowering, axes: Sequence[Axis]) -> str:
        lengths = [speller.text(lowering.rest(mul(*axis)), (), 0) for axis in axes]
        return f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"

    def _sizes(self, speller: Speller, lowering: Lowering) -> list[str]:
        """Statements that read the sizes off the arguments, and give grouped axes their own."""
        regrouped = [p for p in self.parameters if any(len(axis) > 1 for axis in p.axes)]
        shapes = {p.name: self._shape(speller, lowering, [(dim,) for dim in p.tensor.dims]) for p in regrouped}

        def text(term: Term) -> str:
            return speller.text(lowering.rest(term), (), PRODUCT + 1)

        reads = read_sizes(self.parameters, list(speller.sizes), speller.size_name, text)
        return [*reads, *(f"{p.name} = {p.name}.reshape{shapes[p.name]}" for p in regrouped)]

    def _module(self, speller: Speller, body: Sequence[str]) -> str:
        shapes = [f"{p.name} {shape_text(p.axes)}" for p in self.parameters]
        returned = [f"{identifier(name)} {shape_text(value.axes)}" for name, value in self.results]
        summary = _wrapped(f'"""{self.summary}')
        text = _wrapped("Shapes: " + ", ".join(shapes) + ".")
        text += _wrapped("Returns: " + ", ".join(returned) + ".")
        names = [function_name(name) for name in sorted(speller.functions, key=lambda name: (len(name), name))]
        functions = ["*", *names] if names else []
        if names:
            text += _wrapped(f"Functions: {', '.join(names)}.")
        text.append('"""')
        prelude = [line for lines in speller.prelude for line in ("", *lines) if not line.startswith("import")]
        imports = sorted({line for lines in speller.prelude for line in lines if line.startswith("import")})
        lines = [
            *imports,
            "import numpy as np",
            *prelude,
            "",
            "",
            *listed(f"def {self.name}(", [*map(str, self.parameters), *functions], "):"),
            *(f"    {line}" if line else "" for line in (*summary, "", *text, *body)),
        ]
        return "\n".join(lines) + "\n"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def listed(before: str, items: Sequence[str], after: str) -> list[str]:
    """``before`` the items ``after``, on one line or, where that is too long, in brackets over several."""
    line = f"{before}{', '.join(items)}{after}"
    if len(line) <= 100:
        return [line]
    opening, closing = (before, after) if before.endswith("(") else (f"{before}(", f"){after}")
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > 94:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return [opening, *(f"    {line}" for line in lines), closing]


def _filled(speller: Speller, node: Node, variables: tuple[Var, ...], shape: str) -> str:
    """An array of the shape from one that lacks some of its axes."""
    if is_number(node, 0):
        return f"np.zeros({shape})"
    if not node.labels:
        return f"np.full({shape}, {speller.text(node, ())}, dtype=float)"
    layout = project(tuple(var if var in node.labels else None for var in variables), node)
    return f"np.broadcast_to({speller.text(node, layout)}, {shape}).copy()"


def forward_source(program: Program, *, defaults: Mapping[str, Any] | None = None, in_place: bool = True) -> str:
    """A module with the function itself, from its traced definitions; several outputs are a tuple."""
    code = Code(
        identifier(program.name),
        parameters_of(program, defaults),
        list(program.outputs.items()),
        f"{program.name}, as symres traced it.",
    )
    return code.write(program.definitions.values(), in_place=in_place)


def backward_source(
    program: Program,
    adjoints: Sequence[Definition],
    gradients: Mapping[str, Value],
    upstream: Mapping[str, Tensor] | None = None,
    *,
    defaults: Mapping[str, Any] | None = None,
    in_place: bool = True,
) -> str:
    """A module with ``FUNC_backward(dout, <arguments of FUNC in order>)``.

    Args:
        program: the traced forward function.
        adjoints: definitions after those of the program, in order.
        gradients: for each argument asked for, in order, its gradient, of the argument's shape.
        upstream: the upstream gradient of each output; by default the adjoint of the tensor with the output's name.
        defaults: the default values of arguments.

    The upstream gradient is the argument ``dout`` where there is one output; where there are several, ``d`` and the
    name of each. The function returns the gradients in the order of ``gradients``, as a tuple where there are several.
    """
    tensors = upstream or {
        name: adjoint(Tensor(name, tuple(var.dim for var in value.vars))) for name, value in program.outputs.items()
    }
    arguments = parameters_of(program, defaults)
    namer = Namer(parameter.name for parameter in arguments)
    incoming = [
        Parameter(
            namer.unique("dout" if len(program.outputs) == 1 else "d" + identifier(name)), tensors[name], value.axes
        )
        for name, value in program.outputs.items()
    ]
    loss = " + ".join(f"{p.name} * {name}" for p, name in zip(incoming, program.outputs, strict=True))
    call = f"{', '.join(program.outputs)} = {program.name}({', '.join(program.inputs)})"
    code = Code(
        f"{identifier(program.name)}_backward",
        [*incoming, *arguments],
        [(f"d{identifier(name)}", value) for name, value in gradients.items()],
        f"The gradients of sum({loss}) for {call}.",
    )
    return code.write([*program.definitions.values(), *adjoints], in_place=in_place)


def compile_source(source: str) -> Any:
    """The last function of a generated module, ready to be called."""
    scope: dict[str, Any] = {}
    exec(compile(source, "<generated>", "exec"), scope)
    return [value for value in scope.values() if callable(value) and hasattr(value, "__code__")][-1]
