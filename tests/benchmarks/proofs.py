"""How long a proof for all sizes takes, beside what else there is.

``python -m tests.benchmarks.proofs`` prints a table and writes JSON with ``--json FILE``. Each figure is a median after
import; peers run in the same process, one that is not installed is named as such.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from symres.calculus.reverse import reverse
from symres.language.equality import Expanded, proved_equal
from symres.trace.run import trace_pair
from tests.verify import kinds_norm

LAYERS = {
    "LayerNorm [N, D]": (kinds_norm.ln, kinds_norm.ln_right, kinds_norm.LN),
    "BatchNorm [N, D]": (kinds_norm.bn, kinds_norm.bn_right, kinds_norm.BN),
    "RMSNorm [N, D]": (kinds_norm.rms, kinds_norm.rms_right, kinds_norm.RMS),
}


def median(work: Callable[[], Any], repeats: int) -> float:
    """The median time of some runs, in milliseconds, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def input_gradient(name: str) -> Callable[[], None]:
    """Derive the gradient by x from the traced layer and prove it equal to the hand-written closed form."""
    forward, backward, shapes = LAYERS[name]
    pair = trace_pair(forward, backward, shapes)
    upstream = dict(zip(pair.program.outputs, pair.upstream, strict=True))

    def run() -> None:
        sweep = reverse(pair.program, ["x"], upstream)
        claim = pair.claimed["x"]
        definitions = Expanded(sweep.definitions, upstream=upstream.values())
        if not proved_equal(claim.body, sweep.gradient("x").at(claim.vars), definitions):
            raise SystemExit(f"{name}: not proved")

    return run


def tensorgrad_layernorm() -> Callable[[], None] | None:
    """The same question to tensorgrad, over one vector: its language has no keepdims."""
    if find_spec("tensorgrad") is None:
        return None
    import sympy
    from tensorgrad import Derivative, Variable, functions

    def run() -> None:
        d = sympy.symbols("d")
        x = Variable("x", d)
        centred = x - functions.mean(x, dims={"d"}, keepdims=True)
        out = centred / functions.sqrt(functions.mean(centred * centred, dims={"d"}, keepdims=True))
        Derivative(out, x).full_simplify()

    return run


def seconds_of(code: str) -> float:
    """The time of a fresh interpreter that runs the code; the least of five."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    rows: dict[str, float | str] = {}
    for name in LAYERS:
        rows[f"symres, {name}: derive and prove, ms"] = round(median(input_gradient(name), options.repeats), 2)
    try:
        peer = tensorgrad_layernorm()
        rows["tensorgrad, LayerNorm [d]: derive and simplify, ms"] = (
            round(median(peer, 3), 1) if peer is not None else "not installed"
        )
    except Exception as problem:
        rows["tensorgrad, LayerNorm [d]: derive and simplify, ms"] = f"did not run: {type(problem).__name__}"
    base = seconds_of("import sympy, numpy")
    rows["import symres / import sympy, numpy"] = round(seconds_of("import symres") / base, 2)
    rows["symres --help / import sympy, numpy"] = round(
        seconds_of(
            "import sys; sys.argv = ['symres', '--help']\ntry:\n import symres.__main__\nexcept SystemExit: pass"
        )
        / base,
        2,
    )
    width = max(map(len, rows))
    print(f"Python {platform.python_version()}, {platform.machine()}")
    for name, value in rows.items():
        print(f"{name:<{width}}  {value}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
