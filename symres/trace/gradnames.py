"""How people name gradients: ``dx``, ``d_x``, ``grad_x``, ``x_grad``, ``gx``, ``dL_dx`` all belong to ``x``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"d(?:[lL]|loss|[jJ]|[eE])_?d_?(.+)", r"d(?:loss|[lL])_(.+)", r"d_(.+)", r"d(.+)", r"grads?_(?:of_|wrt_)?(.+)",
        r"gradients?_(?:of_|wrt_)?(.+)", r"grad([A-Z].*)", r"g_(.+)", r"g(.+)", r"(.+)_grads?", r"(.+)_gradients?",
        r"(.+)_g", r"(.+)_bar", r"delta_?(.+)", r"(.+)grad", r"nabla_?(.+)", r"d_?(.+)_out",
    )
)  # fmt: skip
_UPSTREAM = re.compile(
    r"d_?(out|outs|outputs?|y|z|o|h|l|loss|res\w*|next|a|values?|top|upstream)\d*|(up|upstream|grad|grads|gradient|delta|"
    r"cotangent|ct|g|gy|dldy|top_diff|err|error)\d*|(grad|gradient|up|upstream|delta|cot)_\w+|\w+_(grad|bar|cotangent)|"
    r"d[lL]_?d_?\w+|d_\w+"
)
_CACHE = re.compile(r"\w*(cache|saved|ctx|context|residuals?|tape|memory|stash|state|store|tmp)s?_?", re.IGNORECASE)
_COLLECTION = re.compile(r"_?(d|grads?|gradients?|dparams?|d_params?|param_grads?|derivatives?)", re.IGNORECASE)


def upstream_like(name: str) -> bool:
    """Whether a parameter is named as the gradient of an output is."""
    return _UPSTREAM.fullmatch(name) is not None


def cache_like(name: str) -> bool:
    """Whether a parameter is named as what the forward pass keeps."""
    return _CACHE.fullmatch(name) is not None


def collection_like(name: str) -> bool:
    """Whether an attribute is named as a collection of gradients."""
    return _COLLECTION.fullmatch(name) is not None


def gradient_like(name: str, arguments: Iterable[str]) -> bool:
    """Whether a name is that of the gradient of one of the arguments."""
    return owner(name, tuple(arguments)) is not None


def stems(label: str) -> list[str]:
    """What may be left of a gradient's name without the sign of a gradient."""
    return [found.group(1) for pattern in _PATTERNS if (found := pattern.fullmatch(label))]


def owner(label: str, arguments: Sequence[str]) -> str | None:
    """The argument whose gradient the label names, if there is one."""
    for plain in (str, str.lower, _letters):
        for stem in stems(label):
            for name in arguments:
                if plain(stem) == plain(name):
                    return name
    return None


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
