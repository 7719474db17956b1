"""The documentation: MyST Markdown, furo, formulas as MathML; the built pages load nothing from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import symres

project = "symres"
author = "symres developers"
copyright = "2026, symres developers"
version = release = symres.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "entries"]
myst_enable_extensions = ["attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True
napoleon_use_rtype = False

numfig = True
math_numfig = True
numfig_secnum_depth = 1

templates_path = ["_templates"]
html_theme = "furo"
html_title = "symres"
html_static_path = ["_static", "../symres/export/fonts"]
html_css_files = ["mathematics.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
