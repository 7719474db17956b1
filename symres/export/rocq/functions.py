"""Functions that nothing is known of but that they are differentiable: variables of a certificate, with their Jacobians."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symres.export.rocq.symbols import ELEMENTWISE
from symres.export.rocq.writing import forall
from symres.kernel.terms import Apply, Fun, Var, walk
from symres.language.functions import FUNCTIONS, split_name

if TYPE_CHECKING:
    from symres.export.rocq.layer import Layer


def declare_functions(layer: Layer) -> None:
    """Declare the functions that nothing is known of, and what their derivatives are."""
    nodes = [node for body in layer.bodies for node in walk(body)]
    for node in nodes:
        if isinstance(node, Apply) and (node.name, ()) not in layer.functions:
            _general(layer, node)
    unknown = {split_name(n.name) for n in nodes if isinstance(n, Fun) and n.name not in (*ELEMENTWISE, *FUNCTIONS)}
    for base in sorted({base for base, _ in unknown}):
        order = max(len(positions) for name, positions in unknown if name == base)
        plain = layer.names.new(base)
        for count in range(order + 2):
            layer.functions[base, (0,) * count] = plain + "'" * count
        primes = [plain + "'" * count for count in range(order + 2)]
        layer.header.append(f"Variables ({' '.join(primes)} : R -> R).")
        for low, high in zip(primes, primes[1:], strict=False):
            layer.header.append(f"Hypothesis {low}_derivative : forall a, is_derive {low} a ({high} a).")


def _general(layer: Layer, node: Apply) -> None:
    """A general differentiable function of whole tensors and its Jacobian, with what derivative means for it."""
    name = layer.names.new(node.name)
    layer.functions[node.name, ()] = name
    arguments = [tuple(var.dim for var in argument.vars) for argument in node.arguments]
    types = ["nat -> " * len(dims) + "R" for dims in arguments]
    takes = "".join(f"({kind}) -> " for kind in types)
    outs = "nat -> " * len(node.dims)
    layer.header.append(f"Variable {name} : {takes}{outs}R.")
    scope = layer.scope()
    given, conditions, total = [], [], []
    inner = tuple(Var("o", dim) for dim in node.dims)
    with scope.bound(*inner) as out_names:
        ranges = forall(out_names, [scope.size(dim) for dim in node.dims])
        at = " ".join(f"(a{k} t)" for k in range(len(arguments)))
        for k, dims in enumerate(arguments):
            jacobian = layer.names.new(f"J_{node.name}" + (f"_{k + 1}" if len(arguments) > 1 else ""))
            layer.functions[node.name, (k,)] = jacobian
            layer.header.append(f"Variable {jacobian} : {takes}{outs}{'nat -> ' * len(dims)}R.")
            variables = tuple(Var("k", dim) for dim in dims)
            with scope.bound(*variables) as names:
                sizes = [scope.size(dim) for dim in dims]
                entry = " ".join((f"a{k} u", *names))
                velocity = " ".join((f"b{k}", *names))
                given.append(f"(a{k} : R -> {types[k]}) (b{k} : {types[k]})")
                conditions.append(f"({forall(names, sizes)}is_derive (fun u => {entry}) t ({velocity})) -> ")
                body = f"{' '.join((jacobian, at, *out_names, *names))} * {velocity}"
                for name_, size in reversed(list(zip(names, sizes, strict=True))):
                    body = f"sum {size} (fun {name_} => {body})"
                total.append(body)
        applied = " ".join((name, *(f"(a{k} u)" for k in range(len(arguments))), *out_names))
        quantified = "".join(f"forall {pair}, {condition}" for pair, condition in zip(given, conditions, strict=True))
        layer.header.append(
            f"Hypothesis {name}_derivative : forall (t : R), {quantified}"
            f"{ranges}is_derive (fun u => {applied}) t ({' + '.join(total)})."
        )
