"""Pictures of normalisation: what is averaged together, and what padding does to the statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symres.derivation.picture import Picture
from symres.kernel.terms import Entry, Sum, walk
from symres.trace import trace

SIZES = {"B": 3, "T": 4, "D": 5}
RIGHT, UP, BACK = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.5, 0.35])


def layer_mean(x: "B T D"):
    mu = x.mean(axis=-1)
    return mu


def batch_mean(x: "B T D"):
    mu = x.mean(axis=(0, 1))
    return mu


def instance_mean(x: "B T D"):
    mu = x.mean(axis=1)
    return mu


LAYERS: dict[str, Callable[..., Any]] = {
    "layer normalisation": layer_mean,
    "batch normalisation": batch_mean,
    "instance normalisation": instance_mean,
}


def averaged(layer: Callable[..., Any]) -> set[str]:
    """The sizes of the axes that the mean of a layer sums over, in its traced form."""
    (output,) = trace(layer).outputs.values()
    definitions = trace(layer).definitions.values()
    bodies = [output.body, *(each.body for each in definitions)]
    nodes = [node for body in bodies for node in walk(body)]
    reads = [node for node in nodes if isinstance(node, Entry) and node.tensor.name == "x"]
    bound = {node.var for node in nodes if isinstance(node, Sum)}
    return {repr(arg.dim) for read in reads for arg in read.args if arg in bound}


def cube(axes: Any, place: float, summed: set[str]) -> None:
    """The visible faces of the cube: features to the right, time upwards, batch to the back."""
    from matplotlib.patches import Polygon

    B, T, D = SIZES["B"], SIZES["T"], SIZES["D"]

    def face(b: int, t: int, d: int, start: Any, first: Any, second: Any) -> None:
        # Marked is what is averaged together with the entry at the front, top and right corner.
        at_corner = {"B": b == 0, "T": t == T - 1, "D": d == D - 1}
        marked = all(here or size in summed for size, here in at_corner.items())
        points = [start, start + first, start + first + second, start + second]
        axes.add_patch(Polygon(points, facecolor="#0072B2" if marked else "white", edgecolor="#555555", linewidth=0.8))

    origin = np.array([place, 0.0])
    for t in range(T):
        for d in range(D):
            face(0, t, d, origin + d * RIGHT + t * UP, RIGHT, UP)
    for b in range(B):
        for d in range(D):
            face(b, T - 1, d, origin + d * RIGHT + T * UP + b * BACK, RIGHT, BACK)
        for t in range(T):
            face(b, t, D - 1, origin + D * RIGHT + t * UP + b * BACK, BACK, UP)


def draw(axes: Any) -> None:
    """One cube for each layer."""
    step = SIZES["D"] + SIZES["B"] * BACK[0] + 1.5
    for number, (name, layer) in enumerate(LAYERS.items()):
        cube(axes, number * step, averaged(layer))
        axes.text(number * step + SIZES["D"] / 2, -1.3, name, ha="center")
    axes.text(SIZES["D"] / 2, -0.5, "features", ha="center", fontsize=9)
    axes.text(-0.25, SIZES["T"] / 2, "time", ha="right", va="center", fontsize=9, rotation=90)
    axes.text(SIZES["D"] + 0.9, 0.05, "batch", fontsize=9, rotation=33)
    axes.set_xlim(-1, len(LAYERS) * step)
    axes.set_ylim(-1.6, SIZES["T"] + SIZES["B"] * BACK[1] + 0.3)
    axes.set_aspect("equal")
    axes.axis("off")


AXES = Picture(
    "axes",
    "The entries of a tensor of batch, time and features that are averaged together with the one in the corner at the "
    "front, top and right: by layer normalisation the features of one token, by batch normalisation one feature of all "
    "tokens in the batch, by instance normalisation one feature of one sample over time.",
    draw,
    width=7.5,
    height=2.6,
)


def draw_padding(axes: Any) -> None:
    """The formulas of padding-bias, and the statistics of padded samples as NumPy computes them."""
    from symres.derivations.normalisation.padding_bias import biased_mean, biased_variance

    random = np.random.default_rng(1)
    real = random.normal(size=60)
    real = 1 + (real - real.mean()) / real.std()
    shares = np.linspace(0, 0.9, 91)
    for value, colour in ((0.0, "#0072B2"), (1.0, "#009E73"), (-2.0, "#D55E00")):
        axes.plot(shares, biased_mean(shares, 1.0, value), color=colour, label=f"padding {value:g}")
        axes.plot(shares, biased_variance(shares, 1.0, 1.0, value), color=colour, linestyle="--")
        for count in (10, 30, 60, 120, 240):
            padded = np.concatenate([real, np.full(count, value)])
            share = count / padded.size
            axes.plot([share, share], [padded.mean(), padded.var()], ".", color=colour)
    axes.axhline(1.0, color="#555555", linewidth=0.8)
    axes.set_xlabel("share of the padding, $q$")
    axes.set_ylabel("mean (—) and variance (- -)")
    axes.legend()


PADDING = Picture(
    "bias",
    "The mean (full lines) and the variance (broken lines) that batch normalisation sees, against the share of the padding, "
    "when the real entries have mean 1 and variance 1 and the padding is 0, 1 or −2. The dots are padded samples as NumPy "
    "computes them. No value of the padding keeps both at 1.",
    draw_padding,
)
