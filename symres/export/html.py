"""One derivation as one HTML file that needs nothing else: style, script, mathematics font and MathML are in it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from html import escape
from importlib.resources import files as resources
from itertools import count
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

import symres
from symres.derivation.document import Check, Derivation, Source, Step
from symres.derivation.picture import Picture
from symres.export.bibliography import bibtex, reference
from symres.export.fingerprint import fingerprint
from symres.export.mathml import mathml
from symres.export.plot import svg
from symres.export.prose import SCREEN, error_in_words, fill, sentence, sizes_in_words
from symres.export.tex import fragment
from symres.language.formula import Block, Display, Formula, Text
from symres.typeset.printer import Printer

TONES = {"theorem": "proved", "theorem under conditions": "conditional", "refuted": "refuted"}
# A page runs its own script and style and shows its own font; nothing comes from anywhere else.
_POLICY = "default-src 'none'; script-src {0}; style-src {0} 'unsafe-inline'; font-src {1}; img-src data:"


@dataclass(frozen=True)
class Surroundings:
    """Where a page stands in a site: its index, the shared files, and the pages it is linked with (address, title)."""

    home: str
    assets: str
    uses: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    used_by: Sequence[tuple[str, str]] = ()


@cache
def environment() -> Environment:
    """The templates; every value is escaped unless it is markup made here."""
    loader = PackageLoader("symres.export", "templates")
    return Environment(
        loader=loader,
        autoescape=select_autoescape(["html.j2"], default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def asset(name: str) -> bytes:
    """A file of the folders ``templates`` or ``fonts``."""
    folder = "fonts" if name.endswith((".woff2", ".txt")) else "templates"
    return resources("symres.export").joinpath(folder, name).read_bytes()


def head(shared: str = "") -> Markup:
    """The policy, the style and the font: in the page itself, or from files in the folder ``shared``."""
    policy = _POLICY.format(*(("'self'", "'self'") if shared else ("'unsafe-inline'", "data:")))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    if shared:
        return Markup(f'{meta}\n<link rel="stylesheet" href="{shared}/style.css">')
    return Markup(f"{meta}\n<style>\n{style(font_address())}</style>")


def style(font: str) -> str:
    """The style sheet with the address of the mathematics font."""
    face = f'@font-face {{ font-family: "Symres Math"; src: url({font}) format("woff2"); }}\n'
    return face + asset("style.css").decode()


@cache
def font_address() -> str:
    """The mathematics font as a data address."""
    return "data:font/woff2;base64," + b64encode(asset("symres-math.woff2")).decode()


def script(name: str, shared: str = "") -> Markup:
    """The script: in the page, or from a file in the folder ``shared``."""
    if shared:
        return Markup(f'<script src="{shared}/{name}"></script>')
    return Markup(f"<script>\n{asset(name).decode()}</script>")


def view(derivation: Derivation, pictures: Iterable[Picture] = ()) -> dict[str, Any]:
    """All that the page shows, as strings and markup.

    Raises:
        SymresError: if a formula cannot be written as MathML.
    """
    figures = [{"svg": Markup(svg(picture)), "caption": picture.caption} for picture in pictures]
    return {**_Viewer(derivation).view(), "pictures": figures}


def page(content: Mapping[str, Any], around: Surroundings | None = None) -> str:
    """The page with the content of a :func:`view`: by itself, or in a site."""
    links = around.uses if around else {}
    uses = [dict(zip(("href", "title"), links.get(id, ("", id)), strict=True)) for id in content["uses"]]
    used_by = [{"href": href, "title": title} for href, title in (around.used_by if around else ())]
    assets = around.assets if around else ""
    template = environment().get_template("page.html.j2")
    return template.render(
        d={**content, "uses": uses, "used_by": used_by},
        home=around.home if around else "",
        version=symres.__version__,
        assets=head(assets),
        script=script("page.js", assets),
    )


def files(derivation: Derivation, pictures: Iterable[Picture] = ()) -> dict[str, str]:
    """The page of one derivation, by itself."""
    return {f"{derivation.id}.html": page(view(derivation, pictures))}


class _Viewer:
    """One derivation as strings and markup."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation = derivation
        self.printer = Printer.of(derivation, width=SCREEN)

    def view(self) -> dict[str, Any]:
        derivation = self.derivation
        return {
            **{name: getattr(derivation, name) for name in ("id", "title", "subject", "kind", "verdict", "listing")},
            "tone": TONES[derivation.verdict],
            "statement": [self.block(item) for item in derivation.statement],
            "matrix": [self.block(item) for item in derivation.matrix],
            "assumptions": [self.prose(text) for text in derivation.assumptions],
            "notation": [(self.inline(sign), self.prose(meaning)) for sign, meaning in derivation.notation],
            "definitions": [self.display(relation) for relation in derivation.definitions],
            "parts": self.parts(),
            "remarks": [self.prose(text) for text in derivation.remarks],
            "uses": list(derivation.uses),
            "certified": bool(derivation.certificate),
            "record": [_check(check) for check in derivation.record],
            "hash": fingerprint(derivation)[:16],
            "sources": [_source(source) for source in derivation.sources],
            "latex": fragment(derivation),
            "bibtex": bibtex([derivation]),
        }

    def parts(self) -> list[dict[str, Any]]:
        numbers = count(1)
        return [
            {
                "title": part.title,
                "intro": self.prose(part.intro) if part.intro else "",
                "steps": [self.step(step, next(numbers)) for step in part.steps],
            }
            for part in self.derivation.parts
        ]

    def step(self, step: Step, number: int) -> dict[str, Any]:
        reason, formula = Markup(sentence(self.prose(step.reason))), self.display(step.relation)
        return {"number": number, "anchor": f"step-{step.label}", "key": step.key, "reason": reason, "formula": formula}

    def block(self, item: Block) -> dict[str, Any]:
        if isinstance(item, Display):
            return self.display(item.formula)
        return {"display": False, "html": self.prose(item)}

    def prose(self, text: Text) -> Markup:
        return Markup(fill(text, partial(escape, quote=False), self.inline))

    def inline(self, formula: Formula) -> Markup:
        return Markup(mathml(self.printer.inline(formula)))

    def display(self, formula: Formula) -> dict[str, Any]:
        latex = self.printer.display(formula)
        return {"display": True, "html": Markup(mathml(latex, display=True)), "latex": latex}


def _check(check: Check) -> dict[str, Any]:
    return {
        "judge": check.judge,
        "method": check.method,
        "detail": check.detail,
        "passed": check.passed,
        "sizes": sizes_in_words(check),
        "error": error_in_words(check),
    }


def _source(source: Source) -> dict[str, str]:
    found = reference(source.key)
    return {"key": source.key, "short": found.short, "text": str(found), "place": source.place}
