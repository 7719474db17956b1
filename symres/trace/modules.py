"""Stand-ins for the modules that people's code imports: attributes are looked up in the table of NumPy names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symres.kernel.terms import Num, Term
from symres.language.constants import INFINITY, PI
from symres.language.functions import exp
from symres.trace import (
    applied,
    builtins,
    choosing,
    contractions,
    convolution,
    creation,
    drawing,
    filling,
    grids,
    indexing,
    joining,
    neural,
    norms,
    reductions,
    taking,
    windows,
)
from symres.trace.array import Array
from symres.trace.dtypes import DTYPES, OF_KIND, is_subtype, kind_of
from symres.trace.elementwise import UFUNC_NAMES
from symres.trace.registry import FUNCTIONS, call, lookup, unknown


class Ufunc:
    """A ufunc of the table: it is called, or has ``at``, ``outer`` and ``reduce``."""

    def __init__(self, name: str) -> None:
        self.name = self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call(self.name, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _function(f"{self.name}.{name}")


def _function(name: str) -> Any:
    return Ufunc(name) if name in UFUNC_NAMES else lookup(name)


def _finfo(dtype: Any = None) -> Any:
    """Machine constants of float64, as exact decimals."""
    import numpy

    return numpy.finfo(numpy.float64)


def _scalar(term: Term) -> Callable[[], Array]:
    return lambda: Array.result((), (), term)


_CONSTANTS: dict[str, Callable[[], Any]] = {
    "pi": _scalar(PI()),
    "e": _scalar(exp(Num(1))),
    "inf": _scalar(INFINITY()),
    "infty": _scalar(INFINITY()),
    "Inf": _scalar(INFINITY()),
    "newaxis": lambda: None,
}


@dataclass(frozen=True)
class Module:
    """A stand-in module: its own names first, then its submodules, then the table under a prefix."""

    name: str
    prefix: str = ""
    own: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self.own:
            return self.own[name]
        full = f"{self.name}.{name}"
        if full in MODULES:
            return MODULES[full]
        if self.prefix in ("", "math.") and name in _CONSTANTS:
            return _CONSTANTS[name]()
        if self.prefix + name not in FUNCTIONS:
            raise unknown(full, self.prefix + name, FUNCTIONS)
        return _function(self.prefix + name)


def _errstate(**_: Any) -> Any:
    from contextlib import nullcontext

    return nullcontext()


def _numpy_names() -> dict[str, Any]:
    names: dict[str, Any] = dict(DTYPES)
    names |= {"dtype": lambda name: OF_KIND[kind_of(name)], "issubdtype": is_subtype,
              "ndarray": Array, "generic": Array, "finfo": _finfo, "errstate": _errstate, "seterr": _errstate,
              "set_printoptions": _errstate, "ndim": lambda x: call("asarray", x).ndim,
              "shape": lambda x: call("asarray", x).shape, "size": lambda x: call("asarray", x).size,
              "isscalar": lambda x: not isinstance(x, Array) or x.scalar,
              "iterable": lambda x: hasattr(x, "__iter__")}  # fmt: skip
    return names


_MATH = {
    "sqrt": Ufunc("sqrt"), "exp": Ufunc("exp"), "log": Ufunc("log"), "tanh": Ufunc("tanh"), "sin": Ufunc("sin"),
    "cos": Ufunc("cos"), "erf": Ufunc("erf"), "pow": Ufunc("power"), "fabs": Ufunc("absolute"),
    "prod": FUNCTIONS["prod"], "floor": builtins.floor, "ceil": builtins.ceil,
}  # fmt: skip
_TORCH_NAMES = {"Tensor": Array, "FloatTensor": Array, "no_grad": _errstate}

MODULES: dict[str, Module] = {}
"""The stand-ins by the dotted name of the module they replace."""


TABLES = (
    applied, choosing, contractions, convolution, creation, drawing, filling, grids, indexing, joining, neural, norms,
    reductions, taking, windows,
)  # fmt: skip
"""The modules whose import fills the table."""


def _enter() -> None:
    numpy_names = _numpy_names()
    for name in ("numpy", "jax.numpy", "cupy", "autograd.numpy", "torch"):
        own = numpy_names | (_TORCH_NAMES if name == "torch" else {})
        MODULES[name] = Module(name, "", own)
        MODULES[f"{name}.linalg"] = Module(f"{name}.linalg", "linalg.")
        MODULES[f"{name}.random"] = Module(f"{name}.random", "random.")
        MODULES[f"{name}.lib"] = Module(f"{name}.lib", "lib.")
        MODULES[f"{name}.lib.stride_tricks"] = Module(f"{name}.lib.stride_tricks", "lib.stride_tricks.")
    for name in ("torch.nn.functional", "jax.nn", "scipy.special", "jax.scipy.special", "torch.special", "jax.lax"):
        MODULES[name] = Module(name)
    for name in ("torch.nn", "scipy", "jax.scipy", "jax", "autograd"):
        MODULES[name] = Module(name, "none.")
    for name, prefix in {"scipy.signal": "signal.", "scipy.stats": "none.", "scipy.stats.norm": "stats.norm.",
                         "scipy.linalg": "linalg."}.items():  # fmt: skip
        MODULES[name] = Module(name, prefix)
    MODULES["math"] = Module("math", "math.", _MATH)


_enter()
