"""Names of PyTorch and JAX that surround array code: base classes and decorators; and files that import what is missing.

A file written for PyTorch or JAX can be read where they are not installed: while it is run, the missing modules are
placeholders, whose names the trace replaces by its stand-ins as it does for the real ones.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from symres.trace.modules import MODULES, Module

FRAMEWORKS = ("torch", "jax", "cupy", "autograd", "numba")


class Function:
    """``torch.autograd.Function``."""

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call ``forward`` with a context that is not kept."""
        from symres.trace.layers import Context

        return cls.forward(Context(), *args, **kwargs)  # type: ignore[attr-defined]


class Layer:
    """``torch.nn.Module`` as far as code that writes its own backward pass uses it."""

    training = True

    def __init__(self) -> None:
        """Nothing to prepare."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)  # type: ignore[attr-defined]


def unchanged(*args: Any, **kwargs: Any) -> Any:
    """A decorator that changes nothing of what a function computes, with arguments or without."""
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0]
    return unchanged


def _parameter(data: Any, requires_grad: bool = True) -> Any:
    return data


_DECORATORS: Mapping[str, Any] = dict.fromkeys(
    ("jit", "njit", "checkpoint", "remat", "custom_vjp", "vectorize"), unchanged
)
_AUTOGRAD = {"Function": Function, "once_differentiable": unchanged, "no_grad": unchanged}

MODULES |= {
    "torch.autograd": Module("torch.autograd", "none.", _AUTOGRAD),
    "torch.autograd.function": Module("torch.autograd.function", "none.", _AUTOGRAD),
    "torch.jit": Module("torch.jit", "none.", {"script": unchanged}),
    "torch.nn": Module("torch.nn", "none.", {"Module": Layer, "Parameter": _parameter}),
    "jax": Module("jax", "none.", _DECORATORS),
    "numba": Module("numba", "none.", _DECORATORS),
}


class Placeholder:
    """A name of a module that is not installed: it can be named, called, used as a decorator and as a base class."""

    def __init__(self, home: str, name: str) -> None:
        self.__module__, self.__name__ = home, name

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self.__module__}.{self.__name__}", name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (Layer if self.__name__ == "Module" else Function,)


class _PlaceholderModule(ModuleType):
    __path__ = []  # noqa: RUF012  (what makes it a package)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        return _module(full) if full in MODULES else Placeholder(self.__name__, name)


def _module(name: str) -> ModuleType:
    return sys.modules.setdefault(name, _PlaceholderModule(name))


class _Finder:
    """Finds the missing frameworks and all of their submodules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A module specification for the names of missing frameworks."""
        root = name.split(".")[0]
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if root in FRAMEWORKS else None  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> ModuleType:
        """The placeholder."""
        return _PlaceholderModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


@contextmanager
def placeholders() -> Iterator[None]:
    """Let the import of frameworks that are not installed succeed; afterwards they are missing again."""
    before = set(sys.modules)
    finder: Any = _Finder()
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if isinstance(sys.modules[name], _PlaceholderModule):
                del sys.modules[name]
