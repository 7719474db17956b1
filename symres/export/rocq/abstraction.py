"""Normal forms up to the names of their free index variables: how equal expressions at different indices are found."""

from __future__ import annotations

from collections.abc import Callable

from symres.export.rocq.monomials import Component, Factor, Poly, Powers, atom_key, shown
from symres.kernel.terms import Var


def positions(order: tuple[Var, ...], variables: tuple[Var, ...]) -> tuple[int, ...]:
    """For each variable its place in ``order``."""
    return tuple(order.index(var) for var in variables) if set(variables) <= set(order) else ()


def abstract(poly: Poly, bound: tuple[Var, ...] = ()) -> tuple[str, tuple[Var, ...]]:
    """A text of the normal form that does not depend on the names of its free variables, and those variables in order."""
    fixed = {var: f"%{k}" for k, var in enumerate(bound)}

    def texts(label: Callable[[Var], str]) -> list[tuple[str, Powers]]:
        return sorted(
            ("*".join(sorted(f"{_text(f, label)}^{e}" for f, e in mono)) + f"*{c}", mono) for mono, c in poly.items()
        )

    def blank(var: Var) -> str:
        return fixed.get(var) or f"?{shown(var.dim)}"

    order: list[Var] = []
    for _, mono in sorted(texts(blank), key=lambda pair: pair[0]):
        for factor, _ in sorted(mono, key=lambda pair: _text(pair[0], blank)):
            for var in _appearing(factor):
                if var not in order and var not in fixed:
                    order.append(var)
    names = {**fixed, **{var: f"?{k}{shown(var.dim)}" for k, var in enumerate(order)}}
    return "+".join(text for text, _ in texts(lambda var: names.get(var, var.name))), tuple(order)


def _text(factor: Factor, label: Callable[[Var], str]) -> str:
    if not isinstance(factor, Component):
        return atom_key(factor, label)
    names = {var: f"${k}" for k, var in enumerate(factor.vars)}
    inner = sorted(f"{atom_key(f, lambda var: names.get(var) or label(var))}^{e}" for f, e in factor.factors)
    return f"~{','.join(shown(var.dim) for var in factor.vars)}:{'*'.join(inner)}"


def _appearing(factor: Factor) -> list[Var]:
    if isinstance(factor, Component):
        return [var for f, _ in factor.factors for var in _appearing(f) if var not in factor.vars]
    if isinstance(factor, Var):
        return [factor]
    return [var for arg in factor.children for var in _appearing(arg)]
