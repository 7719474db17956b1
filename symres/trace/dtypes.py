"""Data types as people's code names them; of each only the kind counts: ``float``, ``int`` or ``bool``."""

from __future__ import annotations

from typing import Any

from symres.errors import Unsupported
from symres.trace.registry import call

KINDS = ("bool", "int", "float")
_STARTS = {"bool": ("bool",), "int": ("int", "uint", "long"), "float": ("float", "double", "half", "bfloat", "f")}


class DType:
    """A data type: called on a number or an array it converts."""

    def __init__(self, name: str, kind: str) -> None:
        self.__name__ = self.name = name
        self.kind = kind
        self.type = self

    def __call__(self, value: Any = 0) -> Any:
        return call("convert", value, self.kind)

    def __eq__(self, other: object) -> bool:
        return getattr(other, "__name__", None) == self.name or str(getattr(other, "name", other)) == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __getitem__(self, item: Any) -> DType:
        return self

    def __repr__(self) -> str:
        return self.name


_NAMES = {
    "float": ("float16", "float32", "float64", "float128", "double", "single", "half", "longdouble", "floating",
              "bfloat16", "float_"),
    "int": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp", "long", "integer",
            "int_"),
    "bool": ("bool_", "bool"),
}  # fmt: skip
DTYPES: dict[str, DType] = {name: DType(name, kind) for kind, names in _NAMES.items() for name in names}
OF_KIND = {"float": DTYPES["float64"], "int": DTYPES["int64"], "bool": DTYPES["bool_"]}


def kind_of(dtype: Any) -> str:
    """The kind of a data type given by a type, a name or a NumPy dtype; ``float`` for ``None``.

    Raises:
        Unsupported: for complex numbers, strings and objects.
    """
    if dtype is None:
        return "float"
    if isinstance(dtype, DType):
        return dtype.kind
    text = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    text = text.rsplit(".", 1)[-1].lower()
    for kind, starts in _STARTS.items():
        if text.startswith(starts):
            return kind
    raise Unsupported(f"the data type {dtype!r}")


def is_subtype(dtype: Any, other: Any) -> bool:
    """``np.issubdtype``."""
    name = getattr(other, "__name__", "")
    return name in ("number", "generic") or kind_of(dtype) == kind_of(other)
