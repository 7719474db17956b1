"""What the commands share: reading what the user names, showing progress, reporting errors."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from symres import catalogue
from symres.errors import BudgetExceeded, SymresError, Unsupported, UsageError

OK, FAILED, MISUSE, UNDECIDED = 0, 1, 2, 3
STATUS_OF_ERROR: dict[type[SymresError], int] = {UsageError: MISUSE, Unsupported: UNDECIDED, SymresError: FAILED}

Ids = Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Ids; `symres list` shows them.")]
All = Annotated[bool, typer.Option("--all", help="Every entry of the catalogue.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Timeout = Annotated[float, typer.Option(min=0.001, help="Seconds that one derivation may take.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes to use.")]
Folder = Annotated[Path, typer.Option("--output", "-o", help="The folder to write to; it is made when missing.")]
Shapes = Annotated[str, typer.Option(help='Shapes of the arguments: "x: B D, gamma: D, y: B int C, mask: B D bool".')]
Fixed = Annotated[
    list[str] | None, typer.Option("--set", help="NAME=VALUE in JSON: a fixed value, or no array at all.")
]
CORES = os.cpu_count() or 1

Result = TypeVar("Result")


def chosen(ids: Sequence[str] | None, every: bool) -> list[str]:
    """The ids asked for, each once, all of them known.

    Raises:
        UsageError: if none or both of ids and ``--all`` are given, or an id is unknown.
    """
    if bool(ids) == every:
        raise UsageError("give one id or several, or --all" + (", not both" if every else ""))
    return list(catalogue.entries()) if every else [catalogue.load(id).id for id in dict.fromkeys(ids or ())]


def with_progress(
    work: Callable[[str], Result], ids: Sequence[str], jobs: int, verb: str
) -> Iterator[tuple[str, Result | Exception]]:
    """Run ``work`` on each id and show on stderr, where it is a terminal, how far it is."""
    results = catalogue.run(work, ids, jobs)
    if len(ids) == 1 or not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(verb, total=len(ids))
        for id, result in results:
            progress.update(task, advance=1, description=f"{verb} {id}")
            yield id, result


def report(error: Exception, prefix: str = "") -> int:
    """Print an error of one entry on stderr and give its exit status; what is no error of ours is raised again."""
    if isinstance(error, BrokenExecutor):
        error = BudgetExceeded(
            "a worker process was ended from outside, as systems do that run out of memory",
            remedy="--jobs 1 needs the least of it.",
        )
    if not isinstance(error, SymresError):
        raise error
    print(f"symres: {prefix}{error}", file=sys.stderr)
    return next(STATUS_OF_ERROR[kind] for kind in type(error).__mro__ if kind in STATUS_OF_ERROR)


def worst(one: int, other: int) -> int:
    """The exit status that tells more: wrong use before a failure, a failure before an undecided case."""
    return max(one, other, key=(OK, UNDECIDED, FAILED, MISUSE).index)


def print_json(value: Any) -> None:
    """Print one JSON value."""
    print(json.dumps(value, indent=1, ensure_ascii=False))


def values(assignments: Sequence[str] | None) -> dict[str, Any]:
    """The arguments of ``--set``: ``eps=1e-5``, ``'bn_param={"mode": "train"}'``. The text is read as JSON, never run.

    Raises:
        UsageError: if it is not ``NAME=JSON``.
    """
    found: dict[str, Any] = {}
    for assignment in assignments or ():
        name, equals, text = assignment.partition("=")
        try:
            if not (equals and name.strip().isidentifier()):
                raise ValueError
            found[name.strip()] = json.loads(text)
        except ValueError:
            raise UsageError(
                f"--set {assignment!r} is not NAME=JSON", remedy="A string needs its quotes: --set 'mode=\"train\"'."
            ) from None
    return found


def pairs(assignments: Sequence[str] | None) -> dict[str, str]:
    """The names of ``--rename``: ``x_hat=z``.

    Raises:
        UsageError: if it is not ``NAME=OTHER``.
    """
    found: dict[str, str] = {}
    for assignment in assignments or ():
        name, equals, other = assignment.partition("=")
        if not (name and equals and other):
            raise UsageError(f"--rename {assignment!r} is not NAME=OTHER", remedy="Write --rename x_hat=z.")
        found[name] = other
    return found
