"""The symbolic NumPy array: a view into a mutable buffer, whose contents are given entry by entry as a term.

A view maps its own index variables to index terms of the buffer, so that reading substitutes and writing inverts
(:mod:`symres.trace.writing`). What NumPy shares, two names of one array, a slice, a transpose, is shared here; what
NumPy copies is a new buffer. Operators and methods are rows of :mod:`symres.trace.registry`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from symres.errors import Unsupported
from symres.kernel.terms import ONE, ZERO, Fun, Num, Tensor, Term, Var, walk
from symres.language.constants import INFINITY
from symres.language.program import Axis, Value
from symres.trace import writing
from symres.trace.axes import length, shown, variables
from symres.trace.dtypes import OF_KIND, DType
from symres.trace.numbers import number
from symres.trace.registry import METHODS, call, unknown
from symres.trace.signals import NeedsConcreteSizes, notes
from symres.trace.sizes import Dim, integer, is_integer_like
from symres.trace.tidy import addends, at, pinned


class Buffer:
    """Memory: a value that is replaced when something is written; ``version`` counts the writes."""

    __slots__ = ("kind", "value", "version")

    def __init__(self, value: Value, kind: str) -> None:
        self.value, self.kind, self.version = value, kind, 0

    def replace(self, body: Term) -> None:
        """Write the whole buffer."""
        self.value = Value(self.value.axes, self.value.vars, body)
        self.version += 1


class Array:
    """A view ``self[vars] = buffer[index]`` with its own axes.

    ``scalar`` marks what NumPy returns as a scalar: results with no axes, which are immutable. ``increment`` is what
    in-place operators added to an array that was read by advanced indexing, so that ``p[rows, y] -= 1`` keeps its form.
    """

    __slots__ = ("axes", "buffer", "increment", "index", "scalar", "vars")
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, buffer: Buffer, axes: Sequence[Axis], names: Sequence[Var], index: Sequence[Term], scalar: bool = False
    ) -> None:
        self.buffer, self.axes, self.vars, self.index = buffer, tuple(axes), tuple(names), tuple(index)
        self.scalar = scalar
        self.increment: Array | None = None

    @classmethod
    def from_value(cls, value: Value, kind: str = "float", scalar: bool = False) -> Array:
        """A new array that owns its buffer."""
        return cls(Buffer(value, kind), value.axes, value.vars, value.vars, scalar)

    @classmethod
    def result(cls, axes: Sequence[Axis], names: Sequence[Var], body: Term, kind: str = "float") -> Array:
        """What an operation returns: a new array, or a scalar when there are no axes."""
        return cls.from_value(Value(tuple(axes), tuple(names), body), kind, scalar=not axes)

    @classmethod
    def symbol(cls, tensor: Tensor, axes: Sequence[Axis] | None = None) -> Array:
        """The array whose entries are those of a tensor; ``axes`` group its dimensions, by default one by one.

        A dimension of 1 needs no variable: its index is 0.
        """
        groups = [[atom for atom in axis if atom is not ONE] for axis in axes or [(dim,) for dim in tensor.dims]]
        names = [var for group in groups for var in variables(tuple(group))]
        rest = iter(names)
        entry = tensor(*(ZERO if dim is ONE else next(rest) for dim in tensor.dims))
        kind = tensor.kind if tensor.kind in ("bool", "int") else "float"
        return cls.result([tuple(group) for group in groups], names, entry, kind)

    # what it holds

    @property
    def value(self) -> Value:
        """The contents, entry by entry; assigning a value of the same axes writes it through the view."""
        base = self.buffer.value
        if self.index == base.vars:
            return Value(self.axes, self.vars, base.body)
        return Value(self.axes, self.vars, at(base.body, dict(zip(base.vars, self.index, strict=True))))

    @value.setter
    def value(self, value: Value) -> None:
        writing.write(self.buffer, self.vars, self.index, value.at(*self.vars))

    @property
    def kind(self) -> str:
        """``float``, ``int`` or ``bool``."""
        return self.buffer.kind

    @property
    def scalar_term(self) -> Term | None:
        """The one entry of an array without axes or with axes of length 1 only."""
        return None if self.vars else self.value.body

    @property
    def nameable(self) -> bool:
        """Whether the contents may stand as a named intermediate: real numbers, not masks, labels or −∞.

        An array that is filled place by place is not named either: a place that is read gives what was written there.
        """
        value = self.buffer.value
        places = (pinned(part, var) for part in addends(value.body) for var in value.vars)
        filled = any(isinstance(place, Num) for place in places)
        return self.kind == "float" and not filled and INFINITY() not in walk(value.body)

    # shape

    @property
    def shape(self) -> tuple[Any, ...]:
        """The lengths of the axes: ints where they are numbers, else symbolic integers."""
        return tuple(integer(length(axis)) for axis in self.axes)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def size(self) -> Any:
        """The number of entries; in PyTorch's code the method that gives the shape or one length."""
        if notes().torch:
            return lambda axis=None: self.shape if axis is None else self.shape[axis]
        return integer(length(tuple(dim for axis in self.axes for dim in axis)))

    @property
    def dtype(self) -> DType:
        """The data type."""
        return OF_KIND[self.kind]

    @property
    def strides(self) -> tuple[Any, ...]:
        """A symbol for the stride of each axis, for ``as_strided``."""
        result: tuple[Any, ...] = call("strides", self)
        return result

    def __class_getitem__(cls, item: Any) -> type[Array]:
        return cls

    @property
    def T(self) -> Array:  # noqa: N802
        """The transpose, a view."""
        result: Array = call("transpose", self)
        return result

    @property
    def at(self) -> Any:
        """JAX's updates that leave the array alone: ``x.at[key].add(v)``."""
        return call("updates", self)

    @property
    def real(self) -> Array:
        """The array itself: all arrays are real."""
        return self

    def __len__(self) -> Any:
        if not self.axes:
            raise TypeError("len() of unsized object")
        size = self.shape[0]
        if isinstance(size, Dim):
            raise NeedsConcreteSizes(f"len() of an array of length {size!r}")
        return size

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    # reading and writing

    def __getitem__(self, key: Any) -> Any:
        return call("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        call("setitem", self, key, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        method = METHODS.get(name)
        if method is None:
            raise unknown(f"the array method or attribute .{name}", name, METHODS)

        def bound(*args: Any, **kwargs: Any) -> Any:
            return method(self, *args, **kwargs)

        return bound

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        return call(name, *inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        owner = (getattr(func, "__module__", "") or "").removeprefix("numpy").lstrip(".")
        prefix = f"{owner}." if owner in ("linalg", "fft", "random") else ""
        return call(prefix + func.__name__, *args, **kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Unsupported("a symbolic array is converted to numbers by a function that symres does not know")

    def __bool__(self) -> bool:
        term = self.scalar_term
        if term is None:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        if isinstance(term, Num):
            return term.value != 0
        if isinstance(term, Fun) and term.name in ("step", "eq0"):
            raise Unsupported("a branch on data: which way it goes depends on the values of arrays")
        raise Unsupported("a branch on data: the truth of an expression of array entries")

    def __index__(self) -> int:
        term = self.scalar_term
        if isinstance(term, Num) and self.kind == "int":
            return int(term.value)
        raise Unsupported("an array entry is needed as an integer")

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        raise Unsupported("an array entry is needed as a Python float")

    def __copy__(self) -> Array:
        result: Array = call("copy", self)
        return result

    def __deepcopy__(self, memo: Any) -> Array:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"Array{shown(self.axes)}[{self.kind}] {self.value.body!r}"


def _operators() -> None:
    """Give Array its operators: each is the ufunc of that name."""
    binary = {
        "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
        "mod": "remainder", "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
        "xor": "bitwise_xor",
    }  # fmt: skip
    for short, ufunc in binary.items():
        setattr(Array, f"__{short}__", lambda self, other, ufunc=ufunc: call(ufunc, self, other))
        setattr(Array, f"__r{short}__", lambda self, other, ufunc=ufunc: call(ufunc, other, self))
        setattr(Array, f"__i{short}__", lambda self, other, ufunc=ufunc: call("inplace", ufunc, self, other))
    compared = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
    for short, ufunc in compared.items():
        setattr(Array, f"__{short}__", lambda self, other, ufunc=ufunc: call(ufunc, self, other))
    for short, ufunc, otherwise in (("eq", "equal", False), ("ne", "not_equal", True)):
        setattr(
            Array,
            f"__{short}__",
            lambda self, other, ufunc=ufunc, otherwise=otherwise: (
                otherwise if other is None or isinstance(other, str) else call(ufunc, self, other)
            ),
        )
    unary = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
    for short, ufunc in unary.items():
        setattr(Array, f"__{short}__", lambda self, ufunc=ufunc: call(ufunc, self))


_operators()


def as_array(value: Any) -> Array:
    """A symbolic array from an array, a number, a symbolic integer, or nested lists of them.

    Raises:
        Unsupported: for anything else.
    """
    if isinstance(value, Array):
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return Array.result((), (), Num(int(value)), "bool")
    if is_integer_like(value):
        return Array.result((), (), value.term if isinstance(value, Dim) else number(value), "int")
    if isinstance(value, (list, tuple)) and value:
        result: Array = call("stack", value)
        return result
    if hasattr(value, "tolist") and hasattr(value, "ndim"):
        kind = {"b": "bool", "i": "int", "u": "int"}.get(value.dtype.kind, "float")
        made = as_array(value.tolist())
        return made if made.kind == kind else call("astype", made, kind)
    if isinstance(value, Term):
        return Array.result((), (), value)
    if value is None or isinstance(value, (str, bytes, list, tuple, dict, complex)):
        raise Unsupported(f"{value!r} is used as an array")
    return Array.result((), (), number(value))
