"""A mutation campaign: correct backward functions are damaged in small ways, and every verdict is compared with numbers.

A mutant that computes something else at random shapes must be refuted and never proved; one that computes the same must
never be refuted. Run ``python -m tests.benchmarks.mutations --count 2000`` for the whole campaign.
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import json
import random
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import symres
from symres.language.shapes import parse_shapes
from tests.verify import kinds_norm, kinds_rest

Case = tuple[Callable[..., Any], Callable[..., Any], str, str]
CASES: list[Case] = [
    (forward, backward, shapes, grads)
    for forward, backward, shapes, grads, wrong in (*kinds_norm.CASES, *kinds_rest.CASES)
    if not wrong
]
SET = {**kinds_norm.SET, **kinds_rest.SET}

_SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
_COMPARED = {ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Every single change of the function, as a description and the new source."""
    tree = ast.parse(source)
    names = sorted(
        {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    )
    count = sum(1 for _ in ast.walk(tree))
    for place in range(count):
        for kind in range(4):
            changed = copy.deepcopy(tree)
            node = list(ast.walk(changed))[place]
            what = _damage(node, kind, names)
            if what:
                yield f"line {getattr(node, 'lineno', 0)}: {what}", ast.unparse(ast.fix_missing_locations(changed))


def _damage(node: ast.AST, kind: int, names: list[str]) -> str:
    if isinstance(node, ast.BinOp):
        if kind == 0 and type(node.op) in _SWAPS:
            node.op = _SWAPS[type(node.op)]()
            return "operator"
        if kind == 1 and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            node.right, node.left = copy.deepcopy(node.left), copy.deepcopy(node.left)
            return "operand repeated"
        if kind == 2 and isinstance(node.op, (ast.Add, ast.Sub)):
            node.right = ast.BinOp(node.right, ast.Mult(), ast.Constant(0))
            return "dropped term"
        if kind == 3 and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            node.left = ast.UnaryOp(ast.USub(), node.left)
            return "sign"
    if isinstance(node, ast.Constant) and type(node.value) in (int, float) and kind < 2:
        node.value = node.value + 1 if kind == 0 else -node.value
        return "constant"
    if isinstance(node, ast.Compare) and kind == 0 and type(node.ops[0]) in _COMPARED:
        node.ops[0] = _COMPARED[type(node.ops[0])]()
        return "comparison"
    if isinstance(node, ast.Attribute) and kind == 0 and node.attr in ("sum", "mean"):
        node.attr = "mean" if node.attr == "sum" else "sum"
        return "sum and mean"
    if (
        isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in names
        and kind < 2
        and len(names) > 1
    ):
        node.id = names[(names.index(node.id) + 1 + kind) % len(names)]
        return "variable"
    return ""


def compiled(source: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """The mutant, in the module of the original; its source can be found by ``inspect``."""
    import linecache

    name = f"<mutant {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = dict(original.__globals__)
    exec(compile(source, name, "exec"), scope)
    found: Callable[..., Any] = scope[original.__name__]
    return found


def numbers(case: Case, backward: Callable[..., Any], seed: int) -> list[Any] | None:
    """The gradients at random inputs, or None where the code raises or the values are not finite."""
    forward, _, shapes, grads = case
    rng = np.random.default_rng(seed)
    sizes: dict[str, int] = {}
    arguments: dict[str, Any] = {}
    for name, shape in parse_shapes(shapes).items():
        lengths = []
        for axis in shape.axes:
            for size in axis:
                lengths.append(sizes.setdefault(str(size), int(rng.integers(2, 4)) * (2 if str(size) in "CL" else 1)))
        if shape.kind == "int":
            arguments[name] = rng.integers(0, sizes[str(shape.bound)], lengths)
        elif shape.kind == "bool":
            arguments[name] = rng.integers(0, 2, lengths).astype(bool)
        else:
            arguments[name] = rng.standard_normal(lengths)
    arguments |= SET.get(forward, {})
    try:
        with np.errstate(all="ignore"):
            *outputs, cache = forward(**arguments)
            upstream = [rng.standard_normal(np.shape(out)) for out in outputs]
            result = backward(*upstream, cache)
    except Exception:  # the mutant may do anything
        return None
    arrays = [np.asarray(one, dtype=float) for one in (result if isinstance(result, tuple) else (result,))]
    return arrays if all(np.all(np.isfinite(array)) for array in arrays) else None


def same(case: Case, backward: Callable[..., Any]) -> bool | None:
    """Whether the mutant computes what the original does, as far as numbers tell; None where it cannot be run."""
    compared = 0
    for seed in range(8):
        expected, found = numbers(case, case[1], seed), numbers(case, backward, seed)
        if expected is None:
            continue
        if found is None:
            return None
        compared += 1
        for one, other in zip(expected, found, strict=False):
            if one.shape != other.shape or np.max(np.abs(one - other), initial=0.0) > 1e-9 * (
                1 + np.max(np.abs(one), initial=0.0)
            ):
                return False
    return True if compared else None


def campaign(count: int, seed: int = 0, skip: int = 0) -> dict[str, Any]:
    """Judge ``count`` mutants after the first ``skip``; the result counts the verdicts on different and on equivalent ones."""
    rng = random.Random(seed)
    pool = [(case, what, text) for case in CASES for what, text in mutants(textwrap.dedent(inspect.getsource(case[1])))]
    rng.shuffle(pool)
    # When the single changes are used up, two at once follow.
    for case, what, text in list(pool):
        second = list(mutants(text))
        if second:
            other, twice = rng.choice(second)
            pool.append((case, f"{what}; {other}", twice))
    pool = pool[skip:]
    counts: Counter[str] = Counter()
    faults: list[str] = []
    undecided: list[str] = []
    start = time.perf_counter()
    for case, what, text in pool:
        if sum(counts.values()) >= count:
            break
        try:
            mutant = compiled(text, case[1])
        except SyntaxError:
            continue
        equivalent = same(case, mutant)
        if equivalent is None:
            continue
        forward, original, shapes, grads = case
        try:
            verdict = symres.verify(
                forward, mutant, shapes=shapes, grads=grads, set=SET.get(forward), timeout=30
            ).verdict
        except symres.errors.SymresError as problem:
            verdict = f"refused ({type(problem).__name__})"
        counts[f"{'equivalent' if equivalent else 'different'}: {verdict}"] += 1
        place = f"{original.__name__}, {what}"
        if verdict == ("refuted" if equivalent else "proved"):
            faults.append(f"{verdict}: {place}\n{text}")
        elif verdict not in ("proved", "refuted"):
            undecided.append(place)
    return {"counts": dict(counts), "faults": faults, "undecided": undecided, "seconds": time.perf_counter() - start}


def main() -> None:
    """Run a campaign and print its counts, and every fault in full."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0)
    options = parser.parse_args()
    result = campaign(options.count, options.seed, options.skip)
    print(json.dumps(result["counts"], indent=1))
    print(f"{result['seconds']:.0f} s, {len(result['undecided'])} undecided")
    for fault in [*result["faults"], *result["undecided"][:20]]:
        print(fault)


if __name__ == "__main__":
    main()
