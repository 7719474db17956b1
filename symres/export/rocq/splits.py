"""Proof scripts for expressions that were taken apart: see :mod:`symres.export.rocq.apart`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symres.errors import Unsupported
from symres.export.rocq.apart import log_atom
from symres.export.rocq.monomials import Poly
from symres.export.rocq.normal import Item
from symres.export.rocq.signs import positive
from symres.export.rocq.writing import braces
from symres.kernel.terms import Add, Entry, Fun, Mul, Pow, Term, add, mul, substitute, walk

if TYPE_CHECKING:
    from symres.export.rocq.scripts import Scripts


def split_script(scripts: Scripts, item: Item, poly: Poly) -> list[str]:
    """The proof that an item that was taken apart equals its normal form."""
    assert item.split is not None
    text = scripts.scope.text
    for node in walk(item.split):
        if isinstance(node, Entry):
            scripts.declare(node.tensor)
    inside = {"content": _content, "exp": _exponential, "explog": _explog, "log": _logarithm, "root": _root}[item.kind](
        scripts, item
    )
    return [
        f"transitivity ({text(item.body)}); [reflexivity|].",
        f"transitivity ({text(item.split)}).",
        *braces(inside),
        *scripts.equate(item.split, poly=poly),
    ]


def _argument(scripts: Scripts, entry: Entry) -> Term:
    """What a function item is a function of; of a denominator, the denominator."""
    item = scripts.algebra.items[entry.tensor]
    body = item.body.children[0] if isinstance(item.body, (Fun, Pow)) else item.body
    return substitute(body, dict(zip(item.vars, entry.args, strict=True)))


def _content(scripts: Scripts, item: Item) -> list[str]:
    factors = item.split.args if isinstance(item.split, Mul) else (item.split,)
    below = factors[-1]
    assert isinstance(below, Entry)
    opened = mul(*factors[:-1], _argument(scripts, below))
    words, name = scripts.scope.text(opened), scripts.scope.symbols[below.tensor].name
    return [f"transitivity ({words}).", *braces(scripts.equate(item.body, opened)), f"unfold {name}, Rdiv. ring."]


def _root(scripts: Scripts, item: Item) -> list[str]:
    factors = item.split.args if isinstance(item.split, Mul) else (item.split,)
    root = factors[-1]
    assert isinstance(root, Entry) and isinstance(item.body, Pow)
    outside, under = mul(*factors[:-1]), _argument(scripts, root)
    node = scripts.scope.lower(outside)
    proof = positive(node)
    if proof is None:
        raise Unsupported(f"the root of a square of {outside} is taken and nothing says that it is positive")
    words = scripts.scope.text(mul(outside, outside, under))
    left = scripts.scope.text(outside)
    return [
        f"transitivity (sqrt (({left}) * ({left}) * ({scripts.scope.text(under)}))).",
        *braces(
            [
                "apply f_equal.",
                f"transitivity ({words}).",
                *braces(scripts.equate(item.body.base, mul(outside, outside, under))),
                "unfold Rdiv. ring.",
            ]
        ),
        f"rewrite (sqrt_content _ _ ({proof} : 0 < {left})). reflexivity.",
    ]


def _exponential(scripts: Scripts, item: Item) -> list[str]:
    factors = item.split.args if isinstance(item.split, Mul) else (item.split,)
    pairs = [(f.base, int(f.exponent)) if isinstance(f, Pow) else (f, 1) for f in factors]
    assert isinstance(item.body, Fun)
    exponent = add(*(mul(count, _argument(scripts, entry)) for entry, count in pairs))  # type: ignore[arg-type]
    names = dict.fromkeys(scripts.scope.symbols[entry.tensor].name for entry, _ in pairs)  # type: ignore[union-attr]
    lines = [
        f"transitivity ({scripts.scope.text(Fun('exp', exponent))}).",
        *braces(["apply f_equal.", *scripts.equate(item.body.args[0], exponent)]),
        f"unfold {', '.join(names)}. unfold Rminus, Rdiv.",
    ]
    if isinstance(exponent, Add):
        lines.append("rewrite !exp_plus.")
    if any(count < 0 for _, count in pairs):
        lines.append("rewrite !exp_opp.")
    for count in sorted({abs(count) for _, count in pairs} - {1}):
        lines.append(f"rewrite !(exp_times {count} {count}) by (simpl; lra).")
    return [*lines, "ring."]


def _explog(scripts: Scripts, item: Item) -> list[str]:
    assert isinstance(item.body, Fun) and item.split is not None
    arg, scope = item.body.args[0], scripts.scope
    log = log_atom(scripts.algebra.nf(arg), scripts.algebra.items)
    proof = positive(scope.lower(item.split))
    if log is None or proof is None:
        raise Unsupported(f"exp(log({item.split})) is taken and nothing says that the inside is positive")
    return [
        f"transitivity ({scope.text(Fun('exp', log))}).",
        *braces(["apply f_equal.", *scripts.equate(arg, log)]),
        f"unfold {scope.symbols[log.tensor].name}. apply exp_ln. exact ({proof}).",
    ]


def _logarithm(scripts: Scripts, item: Item) -> list[str]:
    assert isinstance(item.body, Fun) and item.same is not None
    scripts.declare(item.same.tensor)
    terms = item.split.args if isinstance(item.split, Add) else (item.split,)
    logs = [t for t in terms if isinstance(t, Entry) and _is_log(scripts, t)]
    rest = logs[0] if logs else None
    scope, whole = scripts.scope, _argument(scripts, item.same)
    aid = scope.text(Fun("exp", whole))
    product: Term = item.same
    if rest is None:
        script, words = "rewrite ln_exp.", aid
    else:
        remaining = _argument(scripts, rest)
        product = mul(remaining, item.same)
        node = scope.lower(remaining)
        proof = positive(node)
        if proof is None:
            raise Unsupported(f"the logarithm of {remaining} is taken apart and nothing says that it is positive")
        left = scope.text(remaining)
        words = f"({left}) * {aid}"
        script = f"rewrite (ln_times_exp _ _ ({proof} : 0 < {left})). unfold {scope.symbols[rest.tensor].name}."
    return [
        f"transitivity (ln ({words})).",
        "{",
        "  apply f_equal.",
        f"  transitivity ({scope.text(product)}); [|reflexivity].",
        *(f"  {line}" for line in scripts.equate(item.body.args[0], product)),
        "}",
        f"{script} unfold Rminus. ring.",
    ]


def _is_log(scripts: Scripts, entry: Entry) -> bool:
    item = scripts.algebra.items.get(entry.tensor)
    return item is not None and isinstance(item.body, Fun) and item.body.name == "log"
