"""How the docs become a site: Markdown by MyST, the API from docstrings, everything from this repository."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Any

project = "adgcl"
author = "The adgcl authors"
version = release = metadata.version("adgcl")
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "findings/README.md", "tune/**"]
html_theme = "furo"
html_title = f"adgcl {release}"
html_copy_source = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Docstrings put names between single backticks.
default_role = "code"
nitpicky = False


def _outside_links_as_text(app: Any, name: str, source: list[str]) -> None:
    """Files of the repository that are not part of the site are named instead of linked; pictures are copied."""
    source[0] = re.sub(r"(?<!!)\[([^\]]+)\]\((?:\.\./|findings/)[^)]*\)", r"\1", source[0])


def _links_from_here(app: Any, path: Any, name: str, content: list[str]) -> None:
    """Pages of the repository's root are included here, where what they link to is next to them."""
    content[0] = content[0].replace("](docs/", "](")


def setup(app: Any) -> None:
    app.connect("source-read", _outside_links_as_text)
    app.connect("include-read", _links_from_here)
