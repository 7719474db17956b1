"""How each kind of value of the user's is translated for a trace: one row each, the first that fits wins."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from symres.trace.builtins import BUILTINS
from symres.trace.frameworks import FRAMEWORKS
from symres.trace.modules import MODULES
from symres.trace.registry import FUNCTIONS
from symres.trace.rewrite import rewritten
from symres.trace.source import class_node, function_node, is_library

if TYPE_CHECKING:
    from symres.trace.world import World

Predicate = Callable[[Any], bool]
Translation = Callable[["World", Any], Any]

ROWS: list[tuple[Predicate, Translation]] = []


def _translates(predicate: Predicate) -> Callable[[Translation], Translation]:
    """Enter a row: values for which the predicate holds are translated by the function."""

    def enter(translation: Translation) -> Translation:
        ROWS.append((predicate, translation))
        return translation

    return enter


def names_in(code: CodeType) -> Iterator[str]:
    """The global names that code uses, in the functions inside it too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def _module_of(value: Any) -> str:
    return getattr(value, "__module__", None) or ""


# Importing the frameworks' names enters their modules into the table.
_ROOTS = tuple(FRAMEWORKS) + tuple(sorted({name.split(".")[0] for name in MODULES}))


def _of_stand_in(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__ in MODULES
    if isinstance(value, np.ufunc):
        return True
    if isinstance(value, (np.ndarray, np.generic)) or not isinstance(getattr(value, "__name__", None), str):
        return False
    return (callable(value) and _module_of(value).split(".")[0] in _ROOTS) or isinstance(value, BuiltinFunctionType)


@_translates(_of_stand_in)
def _stand_in(world: World, value: Any) -> Any:
    """A module of NumPy's kin, or a name imported from one."""
    if isinstance(value, ModuleType):
        return MODULES[value.__name__]
    home, name = _module_of(value), value.__name__
    if home and home.split(".")[0] not in _ROOTS:
        return value
    if isinstance(value, BuiltinFunctionType) and home == "builtins":
        return BUILTINS.get(name, value)
    if home in MODULES:
        return getattr(MODULES[home], name)
    known = name in FUNCTIONS or isinstance(value, np.ufunc)
    return getattr(MODULES["numpy"], name) if known or hasattr(np, name) else value


@_translates(lambda value: isinstance(value, (np.random.Generator, np.random.RandomState)))
def _generator(world: World, value: Any) -> Any:
    """A source of random numbers."""
    return MODULES["numpy.random"]


@_translates(lambda value: isinstance(value, ModuleType) and _is_users(value))
def _user_module(world: World, module: ModuleType) -> Any:
    return _LazyModule(world, module)


def _is_users(module: ModuleType) -> bool:
    filename = getattr(module, "__file__", None)
    return bool(filename) and not is_library(str(filename))


class _LazyModule:
    """A module of the user's, its attributes translated when they are read."""

    def __init__(self, world: World, module: ModuleType) -> None:
        self._world, self._module = world, module

    def __getattr__(self, name: str) -> Any:
        original = vars(self._module)
        if name not in original:
            raise AttributeError(f"module {self._module.__name__!r} has no attribute {name!r}")
        self._world.fill(iter((name,)), original)
        return self._world.globals_of(original)[name]


@_translates(lambda value: isinstance(getattr(value, "py_func", None), FunctionType))
def _compiled(world: World, value: Any) -> Any:
    """A function compiled by numba."""
    return world.translate(value.py_func)


@_translates(lambda value: isinstance(value, FunctionType) and not is_library(value.__code__.co_filename))
def _function(world: World, function: FunctionType) -> Any:
    node = function_node(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if node is None:
        return _unrewritten(world, function)
    body = rewritten(node)
    # A recursive local function is in its own closure; it is there before its translation is.
    contents = {name: world.translate(_content(cell)) for name, cell in cells.items() if _content(cell) is not function}
    holes = {name: None for name, cell in cells.items() if _content(cell) is function}
    new = world.build(body, function.__code__.co_filename, function.__globals__, {**contents, **holes})
    for name in holes:
        new.__closure__[new.__code__.co_freevars.index(name)].cell_contents = new
    new.__defaults__ = world.translate(function.__defaults__)
    new.__kwdefaults__ = world.translate(function.__kwdefaults__)
    return new


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _unrewritten(world: World, function: FunctionType) -> Any:
    closure = tuple(CellType(world.translate(_content(cell))) for cell in function.__closure__ or ())
    scope = world.globals_of(function.__globals__)
    new = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__ = function.__kwdefaults__
    world.remember(function, new)
    world.fill(names_in(function.__code__), function.__globals__)
    return new


@_translates(lambda value: isinstance(value, MethodType))
def _method(world: World, method: MethodType) -> Any:
    owner = world.translate(method.__self__)
    return getattr(owner, method.__name__, method)


@_translates(lambda value: isinstance(value, functools.partial))
def _partial(world: World, value: functools.partial[Any]) -> Any:
    keywords = {name: world.translate(one) for name, one in value.keywords.items()}
    return functools.partial(world.translate(value.func), *map(world.translate, value.args), **keywords)


@_translates(lambda value: callable(value) and not isinstance(value, type) and hasattr(value, "__wrapped__"))
def _wrapper(world: World, value: Any) -> Any:
    """What a decorator such as ``functools.lru_cache`` or ``jax.jit`` made of a function."""
    return world.translate(value.__wrapped__)


def _is_users_class(value: Any) -> bool:
    if not isinstance(value, type) or value.__module__ == "builtins":
        return False
    home = getattr(sys.modules.get(value.__module__), "__file__", None)
    if home is not None and is_library(home):
        return False
    found = class_node(value)
    return found is not None and not is_library(found[1])


@_translates(_is_users_class)
def _class(world: World, cls: type) -> Any:
    found = class_node(cls)
    if found is None:
        return cls
    node, filename = found
    module = sys.modules.get(cls.__module__)
    methods = [getattr(value, "__func__", value) for value in vars(cls).values()]
    functions = [value for value in methods if isinstance(value, FunctionType)]
    original = functions[0].__globals__ if functions else vars(module) if module else {}
    free = {
        name: world.translate(_content(cell))
        for function in functions
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        if name != "__class__"
    }
    new = world.build(rewritten(node), filename, original, free)
    world.remember(cls, new)
    return new


@_translates(lambda value: _is_users_class(type(value)))
def _instance(world: World, value: Any) -> Any:
    new = object.__new__(world.translate(type(value)))
    world.remember(value, new)
    for name, one in getattr(value, "__dict__", {}).items():
        new.__dict__[name] = world.translate(one)
    return new


@_translates(lambda value: type(value) in (tuple, list, dict))
def _container(world: World, value: Any) -> Any:
    new: Any
    if isinstance(value, tuple):
        return tuple(map(world.translate, value))
    if isinstance(value, list):
        new = []
        world.remember(value, new)
        new += map(world.translate, value)
    else:
        new = {}
        world.remember(value, new)
        new.update((key, world.translate(one)) for key, one in value.items())
    return new
