"""Graphs that are not molecules, as SVG: nodes coloured by their label, a band for each marked edge."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from adgcl.pages.drawing.marks import Mark
from adgcl.pages.drawing.stress import stress_layout

# Beyond this a picture is a ball of wool.
MOST_NODES = 400


def draw_graph(
    num_nodes: int,
    pairs: np.ndarray,
    label: str,
    marks: Sequence[Mark],
    categories: Sequence[int] = (),
    width: int = 220,
    height: int = 160,
) -> str:
    """An SVG with the classes of `draw_molecule`; node `i` has the class `n{category}` of a small palette."""
    places = fitted(stress_layout(num_nodes, pairs), width, height, 12.0)
    gap = np.sqrt(((places[pairs[:, 0]] - places[pairs[:, 1]]) ** 2).sum(1)) if len(pairs) else np.array([20.0])
    radius = float(np.clip(np.median(gap) / 5, 1.6, 6.0))
    shapes = []
    for (a, b), mark in zip(pairs.tolist(), marks, strict=True):
        (x1, y1), (x2, y2) = places[a], places[b]
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        colour = f'class="band s{mark.value}" data-v="{mark.value}" data-r="{mark.rank}"'
        look = f'{colour} stroke-width="{radius * 1.3:.1f}"'
        shapes.append(f"<line {look} {ends}><title>{escape(mark.note)}</title></line>")
    for node, (x, y) in enumerate(places):
        kind = categories[node] % 8 if len(categories) else 0
        shapes.append(f'<circle class="node n{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>')
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(label)}>{"".join(shapes)}</svg>'


def fitted(places: np.ndarray, width: float, height: float, margin: float) -> np.ndarray:
    """Positions scaled and centred into a box; a bond never becomes longer than a quarter of it."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    scale = min((width - 2 * margin) / span[0], (height - 2 * margin) / span[1], min(width, height) / 4)
    made: np.ndarray = (places - (low + high) / 2) * scale + (width / 2, height / 2)
    return made
