"""The catalogue in the documentation: a page for each derivation, and the role ``{entry}`` that links to one.

``{entry}`residual-depth` `` becomes a link with the verdict; an id that the catalogue does not have is printed as such,
so that a page never points to a proof that is not there.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx
from sphinx.util import logging

from symres import catalogue
from symres.cli.workers import made
from symres.errors import SymresError
from symres.export.files import write_whole
from symres.export.paper import Options
from symres.export.plot import svg

FOLDER = "catalogue"
INDEX = """# The catalogue

Every entry is derived anew when these pages are built; each page ends with the record of its verification.

| entry | kind | verdict | statement |
|---|---|---|---|
{rows}

```{{toctree}}
:hidden:

{ids}
```
"""


def write_pages(app: Sphinx) -> None:
    """Derive every entry and write its page."""
    folder = Path(app.srcdir) / FOLDER
    entries = catalogue.entries()
    work = partial(made, formats=("md",), options=Options())
    for id, result in catalogue.run(work, entries, os.cpu_count() or 1):
        if isinstance(result, SymresError):
            logging.getLogger(__name__).warning("%s: %s", id, result)
        elif isinstance(result, Exception):
            raise result
        else:
            text = result.files[f"{id}.md"].decode()
            write_whole(folder / f"{id}.md", text + _pictures(entries[id], folder))
    pages = [entry for entry in entries.values() if (folder / f"{entry.id}.md").exists()]
    rows = "\n".join(
        f"| [{entry.id}]({entry.id}.md) | {entry.kind} | {entry.verdict} | {entry.title} |" for entry in pages
    )
    write_whole(
        folder / "index.md", INDEX.format(rows=rows, ids="\n".join(f"{entry.id} <{entry.id}>" for entry in pages))
    )


def _pictures(entry: catalogue.Entry, folder: Path) -> str:
    """The pictures of an entry, written beside its page, and the Markdown that shows them."""
    shown = []
    for picture in entry.pictures():
        name = f"{entry.id}-{picture.name}.svg"
        write_whole(folder / name, svg(picture))
        shown.append(f"![{picture.caption}]({name})\n\n*{picture.caption}*\n")
    return "\n".join(["", "## Pictures\n", *shown]) if shown else ""


def entry_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Inliner, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """A link to an entry with its verdict."""
    entry = catalogue.entries().get(text)
    if entry is None:
        return [nodes.literal(text=text), nodes.Text(" (not in the catalogue yet)")], []
    document = inliner.document.settings.env.docname
    up = "../" * document.count("/")
    link = nodes.reference(internal=True, refuri=f"{up}{FOLDER}/{text}.html")
    link += nodes.literal(text=text)
    return [link, nodes.Text(" "), nodes.inline(text=entry.verdict, classes=["verdict"])], []


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the role, and the pages before anything is read."""
    app.add_role("entry", entry_role)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
