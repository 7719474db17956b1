"""Pictures as files: SVG for pages and papers, PNG for slides. The same picture gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from symres.derivation.picture import Picture
from symres.errors import Unsupported

STYLE: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "STIXGeneral",
    "font.size": 11,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "mathtext.fontset": "stix",
    "svg.fonttype": "path",
    # Ids in the file come from this word instead of from chance.
    "svg.hashsalt": "symres",
}
# Okabe and Ito's colours, told apart also by those who do not see red and green as different.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def files(id: str, pictures: Iterable[Picture]) -> dict[str, bytes]:
    """Each picture of the derivation ``id`` as SVG and as PNG.

    Raises:
        Unsupported: if matplotlib is not installed.
    """
    made: dict[str, bytes] = {}
    for picture in pictures:
        for format, data in _drawn(picture, ("svg", "png")):
            made[f"{id}-{picture.name}.{format}"] = data
    return made


def svg(picture: Picture) -> str:
    """The picture as an SVG element to stand in a page, its caption read out by screen readers."""
    ((_, data),) = _drawn(picture, ("svg",))
    text = data.decode()
    return text[text.index("<svg") :]


def _drawn(picture: Picture, formats: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    try:
        import matplotlib
        from cycler import cycler
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise Unsupported("pictures need matplotlib", remedy="Install it: pip install 'symres[plots]'.") from None
    style: Any = {**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(picture.width, picture.height), layout="constrained")
        FigureCanvasAgg(figure)
        picture.draw(figure.add_subplot())
        for format in formats:
            stream = io.BytesIO()
            # A date would make every run another file.
            metadata = {"Date": None} if format == "svg" else {"Software": None}
            figure.savefig(stream, format=format, dpi=200, metadata=metadata)
            yield format, stream.getvalue()
