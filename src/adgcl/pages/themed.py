"""Figures of `reports` inside a page: the same SVG, with the page's own colours, light or dark."""

from __future__ import annotations

from typing import Any

from adgcl.pages.frame import picture
from adgcl.reports.panel import HIGHLIGHT
from adgcl.reports.svg import FAINT, GRID, INK

_PAPER = '<rect width="100%" height="100%" fill="white"/>'
_COLOURS = {INK: "var(--ink)", FAINT: "var(--soft)", GRID: "var(--rule)", HIGHLIGHT: "var(--accent-soft)"}


def themed(svg: str) -> Any:
    """The figure without its white paper, its greys and highlights taken from the page."""
    text = svg.replace(_PAPER, "").replace('fill="white"', 'fill="var(--card)"')
    for colour, variable in _COLOURS.items():
        text = text.replace(f'"{colour}"', f'"{variable}"')
    return picture(text)
