"""The command line. Each command is thin: it reads its options, calls one room, prints, and gives the exit status."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import symres
from symres.cli import catalogue, functions
from symres.cli.console import report
from symres.errors import SymresError

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


# In the order in which the help lists them.
app.command("list")(catalogue.list_)
app.command()(catalogue.derive)
app.command()(functions.grad)
app.command()(functions.verify)
app.command()(catalogue.check)
app.command()(functions.recheck)
app.command()(catalogue.cite)
app.command()(catalogue.new)
app.command()(catalogue.plot)
app.command()(catalogue.site)


def main() -> None:
    """Run the command line; an error of symres is one message on stderr and an exit status, never a traceback."""
    try:
        app()
    except SymresError as error:
        sys.exit(report(error))
    except KeyboardInterrupt:
        sys.exit("symres: interrupted")
