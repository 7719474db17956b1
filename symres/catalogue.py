"""The catalogue: finds the derivations, reads what they say of themselves, and runs them.

A derivation file has a docstring, whose first paragraph is the title, and on its top level the literal constants
``ID``, ``SUBJECT``, ``KIND``, ``VERDICT`` and ``SOURCES`` (key of ``sources.bib`` to place in it), and a function
``build()`` that returns the :class:`~symres.derivation.document.Derivation`; it may have a function ``pictures()``.
The constants are read without running the file.
"""

from __future__ import annotations

import ast
import difflib
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from symres.errors import Place, SymresError, UsageError

if TYPE_CHECKING:
    from symres.derivation.document import Derivation
    from symres.derivation.picture import Picture

PACKAGE = "symres.derivations"
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CONSTANTS = ("ID", "SUBJECT", "KIND", "VERDICT", "SOURCES")

Result = TypeVar("Result")


@dataclass(frozen=True)
class Entry:
    """A derivation, as its file describes it. ``sources`` are pairs of a key and a place in that source."""

    id: str
    title: str
    subject: str
    kind: str
    verdict: str
    sources: tuple[tuple[str, str], ...]
    path: Path
    module: str

    def derive(self) -> Derivation:
        """Run the derivation: every step is checked while it is made.

        Raises:
            SymresError: if a step is refused, or the outcome is not what the file announces.
        """
        derivation: Derivation = self._run().build()
        for name in ("id", "kind", "verdict"):
            found, announced = getattr(derivation, name), getattr(self, name)
            if found != announced:
                raise SymresError(f"{self.path.name} announces the {name} {announced!r}, its derivation has {found!r}")
        return derivation

    def pictures(self) -> Sequence[Picture]:
        """The pictures of the derivation: what its file's ``pictures()`` gives, or none."""
        module = self._run()
        return tuple(module.pictures()) if hasattr(module, "pictures") else ()

    def _run(self) -> Any:
        try:
            return import_module(self.module)
        except SymresError:
            raise
        except Exception as error:
            from symres.trace.source import place_of

            place = place_of(error, [str(self.path)])
            raise SymresError(f"{self.path.name} raised {type(error).__name__}: {error}", place=place) from error

    def summary(self) -> dict[str, Any]:
        """What ``symres list --json`` prints of it."""
        sources = [{"key": key, "place": place} for key, place in self.sources]
        fields = {name: getattr(self, name) for name in ("id", "subject", "kind", "verdict")}
        return {**fields, "statement": self.title, "sources": sources}


def folder() -> Path:
    """The folder of the derivations, in the repository or in the installed package.

    Raises:
        UsageError: if symres is run from a copy that was never installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError("the catalogue is not installed", remedy="Install symres: python3 -m pip install .")
    return Path(spec.origin).parent


@cache
def entries() -> Mapping[str, Entry]:
    """All entries by id, in the order of their subjects and ids.

    Raises:
        UsageError: if a file lacks a constant or two files have the same id.
    """
    root = folder()
    found: dict[str, Entry] = {}
    for path in sorted(root.rglob("*.py")):
        if path.name.startswith("_"):
            continue
        entry = _read(path, root)
        if entry.id in found:
            raise UsageError(f"{path} and {found[entry.id].path} have the same id {entry.id!r}")
        found[entry.id] = entry
    return dict(sorted(found.items(), key=lambda item: (item[1].subject, item[0])))


def load(id: str) -> Entry:
    """The entry with this id.

    Raises:
        UsageError: if there is none; the nearest ids are named.
    """
    known = entries()
    if id not in known:
        near = difflib.get_close_matches(id, known, n=3, cutoff=0.4)
        remedy = f"Did you mean {' or '.join(near)}?" if near else "symres list shows all ids."
        raise UsageError(f"there is no derivation {id!r}", remedy=remedy)
    return known[id]


def derive(id: str) -> Derivation:
    """The derivation with this id, every step checked.

    Raises:
        UsageError: if there is no such id.
        SymresError: if a step is refused.
    """
    return load(id).derive()


def content(entry: Entry) -> list[bytes]:
    """All that the derivation is made from: its file, and those of the entries and helpers it names, in turn."""
    known = entries()
    helpers = {path.stem: path for path in folder().rglob("_*.py")}
    waiting, seen = [entry.path], {entry.path}
    while waiting:
        tree = ast.parse(waiting.pop().read_text(encoding="utf-8"))
        strings = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        imports = {
            name.rpartition(".")[2]
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in (getattr(node, "module", None) or "", *(alias.name for alias in node.names))
        }
        stems = {other.path.stem: other.path for other in known.values()} | helpers
        paths = {known[name].path for name in strings & known.keys()} | {stems[name] for name in imports & stems.keys()}
        waiting.extend(paths - seen)
        seen |= paths
    return [path.read_bytes() for path in sorted(seen)]


def run(work: Callable[[str], Result], ids: Iterable[str], jobs: int) -> Iterator[tuple[str, Result | Exception]]:
    """Call ``work(id)`` for each id, in ``jobs`` processes, and yield the results as they come.

    An error of one entry is a result like any other, so that it does not stop the rest.
    """
    ids = list(ids)
    if jobs <= 1 or len(ids) <= 1:
        for id in ids:
            yield id, _attempt(work, id)
        return
    with ProcessPoolExecutor(min(jobs, len(ids))) as pool:
        waiting = {pool.submit(_attempt, work, id): id for id in ids}
        for future in as_completed(waiting):
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield waiting[future], error if error is not None else future.result()


def template(id: str) -> tuple[str, str]:
    """The name and the text of a new derivation file.

    Raises:
        UsageError: if the id is taken or is not words of small letters and digits joined by hyphens.
    """
    if not _ID.fullmatch(id):
        raise UsageError(f"{id!r} is no id", remedy="An id is words of small letters and digits, joined by hyphens.")
    if id in entries():
        raise UsageError(f"the catalogue already has a derivation {id!r}")
    text = Path(__file__).with_name("export").joinpath("templates", "derivation.py.txt").read_text(encoding="utf-8")
    return f"{id.replace('-', '_')}.py", text.replace("{{id}}", id)


def _attempt(work: Callable[[str], Result], id: str) -> Result | SymresError:
    try:
        return work(id)
    except SymresError as error:
        # Only what the root of all errors holds goes on: more may not be able to leave its process.
        kind: type[SymresError] = next(
            each for each in type(error).__mro__ if each.__module__ == SymresError.__module__
        )
        return kind(error.message, remedy=error.remedy, place=error.place)
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = Place(Path(frame.filename).name, frame.lineno or 1, frame.line or "")
        return SymresError(f"internal error: {type(error).__name__}: {error}", place=place)


def _read(path: Path, root: Path) -> Entry:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    values: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in _CONSTANTS:
            try:
                values[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                raise UsageError(f"{path}:{node.lineno}: {node.targets[0].id} must be a literal") from None
    title = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split()).rstrip(".")
    missing = [name for name in _CONSTANTS if name not in values] + ([] if title else ["a docstring"])
    if missing:
        raise UsageError(f"{path} lacks {', '.join(missing)}", remedy="symres new ID writes a file with all of them.")
    module = ".".join((PACKAGE, *path.relative_to(root).with_suffix("").parts))
    sources = tuple(values["SOURCES"].items())
    return Entry(values["ID"], title, values["SUBJECT"], values["KIND"], values["VERDICT"], sources, path, module)
