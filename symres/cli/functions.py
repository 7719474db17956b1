"""The commands on functions that the user names, and on finished certificates: grad, verify, recheck."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

import symres
from symres.cli.console import (
    FAILED,
    OK,
    UNDECIDED,
    AsJson,
    Fixed,
    Shapes,
    print_json,
    values,
    worst,
)
from symres.errors import SymresError, UsageError


def grad(
    target: Annotated[str, typer.Argument(metavar="FILE.py:FUNC")],
    wrt: Annotated[str, typer.Option(help="Arguments to differentiate by; by default every float array.")] = "",
    shapes: Shapes = "",
    fixed: Fixed = None,
    format: Annotated[str, typer.Option(help="tex, md, py or json.")] = "md",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write to.")] = None,
) -> None:
    """Derive the gradient of a NumPy  for symbolic sizes. The function is run as Python, in this process.

    `symres grad layer.py:forward --shapes "x: B D, gamma: D"` prints it as Markdown.

    `symres grad layer.py:forward --shapes "x: B D" --format py -o backward.py` writes a NumPy function.
    """
    from symres.export.files import write_whole
    from symres.trace.source import load

    writers = {"tex": "to_latex", "md": "to_markdown", "py": "to_numpy", "json": "certificate"}
    if format not in writers:
        raise UsageError(f"there is no format {format!r}", remedy=f"The formats of grad are {', '.join(writers)}.")
    names = tuple(name.strip() for name in wrt.split(",")) if wrt else None
    result = symres.gradient(load(target), wrt=names, shapes=shapes or None, set=values(fixed))
    text = getattr(result, writers[format])()
    text = text if isinstance(text, str) else json.dumps(text, indent=1, ensure_ascii=False)
    if output is None:
        print(text.rstrip("\n"))
    else:
        write_whole(output, text.rstrip("\n") + "\n")
    failed = [f"{check.judge}, {check.method}: {check.detail}" for check in result.record if not check.passed]
    if failed:
        raise SymresError(f"a check of the result FAILED: {'; '.join(failed)}")


def verify(
    forward: Annotated[str, typer.Argument(metavar="FILE.py:FORWARD", help="Or a class with both methods.")],
    backward: Annotated[str | None, typer.Argument(metavar="FILE.py:BACKWARD")] = None,
    shapes: Shapes = "",
    grads: Annotated[str, typer.Option(help="Which argument each result belongs to, in order: x,gamma,beta.")] = "",
    fixed: Fixed = None,
    timeout: Annotated[float, typer.Option(help="Seconds the functions may run.")] = 60.0,
    certificate: Annotated[Path | None, typer.Option(help="Write a certificate, .json or .v, for `recheck`.")] = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute a backward function, for every size. Both functions are run as Python, in this process.

    `symres verify ln.py:forward ln.py:backward --shapes "x: N D, gamma: D, beta: D"`

    `symres verify ln.py:LayerNorm --shapes "x: N D, gamma: D, beta: D"`

    `symres verify bn.py:forward bn.py:backward --shapes "x: N D" --set 'bn_param={"mode": "train"}'`
    """
    from symres.export.files import write_whole
    from symres.trace.source import load

    verdict = symres.verify(
        load(forward),
        load(backward) if backward else None,
        shapes=shapes or None,
        grads=tuple(name.strip() for name in grads.split(",")) if grads else None,
        set=values(fixed),
        timeout=timeout,
    )
    if certificate is not None and verdict.certificate:
        write_whole(certificate, _certificate_text(verdict.certificate, certificate.suffix))
    if as_json:
        print_json(verdict.to_json())
    else:
        print(verdict.report(shutil.get_terminal_size().columns))
    raise typer.Exit(verdict.exit_status)


def recheck(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Certificates: .json, or .v with --with coq.")],
    judge: Annotated[str, typer.Option("--with", help="second (exact evaluation) or coq.")] = "second",
) -> None:
    """Check finished certificates again, with a judge that shares no code with the prover.

    `symres derive layernorm-backward --format json -o out && symres recheck out/layernorm-backward.json`
    """
    if judge not in JUDGES:
        raise UsageError(f"there is no judge {judge!r}", remedy=f"The judges are {', '.join(JUDGES)}.")
    status = OK
    for file in files:
        found, message = JUDGES[judge](file)
        print(f"{file}: {message}")
        status = worst(status, found)
    raise typer.Exit(status)


def _second_judge(file: Path) -> tuple[int, str]:
    from symres.judge.faults import Refused
    from symres.judge.recheck import recheck

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        report = recheck(text)
    except Refused as error:
        return FAILED, f"refused: {error}"
    if report.passed:
        sizes = max(len(result.sizes) for result in report.claims)
        return (
            OK,
            f"accepted: {len(report.claims)} claims, each exact at up to {sizes} choices of sizes (seed {report.seed})",
        )
    failed = any(result.verdict == "failed" for result in report.claims)
    return (FAILED, f"refused: {report.reason}") if failed else (UNDECIDED, f"undecided: {report.reason}")


def _coq(file: Path) -> tuple[int, str]:
    from symres.export.rocq import recheck

    report = recheck(file)
    return (OK if report.accepted else FAILED), str(report)


JUDGES: dict[str, Callable[[Path], tuple[int, str]]] = {"second": _second_judge, "coq": _coq}


def _certificate_text(certificate: Mapping[str, Any], suffix: str) -> str:
    if suffix == ".v":
        from symres.export.rocq import certificate_text

        return certificate_text(certificate)
    return json.dumps(certificate, indent=1, ensure_ascii=False) + "\n"
