"""One derivation as a Jupyter notebook that runs: it derives, shows and checks."""

from __future__ import annotations

import json
import sys
from typing import Any

from symres.derivation.document import Derivation
from symres.export.markdown import escaped, statement

_RECHECK = """\
import json

from symres.judge import recheck

recheck(json.dumps(derivation.certificate()))"""


def files(derivation: Derivation) -> dict[str, str]:
    """The notebook, in the format 4.5 of Jupyter. The ids of its cells are the same from run to run."""
    cells = [
        _text("statement", "\n\n".join([f"# {escaped(derivation.title)}", *statement(derivation)])),
        _text("about-derive", "Every step is checked while it is derived, for all sizes."),
        _code("derive", f'import symres\n\nderivation = symres.derive("{derivation.id}")\nderivation'),
        _text("about-record", "Who checked what, and how:"),
        _code(
            "record", "for check in derivation.record:\n    print(check.judge, check.method, check.passed, sep=' · ')"
        ),
    ]
    if derivation.certificate:
        cells.append(
            _text("about-recheck", "A second judge, which shares no code with the first, reads the certificate:")
        )
        cells.append(_code("recheck", _RECHECK))
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python", "version": version},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return {f"{derivation.id}.ipynb": json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"}


def _text(id: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": source}


def _code(id: str, source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "id": id, "metadata": {}, "outputs": [], "source": source}
