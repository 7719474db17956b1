"""The catalogue as a web site of plain files: an index with search and filters, a page for each derivation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

import symres
from symres.export.html import Surroundings, asset, environment, head, page, script, style

_TAG = re.compile(r"<[^>]*>")
FONT = "symres-math.woff2"
FILTERS = ("verdict", "subject", "source")


def files(views: Iterable[Mapping[str, Any]]) -> dict[str, str | bytes]:
    """All files of the site by name, from the :func:`~symres.export.html.view` of each derivation."""
    known = {
        content["id"]: content for content in sorted(views, key=lambda content: (content["subject"], content["title"]))
    }
    links = {id: (f"{id}.html", content["title"]) for id, content in known.items()}
    made: dict[str, str | bytes] = {
        "index.html": _index(list(known.values())),
        "assets/style.css": style(f'"{FONT}"'),
        f"assets/{FONT}": asset(FONT),
        "assets/GUST-FONT-LICENSE.txt": asset("GUST-FONT-LICENSE.txt"),
        "assets/page.js": asset("page.js"),
        "assets/index.js": asset("index.js"),
    }
    for id, content in known.items():
        used_by = [links[other] for other, user in known.items() if id in user["uses"]]
        made[f"{id}.html"] = page(content, Surroundings("index.html", "assets", links, used_by))
    return made


def _index(contents: list[Mapping[str, Any]]) -> str:
    rows = [_card(content) for content in contents]
    filters = [(name, sorted({value for row in rows for value in row["values"][name]})) for name in FILTERS]
    return (
        environment()
        .get_template("index.html.j2")
        .render(
            entries=rows,
            filters=filters,
            version=symres.__version__,
            assets=head("assets"),
            script=script("index.js", "assets"),
        )
    )


def _card(content: Mapping[str, Any]) -> dict[str, Any]:
    sources = [(source["key"], source["short"]) for source in content["sources"]]
    statement = next((item for item in content["statement"] if item["display"]), content["statement"][0])
    words = " ".join(_TAG.sub(" ", item["html"]) for item in content["statement"] if not item["display"])
    full = [source["text"] for source in content["sources"]]
    text = " ".join(
        [content["title"], content["id"], content["subject"], content["kind"], content["verdict"], words, *full]
    )
    return {
        **{name: content[name] for name in ("id", "title", "subject", "verdict", "tone")},
        "href": f"{content['id']}.html",
        "statement": Markup('<div class="scroll" tabindex="0" role="group" aria-label="Formula">{}</div>').format(
            statement["html"]
        )
        if statement["display"]
        else Markup("<p>{}</p>").format(statement["html"]),
        "source_keys": "|".join(key for key, _ in sources),
        "sources": ", ".join(short for _, short in sources),
        "text": text,
        "values": {
            "verdict": [(content["verdict"], content["verdict"])],
            "subject": [(content["subject"], content["subject"])],
            "source": sources,
        },
    }
