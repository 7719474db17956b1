"""The commands on the catalogue: list, derive, check, cite, new, plot, site."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from textwrap import fill, indent
from typing import Annotated

import typer

from symres import catalogue
from symres.cli import workers
from symres.cli.console import (
    CORES,
    FAILED,
    OK,
    All,
    AsJson,
    Folder,
    Ids,
    Jobs,
    Timeout,
    chosen,
    pairs,
    print_json,
    report,
    with_progress,
    worst,
)
from symres.errors import UsageError

CHOICES = ", ".join(workers.METHODS_AGAINST)


def list_(as_json: AsJson = False) -> None:
    """Show the catalogue: id, kind, verdict, statement, sources."""
    entries = list(catalogue.entries().values())
    if as_json:
        return print_json([entry.summary() for entry in entries])
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    colours = {"theorem": "green", "theorem under conditions": "yellow", "refuted": "red"}
    wide = max((len(entry.id) for entry in entries), default=0)
    for subject, group in groupby(entries, key=lambda entry: entry.subject):
        console.print(Text(subject, "bold"))
        for entry in group:
            line = Text.assemble(f"  {entry.id:<{wide}}  ", (entry.verdict, colours[entry.verdict]), f"  {entry.kind}")
            line.append("  " + ", ".join(key for key, _ in entry.sources), "dim")
            console.print(line)
            console.print(indent(fill(entry.title, max(console.width - 6, 20)), 6 * " "), markup=False)
    return None


def derive(
    ids: Ids = None,
    every: All = False,
    output: Folder = Path("out"),
    format: Annotated[str, typer.Option(help="tex, pdf, html, md, ipynb, bib, json, v: a list, or all.")] = "tex",
    width: Annotated[str, typer.Option(help="Width of a line: one or two columns, or ems.")] = "one",
    detail: Annotated[str, typer.Option(help="How much of the proof: statement, key or all.")] = "all",
    document_class: Annotated[str, typer.Option("--class", help="The class of the LaTeX article.")] = "article",
    prefix: Annotated[str, typer.Option(help="Before every label, to include a derivation twice.")] = "",
    rename: Annotated[list[str] | None, typer.Option(help="NAME=OTHER: print a name as another, x_hat=z.")] = None,
    numbered: Annotated[bool, typer.Option("--numbers/--no-numbers", help="Number and label the formulas.")] = True,
    listing: Annotated[bool, typer.Option("--listing", help="Print the NumPy reference as well.")] = False,
    pictures: Annotated[bool, typer.Option("--pictures", help="Show the pictures in HTML pages.")] = False,
    rests_on: Annotated[bool, typer.Option("--assumptions", help="Print what each rests on; write nothing.")] = False,
    timeout: Timeout = 300.0,
    memory: Annotated[int, typer.Option(min=64, help="Megabytes that one derivation may use.")] = 4096,
    jobs: Jobs = CORES,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make everything anew; do not use kept results.")] = False,
) -> None:
    """Derive theorems of the catalogue, check every step with both judges, and write the proofs.

    `symres derive layernorm-backward -o out` writes a LaTeX article and a fragment for `\\input`.

    `symres derive --all -o out --format tex,html` writes all of them, on all cores.
    """
    from symres.export import formats
    from symres.export.assumptions import assumptions
    from symres.export.files import inside, output_folder, write_whole
    from symres.export.paper import Options
    from symres.typeset.notation import Notation

    wanted = formats(format)
    options = Options(width, detail, document_class, prefix, numbered, Notation(overrides=pairs(rename)), listing)
    ids = chosen(ids, every)
    if rests_on:
        for id in ids:
            print(assumptions(catalogue.derive(id), catalogue.derive))
        return
    output_folder(output)
    status = OK
    one = partial(workers.made, formats=wanted, options=options, fresh=fresh, pictures=pictures)
    work = partial(workers.bounded, work=one, seconds=timeout, megabytes=memory)
    for id, made in with_progress(work, ids, jobs, "derived"):
        if isinstance(made, Exception):
            status = worst(status, report(made, f"{id}: "))
            continue
        for name, data in made.files.items():
            write_whole(inside(output, name), data)
        print(f"{id}: {made.verdict}; {'checked by' if made.passed else 'a check FAILED of'} {', '.join(made.judges)}")
        print("".join(f"  {output / name}\n" for name in made.files), end="")
        print("".join(f"  no {format}: {reason}\n" for format, reason in made.left_out.items()), end="")
        status = worst(status, OK if made.passed else FAILED)
    raise typer.Exit(status)


def check(
    ids: Ids = None,
    every: All = False,
    against: Annotated[str, typer.Option(help=f"A list of {CHOICES}.")] = "numpy",
    as_json: AsJson = False,
    jobs: Jobs = CORES,
) -> None:
    """Check derivations numerically: the derived code against references and finite differences, at random sizes."""
    libraries = tuple(name.strip() for name in against.split(","))
    for name in libraries:
        if name not in workers.METHODS_AGAINST:
            raise UsageError(f"nothing is checked against {name!r}", remedy=f"Choose from {CHOICES}.")
        if find_spec(name) is None:
            raise UsageError(f"{name} is not installed", remedy=f"Install it: python3 -m pip install {name}.")
    results, status = {}, OK
    for id, found in with_progress(partial(workers.checked, against=libraries), chosen(ids, every), jobs, "checked"):
        if isinstance(found, Exception):
            status = worst(status, report(found, f"{id}: "))
            continue
        results[id] = found
        status = worst(status, OK if all(row["passed"] for row in found) else FAILED)
        if not as_json:
            for row in found:
                error = "" if row["error"] is None else f", largest relative error {row['error']:.1e}"
                print(f"{id}: {row['judge']}, {row['method']}: {'passed' if row['passed'] else 'FAILED'}{error}")
    if as_json:
        print_json(results)
    raise typer.Exit(status)


def cite(
    ids: Annotated[list[str], typer.Argument(metavar="ID...")],
    format: Annotated[str, typer.Option(help="bibtex or csl (JSON).")] = "bibtex",
) -> None:
    """Print what to cite: the derivation, with its version and hash, and its sources."""
    from symres.export.bibliography import cite as citation

    print(citation([catalogue.derive(id) for id in ids], format))


def new(id: str, folder: Folder = Path("derivations")) -> None:
    """Write a new derivation file to fill in."""
    from symres.export.files import inside, write_whole

    name, text = catalogue.template(id)
    path = inside(folder, name)
    if path.exists():
        raise UsageError(f"{path} is there already", remedy="Give another folder with -o.")
    print(write_whole(path, text))


def plot(ids: Ids = None, every: All = False, output: Folder = Path("out"), jobs: Jobs = CORES) -> None:
    """Draw the pictures of derivations, from the checked expressions, as SVG and PNG."""
    from symres.export.files import inside, output_folder, write_whole

    ids = chosen(ids, every)
    output_folder(output)
    status = OK
    for id, drawn in with_progress(workers.drawn, ids, jobs, "drawn"):
        if isinstance(drawn, Exception):
            status = worst(status, report(drawn, f"{id}: "))
            continue
        for name, data in drawn.items():
            print(write_whole(inside(output, name), data))
        if not drawn and not every:
            print(f"{id} has no pictures")
    raise typer.Exit(status)


def site(output: Folder, jobs: Jobs = CORES) -> None:
    """Write the catalogue as a web site that needs no server and no network."""
    from symres.export import site as pages
    from symres.export.files import inside, output_folder, write_whole

    output_folder(output)
    views, status = [], OK
    for id, page in with_progress(workers.page, chosen(None, True), jobs, "pages"):
        if isinstance(page, Exception):
            status = worst(status, report(page, f"{id}: "))
        else:
            views.append(page)
    for name, data in pages.files(views).items():
        write_whole(inside(output, name), data)
    print(output / "index.html")
    raise typer.Exit(status)
