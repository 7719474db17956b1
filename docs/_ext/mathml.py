"""Formulas of the documentation as MathML, through the same converter as the exported proofs."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from symres.export.mathml import mathml


def inline(translator: Any, node: nodes.math) -> None:
    """A formula in a line."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own, with its number where it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate", tabindex="0"))
    if node.get("number"):
        translator.body.append(f'<span class="eqno">({node["number"]})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    translator.body.append(mathml(node.astext().strip(), display=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
