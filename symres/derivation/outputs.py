"""Names of outputs and of the gradients that arrive at them, none of which is taken by something else."""

from __future__ import annotations

from dataclasses import replace

from symres.kernel.terms import Entry, Tensor, Term, transform
from symres.language.program import Program


def upstream_tensors(program: Program, name: str) -> dict[str, Tensor]:
    """The gradient at each output: ``name`` where there is one output, else ``d`` and the name of the output."""
    taken = _taken(program)
    wanted = {output: name if len(program.outputs) == 1 else f"d{output}" for output in program.outputs}
    return {
        output: Tensor(
            _free((wanted[output], f"grad_{output}", "upstream"), taken), tuple(var.dim for var in value.vars)
        )
        for output, value in program.outputs.items()
    }


def without_loss(program: Program) -> Program:
    """The output named ``loss`` under another name: the loss is the function of it that is differentiated."""
    if "loss" not in program.outputs:
        return program
    new = _free(("y", "out", "objective"), _taken(program))

    def renamed(node: Term) -> Term | None:
        own = isinstance(node, Entry) and node.tensor.name == "loss"
        return Entry(replace(node.tensor, name=new), node.children) if own else None  # type: ignore[attr-defined]

    definitions = {}
    for tensor, each in program.definitions.items():
        named = replace(tensor, name=new) if tensor.name == "loss" else tensor
        definitions[named] = replace(each, tensor=named, body=transform(each.body, renamed))
    outputs = {
        new if name == "loss" else name: replace(value, body=transform(value.body, renamed))
        for name, value in program.outputs.items()
    }
    return replace(program, definitions=definitions, outputs=outputs)


def _taken(program: Program) -> set[str]:
    return {*program.inputs, *program.outputs, *(tensor.name for tensor in program.definitions)}


def _free(names: tuple[str, ...], taken: set[str]) -> str:
    """The first name that is not taken; the last one with more underscores if all are."""
    last = names[-1]
    while last in taken:
        last += "_"
    return next(name for name in (*names[:-1], last) if name not in taken)
