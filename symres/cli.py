"""The command line. Each command is thin: it reads its options, calls one room, prints, and gives the exit status."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import symres
from symres import catalogue, workers
from symres.console import (
    CORES,
    FAILED,
    OK,
    STATUS_OF_VERDICT,
    All,
    AsJson,
    Fixed,
    Folder,
    Ids,
    Jobs,
    Shapes,
    chosen,
    function,
    print_json,
    report,
    values,
    with_progress,
)
from symres.errors import SymresError, UsageError

app = typer.Typer(
    name="symres",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 proved, all good; 1 refuted, or a check failed; 3 undecided; 2 wrong use.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"symres {symres.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Derives the backward passes of layers written in NumPy, for every size, proves them, and typesets the proofs.

    **Three doors.**

    A theorem of the catalogue, as a document: `symres derive layernorm-backward -o out`

    Your forward function, to get its gradient: `symres grad layer.py:forward --shapes "x: B D, w: D"`

    Your backward function, proved or refuted: `symres verify layer.py:forward layer.py:backward --shapes "x: B D"`

    `grad` and `verify` run the functions you name as Python, in this process.
    """


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """Show the catalogue: id, kind, verdict, statement, sources."""
    entries = list(catalogue.entries().values())
    if as_json:
        return print_json([entry.summary() for entry in entries])
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("id", "kind", "verdict", "statement", "sources"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "id")
    for entry in entries:
        table.add_row(entry.id, entry.kind, entry.verdict, entry.title, ", ".join(key for key, _ in entry.sources))
    return Console().print(table)


@app.command()
def derive(
    ids: Ids = None,
    every: All = False,
    output: Folder = Path("out"),
    format: Annotated[str, typer.Option(help="tex, pdf, html, md, ipynb, bib, json, v: a list, or all.")] = "tex",
    jobs: Jobs = CORES,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make everything anew; do not use kept results.")] = False,
) -> None:
    """Derive theorems of the catalogue, check every step with both judges, and write the proofs.

    `symres derive layernorm-backward -o out` writes a LaTeX article and a fragment for `\\input`.

    `symres derive --all -o out --format tex,html` writes all of them, on all cores.
    """
    from symres.export import formats
    from symres.export.files import inside, output_folder, write_whole

    wanted = formats(format)
    ids = chosen(ids, every)
    output_folder(output)
    status = OK
    for id, made in with_progress(partial(workers.made, formats=wanted, fresh=fresh), ids, jobs, "derived"):
        if isinstance(made, Exception):
            status = max(status, report(made, f"{id}: "))
            continue
        for name, data in made.files.items():
            write_whole(inside(output, name), data)
        print(f"{id}: {made.verdict}, " + ("both judges agree" if made.passed else "a check FAILED"))
        print("".join(f"  {output / name}\n" for name in made.files), end="")
        status = max(status, OK if made.passed else FAILED)
    raise typer.Exit(status)


@app.command()
def grad(
    target: Annotated[str, typer.Argument(metavar="FILE.py:FUNC")],
    wrt: Annotated[str, typer.Option(help="Arguments to differentiate by; by default every float array.")] = "",
    shapes: Shapes = "",
    fixed: Fixed = None,
    format: Annotated[str, typer.Option(help="tex, md, py or json.")] = "md",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write to.")] = None,
) -> None:
    """Derive the gradient of a NumPy function, for symbolic sizes. The function is run as Python, in this process.

    `symres grad layer.py:forward --shapes "x: B D, gamma: D"` prints it as Markdown.

    `symres grad layer.py:forward --shapes "x: B D" --format py -o backward.py` writes a NumPy function.
    """
    from symres.export.files import write_whole

    writers = {"tex": "to_latex", "md": "to_markdown", "py": "to_numpy", "json": "certificate"}
    if format not in writers:
        raise UsageError(f"there is no format {format!r}", remedy=f"The formats of grad are {', '.join(writers)}.")
    names = tuple(name.strip() for name in wrt.split(",")) if wrt else None
    result = symres.gradient(function(target), wrt=names, shapes=shapes or None, set=values(fixed))
    text = getattr(result, writers[format])()
    text = text if isinstance(text, str) else json.dumps(text, indent=1, ensure_ascii=False)
    if output is None:
        print(text)
    else:
        write_whole(output, text.rstrip("\n") + "\n")


@app.command()
def verify(
    forward: Annotated[str, typer.Argument(metavar="FILE.py:FORWARD", help="Or a class with both methods.")],
    backward: Annotated[str | None, typer.Argument(metavar="FILE.py:BACKWARD")] = None,
    shapes: Shapes = "",
    grads: Annotated[str, typer.Option(help="Which argument each result belongs to, in order: x,gamma,beta.")] = "",
    fixed: Fixed = None,
    timeout: Annotated[float, typer.Option(help="Seconds the functions may run.")] = 60.0,
    certificate: Annotated[Path | None, typer.Option(help="Write a certificate (.json) or a Coq proof (.v).")] = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute a backward function, for every size. Both functions are run as Python, in this process.

    `symres verify ln.py:forward ln.py:backward --shapes "x: N D, gamma: D, beta: D"`

    `symres verify ln.py:LayerNorm --shapes "x: N D, gamma: D, beta: D"`

    `symres verify bn.py:forward bn.py:backward --shapes "x: N D" --set 'bn_param={"mode": "train"}'`
    """
    from symres.export.files import write_whole

    verdict = symres.verify(
        function(forward),
        function(backward) if backward else None,
        shapes=shapes or None,
        grads=tuple(name.strip() for name in grads.split(",")) if grads else None,
        set=values(fixed),
        timeout=timeout,
    )
    if certificate is not None:
        write_whole(certificate, verdict.certificate(certificate.suffix.lstrip(".")))
    if as_json:
        print_json(verdict.to_json())
    else:
        from rich.console import Console

        console = Console()
        console.print(verdict.report(console.width))
    raise typer.Exit(STATUS_OF_VERDICT[verdict.verdict])


@app.command()
def check(
    ids: Ids = None,
    every: All = False,
    against: Annotated[str, typer.Option(help="numpy, jax, torch: a list.")] = "numpy",
    as_json: AsJson = False,
    jobs: Jobs = CORES,
) -> None:
    """Check derivations numerically: the derived code against references and finite differences, at random sizes."""
    libraries = tuple(name.strip() for name in against.split(","))
    results, status = {}, OK
    for id, found in with_progress(partial(workers.checked, against=libraries), chosen(ids, every), jobs, "checked"):
        if isinstance(found, Exception):
            status = max(status, report(found, f"{id}: "))
            continue
        results[id] = found
        status = max(status, OK if all(row["passed"] for row in found) else FAILED)
        if not as_json:
            for row in found:
                error = "" if row["error"] is None else f", largest relative error {row['error']:.1e}"
                print(f"{id}: {row['method']}: {'passed' if row['passed'] else 'FAILED'}{error}")
    if as_json:
        print_json(results)
    raise typer.Exit(status)


@app.command()
def recheck(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Certificates; .v with --with coq.")],
    judge: Annotated[str, typer.Option("--with", help="judge (exact, over a prime field) or coq.")] = "judge",
) -> None:
    """Check finished certificates again, with a judge that shares no code with the prover.

    `symres derive layernorm-backward --format json -o out && symres recheck out/layernorm-backward.json`
    """
    from symres.judge import JUDGES

    if judge not in JUDGES:
        raise UsageError(f"there is no judge {judge!r}", remedy=f"The judges are {', '.join(JUDGES)}.")
    status = OK
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        refusal = JUDGES[judge](text)
        print(f"{file}: " + (f"refused: {refusal}" if refusal else "accepted"))
        status = max(status, FAILED if refusal else OK)
    raise typer.Exit(status)


@app.command()
def cite(
    ids: Annotated[list[str], typer.Argument(metavar="ID...")],
    format: Annotated[str, typer.Option(help="bibtex or csl (JSON).")] = "bibtex",
) -> None:
    """Print what to cite: the derivation, with its version and hash, and its sources."""
    from symres.export.bibliography import cite as citation

    print(citation([catalogue.derive(id) for id in ids], format))


@app.command()
def new(id: str, folder: Folder = Path("derivations")) -> None:
    """Write a new derivation file to fill in."""
    from symres.export.files import inside, write_whole

    name, text = catalogue.template(id)
    path = inside(folder, name)
    if path.exists():
        raise UsageError(f"{path} is there already", remedy="Give another folder with -o.")
    print(write_whole(path, text))


@app.command()
def site(output: Folder, jobs: Jobs = CORES) -> None:
    """Write the catalogue as a web site that needs no server and no network."""
    from symres.export import site as pages
    from symres.export.files import inside, output_folder, write_whole

    output_folder(output)
    views, status = [], OK
    for id, page in with_progress(workers.page, chosen(None, True), jobs, "pages"):
        if isinstance(page, Exception):
            status = max(status, report(page, f"{id}: "))
        else:
            views.append(page)
    for name, data in pages.files(views).items():
        write_whole(inside(output, name), data)
    print(output / "index.html")
    raise typer.Exit(status)


def main() -> None:
    """Run the command line; an error of symres is one message on stderr and an exit status, never a traceback."""
    try:
        app()
    except SymresError as error:
        sys.exit(report(error))
    except KeyboardInterrupt:
        sys.exit("symres: interrupted")
