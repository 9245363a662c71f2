"""Label curves as a figure: scores over the number of labels, whose axis is logarithmic."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from adgcl.reports import numbers
from adgcl.reports.label_curves import Curve, LabelCurves, sentences
from adgcl.reports.svg import FAINT, GRID, INK, PALETTE, Axis, Canvas

_WIDTH, _LEFT, _PLOT, _HEIGHT = 860.0, 64.0, 540.0, 320.0
_MARGIN, _LINE, _LETTERS = 20.0, 20.0, 116
# Labels at the ends of curves are at least this far apart.
_APART = 16.0
# Spreads of several curves at one number of labels stand beside each other.
_ASIDE = 5.0
_FLOOR = "#7b8794"


def figure_of_labels(found: LabelCurves) -> str:
    """A line for each curve with the spread over seeds, its name at its end, and what it all means on top."""
    said = textwrap.wrap(" ".join(sentences(found)) or "Scores by number of labels.", _LETTERS)
    top = _MARGIN + 22 + _LINE * len(said) + 34
    canvas = Canvas(_WIDTH, top + _HEIGHT + 56, f"{found.dataset}: labels and scores")
    canvas.text(_MARGIN, _MARGIN + 8, f"How many labels does {found.dataset} need?", size=17, bold=True)
    for number, line in enumerate(said):
        canvas.text(_MARGIN, _MARGIN + 32 + _LINE * number, line, size=13, colour=FAINT)
    _draw(canvas, found, top)
    return canvas.to_svg()


def _draw(canvas: Canvas, found: LabelCurves, top: float) -> None:
    points = [point for curve in found.curves for point in curve.points]
    ends = [math.log10(point.labels) for point in points]
    low, high = min(ends), max(ends)
    spare = 0.04 * (high - low) or 0.5

    def x_of(labels: float) -> float:
        return _LEFT + _PLOT * (math.log10(labels) - low + spare) / (high - low + 2 * spare)

    spread = [point.mean + side * (point.std or 0.0) for point in points for side in (-1, 1)]
    y_axis = Axis.over(spread, top + _HEIGHT, top, 5)
    for tick in y_axis.ticks:
        canvas.line(_LEFT, y_axis.place(tick), _LEFT + _PLOT, y_axis.place(tick), GRID)
        canvas.text(_LEFT - 8, y_axis.place(tick) + 4, y_axis.label(tick), anchor="end", colour=FAINT)
    shown = max(found.curves, key=lambda curve: len(curve.points)).points
    for point in shown:
        place = x_of(point.labels)
        canvas.line(place, top + _HEIGHT, place, top + _HEIGHT + 5, FAINT)
        canvas.text(place, top + _HEIGHT + 20, f"{round(point.labels):,}", anchor="middle", colour=FAINT)
    metric = numbers.metric_label(found.metric, found.higher_is_better)
    canvas.text(_LEFT + _PLOT / 2, top + _HEIGHT + 42, "labels (logarithmic)", anchor="middle", colour=INK)
    canvas.text(_LEFT - 44, top - 12, metric, colour=INK)
    colours = _colours(found.curves)
    for number, curve in enumerate(found.curves):
        colour, aside = colours[curve.name], _ASIDE * (number - (len(found.curves) - 1) / 2)
        places = [x_of(point.labels) + aside for point in curve.points]
        canvas.path([(x, y_axis.place(point.mean)) for x, point in zip(places, curve.points)], colour)
        for x, point in zip(places, curve.points):
            std = point.std or 0.0
            about = numbers.mean_std(point.mean, point.std, found.metric)
            with canvas.note(f"{curve.name}, {round(point.labels)} labels: {about}"):
                canvas.line(x, y_axis.place(point.mean - std), x, y_axis.place(point.mean + std), colour)
                canvas.dot(x, y_axis.place(point.mean), colour)
    farthest = x_of(max(p.labels for p in points)) + _ASIDE * (len(found.curves) - 1) / 2
    _name_ends(canvas, found.curves, colours, y_axis, farthest + 12)


def _name_ends(canvas: Canvas, curves: Sequence[Curve], colours: dict[str, str], y_axis: Axis, x: float) -> None:
    """The name of each curve beside its last point, moved apart where they would overlap."""
    ordered = sorted(curves, key=lambda curve: y_axis.place(curve.points[-1].mean))
    places = [y_axis.place(curve.points[-1].mean) + 4 for curve in ordered]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + _APART)
    over = max(0.0, places[-1] - max(y_axis.start, y_axis.end))
    for i in reversed(range(len(places))):
        limit = places[i] - over if i == len(places) - 1 else min(places[i], places[i + 1] - _APART)
        places[i] = limit
    for curve, y in zip(ordered, places):
        canvas.text(x, y, curve.name, colour=colours[curve.name], bold=curve.kind == "pretrained")


def _colours(curves: Sequence[Curve]) -> dict[str, str]:
    """Pre-trained curves first, so that they have the same colours everywhere; what learns nothing is grey."""
    networks = sorted((c for c in curves if c.kind != "floor"), key=lambda curve: curve.kind != "pretrained")
    palette = {curve.name: PALETTE[i % len(PALETTE)] for i, curve in enumerate(networks)}
    return {**palette, **{curve.name: _FLOOR for curve in curves if curve.kind == "floor"}}
