"""Small pieces of Coq text."""

from __future__ import annotations

from collections.abc import Sequence

from symres.kernel.terms import Tensor, Var


def binders(names: Sequence[str], sizes: Sequence[str] = ()) -> str:
    """``(b i : nat) ``; with sizes each index is followed by the hypothesis that it is in range. Ends with a space."""
    if not names:
        return ""
    if not sizes:
        return f"({' '.join(names)} : nat) "
    return "".join(f"{name} (H{name} : ({name} < {size})%nat) " for name, size in zip(names, sizes, strict=True))


def forall(names: Sequence[str], sizes: Sequence[str]) -> str:
    """``forall b, (b < N)%nat -> forall i, (i < D)%nat -> ``, empty without indices."""
    return "".join(f"forall {name}, ({name} < {size})%nat -> " for name, size in zip(names, sizes, strict=True))


def kind_of(tensor: Tensor) -> str:
    """The Coq type of a tensor."""
    return "nat -> " * len(tensor.dims) + ("nat" if tensor.kind == "int" else "R")


def braces(lines: Sequence[str]) -> list[str]:
    """The lines as a focused block."""
    return ["{", *(f"  {line}" for line in lines), "}"]


def free_variables(variables: Sequence[Var]) -> tuple[Var, ...]:
    """Index variables in the order of their names."""
    return tuple(sorted(variables, key=lambda var: (var.name, var.uid)))
