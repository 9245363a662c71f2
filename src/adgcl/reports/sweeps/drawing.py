"""Drawing with matplotlib: one look for all figures, readable in print and on a screen; panels for data sets."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from adgcl.core.extras import import_extra
from adgcl.core.files import atomic_write
from adgcl.reports.svg import FAINT, GRID, INK, PALETTE

FORMATS = ("png", "svg", "pdf")
_PANEL = (3.5, 2.7)  # inches
_DPI = 160
_LETTERS = 15.0  # of a legend, in an inch
_LOOK = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.grid": True,
    "grid.color": GRID,
    "axes.axisbelow": True,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "adgcl",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


def colour(number: int) -> str:
    return PALETTE[number % len(PALETTE)]


def shades(count: int) -> list[Any]:
    """Colours for values in order, from light to dark: they stay apart in grey print."""
    colours = import_extra("matplotlib", "figures", "A figure").colormaps["viridis_r"]
    return [colours(0.08 + 0.87 * i / max(count - 1, 1)) for i in range(count)]


def panels(
    names: Sequence[str],
    draw: Callable[[Any, str], None],
    columns: int = 3,
    share: bool = False,
    tall: float = _PANEL[1],
) -> Any:
    """A figure with a panel for each name, which `draw` fills; panels are `tall` inches high."""
    matplotlib = import_extra("matplotlib", "figures", "A figure")
    figure_kind = import_extra("matplotlib.figure", "figures", "A figure").Figure
    with matplotlib.rc_context(_LOOK):
        down = math.ceil(len(names) / columns)
        across = math.ceil(len(names) / down)  # rows of one length: four panels are two by two
        figure = figure_kind(figsize=(max(_PANEL[0] * across, 4.6) + 0.4, tall * down + 0.5), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharey=share).ravel()
        for axis, name in zip(axes, names):
            axis.set_title(name, color=INK)
            draw(axis, name)
        for axis in axes[len(names) :]:
            axis.set_visible(False)
    return figure


def epochs_below(axis: Any) -> None:
    """Label the x-axis with whole epochs."""
    axis.set_xlabel("epoch")
    axis.xaxis.get_major_locator().set_params(integer=True)


def label_points(
    axis: Any,
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    ink: str,
    others: Sequence[tuple[float, float]] = (),
) -> None:
    """Write a text beside each point where it covers least of the other points and texts."""
    scale = 72 / axis.figure.dpi
    halo = import_extra("matplotlib.patheffects", "figures", "A figure").withStroke(linewidth=2, foreground="white")
    at = [tuple(scale * axis.transData.transform(point)) for point in points]
    covered = [*at, *(scale * axis.transData.transform(point) for point in others)]
    taken = [(x - 3.0, y - 3.0, x + 3.0, y + 3.0) for x, y in covered]
    for (x, y), point, text in zip(at, points, texts, strict=True):
        wide = 4.3 * len(text)
        aside, across = (4.0, -4.0 - wide), (4.0, -4.0 - wide, -wide / 2)
        places = [(dx, dy) for dy in (3.0, -9.0) for dx in aside] + [(dx, dy) for dy in (11.0, -17.0) for dx in across]
        boxes = [(x + dx, y + dy, x + dx + wide, y + dy + 6.5) for dx, dy in places]
        best = min(range(len(places)), key=lambda k: sum(_overlap(boxes[k], other) for other in taken))
        taken.append(boxes[best])
        look = {"color": ink, "fontsize": 7, "path_effects": [halo], "zorder": 5}
        axis.annotate(text, point, xytext=places[best], textcoords="offset points", **look)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The area that two boxes share."""
    wide, tall = (min(one[i + 2], other[i + 2]) - max(one[i], other[i]) for i in (0, 1))
    return max(wide, 0.0) * max(tall, 0.0)


def legend_below(figure: Any) -> None:
    """One legend for all panels, under them, as wide as they are."""
    found: dict[str, Any] = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            found.setdefault(label, handle)
    if found:
        letters = max(map(len, found)) + 6
        fitting = int(figure.get_figwidth() * _LETTERS / letters)
        look = {"ncols": max(1, min(fitting, len(found))), "frameon": False, "fontsize": 8}
        figure.legend(list(found.values()), list(found), loc="outside lower center", **look)


def save(figure: Any, folder: Path, name: str, formats: Sequence[str] = FORMATS[:2], caption: str = "") -> list[Path]:
    """Write a figure in every format; `caption` is kept for readers who cannot see it."""
    matplotlib = import_extra("matplotlib", "figures", "A figure")
    paths = []
    about: dict[str, dict[str, str | None]] = {
        "png": {"Description": caption},
        "svg": {"Description": caption, "Date": None},
        "pdf": {"Subject": caption, "CreationDate": None},
    }
    with matplotlib.rc_context(_LOOK):
        for kind in formats:
            # Named here, since the temporary file that is written first has another ending.
            write = partial(figure.savefig, format=kind, dpi=_DPI, metadata=about[kind])
            paths.append(folder / f"{name}.{kind}")
            atomic_write(paths[-1], write)
    return paths


def wrapped(text: str, width: int = 24) -> str:
    return "\n".join(textwrap.wrap(text, width))
