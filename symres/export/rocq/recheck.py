"""Has Coq check a certificate file, and has it prove once more that it says what it claims to say.

A file is accepted when

1. it uses only the commands that certificates are made of: no axioms, no admitted proofs, no switched-off checks;
2. ``coqc`` accepts it within the time limit;
3. the theorems, stated again from the symres certificate inside the file, follow from its own by ``exact``. So an edited
   statement is refused whatever the text around it looks like;
4. these theorems rest on no axioms but those of Coq's real numbers.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from symres.errors import CertificateError, Unsupported, UsageError
from symres.export.rocq.certificate import document_of
from symres.export.rocq.document import PREAMBLE, Document, source_of
from symres.export.rocq.names import LIBRARY
from symres.language.certificate import content_hash

AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
)
"""What the real numbers of Coq's standard library and their analysis rest on."""

COMMANDS = frozenset(
    [
        "Section",
        "End",
        "Variable",
        "Variables",
        "Hypothesis",
        "Definition",
        "Fixpoint",
        "Lemma",
        "Theorem",
        "Proof",
        "Qed",
        "Print",
    ]
)
FORBIDDEN = re.compile(
    r"\b(Axiom|Axioms|Parameter|Parameters|Conjecture|Conjectures|Admitted|admit|Admit|give_up|Abort|Unset|Set|"
    r"bypass_check|Guard|Positivity|Universe|Declare|Load|Redirect|Extraction|Notation|Module|Instance|Canonical)\b"
)
_PRINTS = re.compile(r"^Print Assumptions \w+\.$", re.MULTILINE)
PACKAGES = "coq and libcoq-coquelicot (Debian, Ubuntu), or coq and coq-coquelicot (opam)"


@dataclass(frozen=True)
class Report:
    """What came of checking a file: ``reason`` says why it is refused."""

    file: str
    accepted: bool
    reason: str = ""
    id: str = ""
    title: str = ""
    hash: str = ""
    theorems: tuple[str, ...] = ()
    axioms: tuple[str, ...] = ()
    seconds: float = 0.0

    def __str__(self) -> str:
        if not self.accepted:
            return f"refused: {self.reason}"
        axioms = ", ".join(axiom.split(".")[-1] for axiom in self.axioms) or "no axioms"
        return f"accepted: {', '.join(self.theorems)}; they rest on {axioms}"


class _Refused(Exception):
    pass


def available() -> bool:
    """Whether coqc and Coquelicot are installed."""
    try:
        _library()
    except UsageError:
        return False
    return True


def recheck(path: Path | str, *, expected: Mapping[str, Any] | None = None, timeout: float = 120.0) -> Report:
    """Have Coq check a certificate file.

    Args:
        path: the ``.v`` file.
        expected: the symres certificate (JSON) that the file has to be about; by default the one inside it.
        timeout: seconds that coqc may take for each of its two runs.

    Raises:
        UsageError: if the file cannot be read, or Coq or Coquelicot is not installed.
    """
    path, start = Path(path), time.perf_counter()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    _library()
    document: Document | None = None
    source: dict[str, Any] = {}
    try:
        source = source_of(text)
        if expected is not None and content_hash(expected) != content_hash(source):
            raise _Refused("the file is about another certificate than the one given")
        _only_known_commands(text)
        document = document_of(source, unchecked=True)
        axioms = _compiled(text, document, timeout)
        accepted, reason = True, ""
    except (_Refused, CertificateError, Unsupported) as error:
        axioms, accepted, reason = (), False, str(error)
    return Report(
        str(path),
        accepted,
        reason,
        str(source.get("id", "")),
        str(source.get("title", "")),
        content_hash(source) if source else "",
        tuple(theorem.name for theorem in document.theorems) if document else (),
        axioms,
        time.perf_counter() - start,
    )


def _compiled(text: str, document: Document, timeout: float) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory(prefix="symres-coq-") as name:
        folder = Path(name)
        # What a file prints itself counts for nothing, and costs a second.
        (folder / "Certified.v").write_text(_PRINTS.sub("", text), encoding="utf-8")
        _coqc(folder, "Certified.v", timeout, "Coq refuses the file")
        (folder / "Restated.v").write_text(document.restated("Certified"), encoding="utf-8")
        printed = _coqc(folder, "Restated.v", timeout, "the theorems are not those of the certificate in the file")
    return _axioms(printed)


def _axioms(printed: str) -> tuple[str, ...]:
    """The axioms that ``Print Assumptions`` lists.

    Raises:
        _Refused: for any that real numbers do not need, and for checks that were switched off.
    """
    if "Closed under the global context" in printed:
        return ()
    found = [line.split(":")[0].strip() for line in printed.splitlines() if line and not line[0].isspace()]
    found = [name for name in found if name != "Axioms"]
    if strange := [name for name in found if name not in AXIOMS]:
        raise _Refused(f"the proof rests on {', '.join(strange)}")
    return tuple(sorted(found))


def _coqc(folder: Path, file: str, timeout: float, problem: str) -> str:
    """The output of coqc.

    Raises:
        _Refused: if it fails or takes too long.
    """
    library = _library()
    command = [_program(), "-w", "none", "-q", "-Q", str(library), "Symres", "-R", ".", "", file]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise _Refused(f"coqc did not finish within {timeout:g} seconds") from None
    if process.returncode != 0:
        message = " ".join(line for line in errors.splitlines() if not line.startswith("File "))
        place = re.search(r'File "\./?(\w+\.v)", line (\d+)', errors)
        where = f" (line {place.group(2)} of {place.group(1)})" if place else ""
        raise _Refused(f"{problem}{where}: {message[:300].strip()}")
    return output


def _program() -> str:
    found = shutil.which("coqc")
    if found is None:
        raise UsageError("Coq is not installed: there is no coqc", remedy=f"Install the packages {PACKAGES}.")
    return found


_kept: list[tempfile.TemporaryDirectory[str]] = []


@lru_cache(maxsize=1)
def _library() -> Path:
    """A folder with the compiled library, kept until the process ends.

    Raises:
        UsageError: if Coq or Coquelicot is not installed.
    """
    program = _program()
    kept = tempfile.TemporaryDirectory(prefix="symres-coq-library-")
    folder = Path(kept.name)
    shutil.copy(LIBRARY, folder)
    run = subprocess.run(
        [program, "-w", "none", "-q", "-Q", ".", "Symres", LIBRARY.name],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if run.returncode != 0:
        kept.cleanup()
        hint = "Coquelicot" if "Coquelicot" in run.stderr else "the library of the certificates"
        raise UsageError(f"coqc cannot load {hint}: {run.stderr[-300:]}", remedy=f"Install the packages {PACKAGES}.")
    _kept.append(kept)
    return folder


# ---------------------------------------------------------------- the text


def _only_known_commands(text: str) -> None:
    """Refuse files with commands that certificates do not use.

    Raises:
        _Refused: naming the first of them.
    """
    bare = without_comments(text)
    if found := FORBIDDEN.search(bare):
        raise _Refused(f"the file uses {found.group(1)}")
    if '"' in bare or "#[" in bare:
        raise _Refused("the file uses strings or attributes")
    depth = 0
    for sentence in sentences(bare):
        words = sentence.lstrip("{}-+* \n").split()
        if not words or sentence in PREAMBLE:
            continue
        if words[0][0].isupper() and words[0].rstrip(".") not in COMMANDS:
            raise _Refused(f"the file uses the command {words[0]}")
        if words[0] == "Print" and words[1:2] != ["Assumptions"]:
            raise _Refused("the file prints something")
        depth += (words[0] == "Section") - (words[0] == "End")
        if depth == 0 and words[0] in ("Variable", "Variables", "Hypothesis"):
            raise _Refused(f"{words[0]} outside a section is an axiom")


def without_comments(text: str) -> str:
    """The text with comments, which may be nested, replaced by blanks."""
    parts, depth, position = [], 0, 0
    for match in re.finditer(r"\(\*|\*\)", text):
        if depth == 0:
            parts.append(text[position : match.start()])
        depth = max(0, depth + (1 if match.group() == "(*" else -1))
        position = match.end()
    parts.append(text[position:] if depth == 0 else "")
    return " ".join(parts)


def sentences(text: str) -> list[str]:
    """The sentences of Coq, which end with a full stop and a blank."""
    return [sentence.strip() for sentence in re.findall(r"(?:[^.]|\.(?!\s|$))*\.(?=\s|$)", text)]
