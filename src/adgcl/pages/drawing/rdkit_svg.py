"""Molecules drawn by RDKit as SVG, cleaned so that the page's style decides about colours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from adgcl.pages.drawing.marks import Mark

_SENTINEL = (1.0, 0.0, 1.0)
_SENTINEL_HEX = "#FF00FF"
_PATH = re.compile(r"<path\s+(?P<attributes>[^>]*?)/>", re.DOTALL)
_BOND = re.compile(r"\bbond-(\d+)\b")
_SHAPE = re.compile(r"\bd='([^']*)'")
_DECIMALS = re.compile(r"(\d+\.\d)\d*")
# How wide a mark is, in widths of a bond's line: RDKit draws those of large molecules thinner.
_BAND, _WIDEST, _SMALL = 9, 16, 10


def draw_molecule(
    molecule: Any, label: str, marks: Mapping[int, Mark] | None = None, width: int = 220, height: int = 160
) -> str:
    """An SVG whose lines have the class `ink`, its letters `glyph`, and the band behind each marked bond `band`."""
    from rdkit import rdBase
    from rdkit.Chem.Draw import rdMolDraw2D

    marks = marks or {}
    drawer = rdMolDraw2D.MolDraw2DSVG(width, height)
    options: Any = drawer.drawOptions()
    options.useBWAtomPalette()
    options.clearBackground = False
    options.padding = 0.08
    options.fixedBondLength = 34.0
    options.fillHighlights = True
    options.continuousHighlight = True
    options.highlightBondWidthMultiplier = min(_WIDEST, _BAND + max(0, molecule.GetNumAtoms() - _SMALL) // 2)
    with rdBase.BlockLogs():
        prepared = _prepared(molecule)
        drawer.DrawMolecule(
            prepared,
            highlightAtoms=[],
            highlightBonds=list(marks),
            highlightBondColors=dict.fromkeys(marks, _SENTINEL),
        )
    drawer.FinishDrawing()
    shapes = "".join(_cleaned(match["attributes"], marks) for match in _PATH.finditer(drawer.GetDrawingText()))
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(label)}>{shapes}</svg>'


def _prepared(molecule: Any) -> Any:
    """With coordinates, in Kekulé form where RDKit finds one."""
    from rdkit.Chem.Draw import rdMolDraw2D

    for kekulize in (True, False):
        try:
            return rdMolDraw2D.PrepareMolForDrawing(molecule, kekulize=kekulize, addChiralHs=False)
        except Exception:  # C++ exceptions can arrive as any Python type
            continue
    return molecule


def _cleaned(attributes: str, marks: Mapping[int, Mark]) -> str:
    shape = _SHAPE.search(attributes)
    if shape is None:
        return ""
    path = _DECIMALS.sub(r"\1", " ".join(shape[1].split())).replace(" L ", "L").replace(" Q ", "Q")
    bond = _BOND.search(attributes)
    if _SENTINEL_HEX in attributes and bond is not None:
        mark = marks[int(bond[1])]
        style = f'class="band s{mark.value}" data-v="{mark.value}" data-r="{mark.rank}"'
        return f'<path {style} d="{path}"><title>{escape(mark.note)}</title></path>'
    kind = "ink" if "fill:none" in attributes else "glyph"
    return f'<path class="{kind}" d="{path}"/>'
