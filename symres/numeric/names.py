"""Python names for arrays: those of the derivation where there are any, else what the array is."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable, Mapping

from symres.language.formula import ADJOINT
from symres.numeric.nodes import Node

_WORDS = {"²": "2", "ℓ": "loss", "·": "_", "̂": "_hat", "̄": "_bar", "̃": "_tilde", "′": "_prime", "'": "_prime"}


def identifier(name: str) -> str:
    """The tensor's name as a Python identifier: ``∂x`` is ``dx``, ``x̂`` is ``x_hat``, ``σ²`` is ``sigma2``."""
    if name.startswith(ADJOINT):
        return "d" + identifier(name[len(ADJOINT) :])
    words = []
    for sign in unicodedata.normalize("NFD", name):
        greek = unicodedata.name(sign, "").rpartition("LETTER ")[2].lower() if not sign.isascii() else ""
        words.append(sign if sign.isascii() and (sign.isalnum() or sign == "_") else _WORDS.get(sign, greek or "_"))
    result = "".join(words).replace(" ", "_").strip() or "t"
    result = f"t{result}" if result[0].isdigit() else result
    return f"{result}_" if keyword.iskeyword(result) else result


class Namer:
    """Gives each array a name of its own."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {"np", "math", "read", "each", "erf", *taken}

    def unique(self, name: str) -> str:
        """The name, with a number after it where it is taken."""
        candidate, k = name, 2
        while candidate in self._taken:
            candidate, k = f"{name}{'_' if name[-1].isdigit() else ''}{k}", k + 1
        self._taken.add(candidate)
        return candidate

    def name(self, node: Node, wanted: str | None, names: Mapping[Node, str]) -> str:
        """A new name: the wanted one, or one that says what the array is."""
        return self.unique(wanted or _describe(node, names))


def _describe(node: Node, names: Mapping[Node, str]) -> str:
    known = [names[arg] for arg in node.args if arg in names]
    one = known[0] if len(known) == len(node.args) == 1 else ""
    if node.op == "take" and known:
        return f"{known[0]}_windows" if len(node.labels) > len(node.args[0].labels) else f"{known[0]}_entries"
    if node.op == "arange":
        return node.labels[0].name
    if node.op in ("sum", "mean", "max") and one:
        return f"{node.op}_{one}"
    if node.op in ("fun", "unknown") and one and len(one) < 12:
        return f"{node.data[0]}_{one}"
    if node.op == "compare":
        return f"{known[0]}_mask" if known else "mask"
    if node.op == "pow" and one:
        return f"{one}_squared" if node.data[0] == 2 else f"root_{one}"
    if node.op == "mul" and node.args[0].kind == "bool" and node.args[1] in names:
        return f"masked_{names[node.args[1]]}"
    if node.kind == "int" and node.labels:
        return "index"
    if node.op == "sub" and known and node.args[1].op == "mean":
        return f"{known[0]}_centred"
    if node.op == "div" and node.args[0].op == "einsum" and node.args[1].op == "size":
        parts = [names[arg] for arg in node.args[0].args if arg in names]
        return "_".join(["mean", *parts]) if len("_".join(parts)) < 20 else "mean_product"
    if node.op == "einsum":
        return "_".join(["sum", *known]) if len(known) == 2 and len("_".join(known)) < 20 else "sum_product"
    return "t"
