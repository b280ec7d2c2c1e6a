"""How the documentation is built: Sphinx, MyST and Furo; reference pages come from the docstrings."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(Path(__file__).resolve().parent)]

import pantograf  # noqa: E402

project = "Pantograf"
author = "the Pantograf authors"
copyright = "the Pantograf authors"
version = release = pantograf.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "generated"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_generated"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "signature"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"Pantograf {pantograf.__version__}"
html_show_sourcelink = False
