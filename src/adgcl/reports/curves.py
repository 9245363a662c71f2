"""Training curves of a run as SVG: small charts, one above the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from adgcl.reports.svg import FAINT, GRID, INK, PALETTE, Axis, Canvas, text_width

NAMES = ("loss", "drop_ratio")
# An augmenter whose drop ratio stays below this leaves the graphs as they are.
STILL = 0.01
_STOPPED, _NEVER = "the augmenter stopped dropping", "the augmenter drops nothing"
_HEIGHT, _LEFT, _WIDTH, _RIGHT, _TOP = 190.0, 70.0, 760.0, 24.0, 40.0
Points = Sequence[tuple[float, float]]


def figure_of_curves(curves: Mapping[str, Points], title: str, x_label: str = "epoch") -> str:
    """One small chart per curve, one above the other, over the same x axis."""
    drawn = {name: points for name, points in curves.items() if points}
    canvas = Canvas(_WIDTH, _TOP + _HEIGHT * len(drawn) + 24, title)
    canvas.text(12, 26, title, size=14, bold=True)
    x_axis = Axis.over([x for points in drawn.values() for x, _ in points], _LEFT, _WIDTH - _RIGHT, 8, whole=True)
    for index, (name, points) in enumerate(drawn.items()):
        _draw(canvas, x_axis, _TOP + _HEIGHT * index, name, points, PALETTE[index % len(PALETTE)])
    canvas.text((_LEFT + _WIDTH - _RIGHT) / 2, canvas.height - 8, x_label, anchor="middle", colour=INK)
    return canvas.to_svg()


def curves_of_metrics(
    rows: Sequence[Mapping[str, float]], names: Sequence[str] = NAMES
) -> dict[str, list[tuple[float, float]]]:
    """What a run measured after every epoch, as curves over the epochs; values that are not numbers leave gaps."""
    curves = {
        name: [(float(row["epoch"]), float(row[name])) for row in rows if math.isfinite(row.get(name, math.nan))]
        for name in names
    }
    return {name: points for name, points in curves.items() if points}


def stopped_dropping(points: Points) -> float | None:
    """The epoch from which the drop ratio stays below `STILL` to the end."""
    above = [index for index, (_, ratio) in enumerate(points) if ratio >= STILL]
    first = above[-1] + 1 if above else 0
    return points[first][0] if first < len(points) else None


def _draw(canvas: Canvas, x_axis: Axis, top: float, name: str, points: Points, colour: str) -> None:
    y_axis = Axis.over([y for _, y in points], top + _HEIGHT - 30, top + 24, 4)
    canvas.text(_LEFT, top + 14, name, bold=True, colour=colour)
    for tick in y_axis.ticks:
        canvas.line(x_axis.start, y_axis.place(tick), x_axis.end, y_axis.place(tick), GRID)
        canvas.text(x_axis.start - 8, y_axis.place(tick) + 4, y_axis.label(tick), anchor="end", colour=FAINT)
    for tick in x_axis.ticks:
        canvas.text(x_axis.place(tick), top + _HEIGHT - 12, x_axis.label(tick), anchor="middle", colour=FAINT)
    if name == "drop_ratio" and (epoch := stopped_dropping(points)) is not None:
        note = _NEVER if epoch == points[0][0] else f"{_STOPPED} (epoch {epoch:g})"
        _mark(canvas, x_axis, y_axis, epoch, note, _LEFT + text_width(name) + 20)
    canvas.path([(x_axis.place(x), y_axis.place(y)) for x, y in points], colour)
    if len(points) == 1:
        canvas.dot(x_axis.place(points[0][0]), y_axis.place(points[0][1]), colour)


def _mark(canvas: Canvas, x_axis: Axis, y_axis: Axis, x: float, text: str, free: float) -> None:
    """A dashed line with a label above it, between `free` and the end of the axis."""
    place = x_axis.place(x)
    canvas.dashes(place, y_axis.end - 8, place, y_axis.start, FAINT)
    left = max(min(place - 4, x_axis.end - text_width(text)), free)
    canvas.text(left, y_axis.end - 10, text, colour=INK)
