"""The command line: what it prints, its exit status, and that a mistake is one clear message and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import symres
from symres import catalogue, cli
from symres.cli import console
from symres.errors import BudgetExceeded, CertificateError, Undefined, Unsupported, UsageError

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call the command line in this process: exit status, stdout, stderr."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["symres", *map(str, words)])
        try:
            cli.main()
            status: object = 0
        except SystemExit as exit:
            status = exit.code
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return (status if isinstance(status, int) else 1 if status else 0), out, err

    return call


def test_the_version(run: Run) -> None:
    assert run("--version") == (0, f"symres {symres.__version__}\n", "")


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "symres", "--version"]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"symres {symres.__version__}\n"
    )


@pytest.mark.parametrize(
    "command", ["list", "derive", "grad", "verify", "check", "recheck", "cite", "new", "plot", "site"]
)
def test_every_command_has_help(run: Run, command: str) -> None:
    assert command in run("--help")[1]
    status, out, _ = run(command, "--help")
    assert status == 0
    assert "Usage" in out


def test_help_teaches_by_examples(run: Run) -> None:
    for command in ("derive", "grad", "verify", "recheck"):
        assert f"symres {command} " in " ".join(run(command, "--help")[1].replace("│", " ").split())


def test_the_list_is_json(run: Run) -> None:
    status, out, _ = run("list", "--json")
    assert status == 0
    for row in json.loads(out):
        assert set(row) == {"id", "subject", "kind", "verdict", "statement", "sources"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["derive", "no-such-id"], "there is no derivation 'no-such-id'"),
        (["derive"], "give one id or several, or --all"),
        (["derive", "x", "--all"], "not both"),
        (["derive", "x", "--format", "docx"], "there is no format 'docx'"),
        (["cite", "no-such-id"], "there is no derivation"),
        (["check", "no-such-id"], "there is no derivation"),
        (["check", "x", "--against", "matlab"], "nothing is checked against 'matlab'"),
        (["new", "Not An Id"], "is no id"),
        (["recheck", "missing.json"], "missing.json cannot be read: No such file"),
        (["grad", "layer.py"], "'layer.py' is not FILE.py:NAME"),
        (["grad", "missing.py:f"], "there is no file 'missing.py'"),
        (["verify", "missing.py:f", "missing.py:b"], "there is no file 'missing.py'"),
        (["grad", "layer.py:f", "--format", "docx"], "there is no format 'docx'"),
        (["derive", "--fast"], "No such option"),
        (["prove"], "No such command"),
    ],
)
def test_wrong_use_is_one_message_and_status_2(run: Run, words: list[str], message: str) -> None:
    status, out, err = run(*words)
    assert status == 2
    assert message in err.replace("│", "").replace("  ", "")
    assert out == ""


def test_an_unwritable_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    status, _, err = run("new", "some-id", "-o", tmp_path / "file" / "x")
    assert status == 2
    assert "cannot be written" in err


def test_a_new_derivation_file_is_not_written_over(run: Run, tmp_path: Path) -> None:
    status, out, _ = run("new", "some-id", "-o", tmp_path)
    assert (status, out.strip()) == (0, str(tmp_path / "some_id.py"))
    assert 'ID = "some-id"' in (tmp_path / "some_id.py").read_text()
    status, _, err = run("new", "some-id", "-o", tmp_path)
    assert status == 2
    assert "is there already" in err


@pytest.mark.parametrize(
    ("error", "status"),
    [(UsageError, 2), (Unsupported, 3), (BudgetExceeded, 3), (CertificateError, 1), (Undefined, 1)],
)
def test_each_kind_of_error_has_its_status(
    error: type[Exception], status: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise error("what was met", remedy="what to do")  # type: ignore[call-arg]

    monkeypatch.setattr(catalogue, "entries", fail)
    assert run("list") == (status, "", "symres: what was met\nwhat to do\n")


def test_values_are_json_and_never_run() -> None:
    assert console.values(["eps=1e-5", 'bn_param={"mode": "train"}', "flag=true"]) == {
        "eps": 1e-5,
        "bn_param": {"mode": "train"},
        "flag": True,
    }
    for wrong in ("eps", "eps=__import__('os')", "mode=train", "a b=1", "=1"):
        with pytest.raises(UsageError, match="is not NAME=JSON"):
            console.values([wrong])


def test_output_stays_plain_when_it_is_no_terminal() -> None:
    environment = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "symres", "derive", "no-such-id"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "\x1b" not in done.stdout + done.stderr
