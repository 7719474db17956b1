"""symres: derives, proves and typesets the backward passes of neural-network layers, for every size.

The public names are loaded when they are first used, so that ``import symres`` costs next to nothing:

* :func:`derive` - a derivation of the catalogue by its id;
* :func:`gradient` - the gradient of a NumPy function, for symbolic sizes;
* :func:`verify` - proves or refutes a backward function written by hand;
* :func:`trace` - a NumPy function as index expressions;
* :func:`latex` - a NumPy function, or an expression, as LaTeX.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symres.api import derive as derive
    from symres.api import gradient as gradient
    from symres.api import latex as latex
    from symres.trace import trace as trace
    from symres.verify import verify as verify

__version__ = "0.1.0"

# In a copy of the repository the catalogue lies beside the package and not in it; python -m finds the copy first.
_ROOT = os.path.dirname(__path__[0])
if os.path.isfile(os.path.join(_ROOT, "derivations", "sources.bib")):
    __path__.append(_ROOT)

__all__ = ["__version__", "derive", "gradient", "latex", "trace", "verify"]

_HOMES = {
    "derive": "symres.api",
    "gradient": "symres.api",
    "latex": "symres.api",
    "trace": "symres.trace",
    "verify": "symres.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'symres' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__


def _shadowed(name: str) -> property:
    """The function ``name`` under the name of the room that holds it.

    Importing ``symres.verify`` binds that name on this package to the module; the property keeps it the function.
    ``from symres.verify import Verdict`` is not affected: it looks in ``sys.modules``.
    """
    return property(lambda self: __getattr__(name), lambda self, room: None)


class _Package(ModuleType):
    trace = _shadowed("trace")
    verify = _shadowed("verify")


sys.modules[__name__].__class__ = _Package
