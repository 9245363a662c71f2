"""Figures of the theory: what augmentations leave of a graph, and of its labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from adgcl.reports.svg import FAINT, GRID, INK, PALETTE, Axis, Canvas, Point, text_width

# Family, its name in legends, and its colour.
FAMILIES = (
    ("any", "any augmentation (exact limit)", INK),
    ("independent", "a probability for each edge (the paper's family)", PALETTE[0]),
    ("uniform", "one probability for all edges", PALETTE[2]),
)
TRAINED = (("network", "AD-GCL, trained", PALETTE[1]), ("free", "AD-GCL, trained, free logits", PALETTE[3]))
# What needs the label: a name, a colour and a mark.
_KNOWN = (
    ("information bottleneck (knows Y)", PALETTE[4], "dashes"),
    ("InfoMin (knows Y)", PALETTE[5], "free"),
    ("an encoder that keeps all but Y", FAINT, "network"),
)
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 760.0, 480.0, 64.0, 24.0, 78.0, 52.0
_LEGEND_LINE = 20.0
_SHADE = "#f1f3f5"
_PANEL_WIDTH, _PANEL_HEIGHT = 370.0, 290.0


def curve_figure(nodes: int, entry: Mapping[str, Any]) -> str:
    """Information left against edges dropped: the three families as curves over lambda, trained augmenters as marks."""
    points = entry["points"]
    graphs, classes = points[0]["graphs"], points[0]["classes"]
    title = f"All {graphs} graphs of {nodes} nodes: what an augmentation leaves"
    canvas = Canvas(_WIDTH, _HEIGHT, title)
    canvas.text(16, 26, title, size=15, bold=True)
    canvas.text(16, 45, f"{classes} classes under the 1-WL test. Numbers at marks are lambda.", colour=FAINT)
    trained = [(key, row["lambda"], row[key]) for row in entry["trained"] for key, _, _ in TRAINED]
    shown = [p[key] for p in points for key, _, _ in FAMILIES] + [point for *_, point in trained]
    x_axis = Axis.over([0.0, *(point["drop_ratio"] for point in shown)], _LEFT, _WIDTH - _RIGHT, 8)
    y_axis = Axis.over([0.0, math.log2(classes)], _HEIGHT - _BOTTOM, _TOP, 6)
    limit = [_place(x_axis, y_axis, p["any"]) for p in points]
    # Above the largest lambda the curve runs to the identity; below the smallest it is nearly on the axis.
    limit.append((x_axis.place(0.0), y_axis.place(math.log2(classes))))
    floor = y_axis.place(0.0)
    canvas.area([(limit[0][0], floor), *limit, (limit[-1][0], floor)], _SHADE)
    _axes(canvas, x_axis, y_axis, "expected share of edges dropped", "I(t'(G'); G') in bits")
    for key, _, colour in reversed(FAMILIES):
        places = [_place(x_axis, y_axis, p[key]) for p in points]
        canvas.path(limit if key == "any" else places, colour)
        for x, y in places:
            canvas.dot(x, y, colour, 2.5)
    canvas.text(x_axis.start + 12, floor - 14, "no augmentation gets here", colour=FAINT)
    _draw_trained(canvas, x_axis, y_axis, trained)
    _legend(canvas, [(n, c, "line") for _, n, c in FAMILIES] + [(n, c, k) for k, n, c in TRAINED])
    return canvas.to_svg()


def label_figure(
    nodes: int, points: Sequence[Mapping[str, Any]], frames: Mapping[str, Any], titles: Mapping[str, str]
) -> str:
    """A panel for each label: what is known of the label against what is known of the class."""
    title = f"What augmentations leave of a label ({nodes} nodes)"
    rows = math.ceil(len(frames) / 2)
    canvas = Canvas(2 * _PANEL_WIDTH + 20, 100 + rows * _PANEL_HEIGHT, title)
    canvas.text(16, 26, title, size=15, bold=True)
    _row_legend(canvas, 16, 48, [(n, c, "line") for _, n, c in FAMILIES])
    _row_legend(canvas, 16, 70, _KNOWN)
    for index, (name, frame) in enumerate(frames.items()):
        left, top = 10 + index % 2 * _PANEL_WIDTH, 90 + index // 2 * _PANEL_HEIGHT
        _label_panel(canvas, left, top, titles[name], [(p, p["labels"][name]) for p in points], frame)
    return canvas.to_svg()


def _label_panel(
    canvas: Canvas, left: float, top: float, title: str, rows: Sequence[tuple[Any, Any]], frame: Mapping[str, Any]
) -> None:
    forgetful, infomin = frame["forgetful"], frame["infomin"]
    curve = [*frame["bottleneck"], (forgetful["all_bits"], frame["bottleneck"][-1][1])]
    x_axis = Axis.over([0.0, forgetful["all_bits"]], left + 54, left + _PANEL_WIDTH - 16, 6)
    y_axis = Axis.over([0.0, rows[0][1]["entropy_bits"]], top + _PANEL_HEIGHT - 50, top + 30, 5)
    canvas.text(left + 54, top + 18, f"Bits about Y: {title}", bold=True)
    _axes(canvas, x_axis, y_axis, "bits about the class G'")
    spots = [(x_axis.place(x), y_axis.place(y)) for x, y in curve]
    for start, end in pairwise(spots):
        canvas.dashes(*start, *end, _KNOWN[0][1])
    for key, _, colour in reversed(FAMILIES):
        known = [(p[key], label if key == "any" else label[key]) for p, label in rows]
        ends = [(point["information_bits"], label["information_bits"]) for point, label in known]
        canvas.path([(x_axis.place(x), y_axis.place(y)) for x, y in ends], colour)
    if infomin is not None:
        canvas.dot(x_axis.place(infomin["information_bits"]), y_axis.place(infomin["label_bits"]), _KNOWN[1][1], 5)
    canvas.diamond(x_axis.place(forgetful["information_bits"]), y_axis.place(forgetful["label_bits"]), FAINT)


def _place(x_axis: Axis, y_axis: Axis, point: Mapping[str, float]) -> Point:
    return x_axis.place(point["drop_ratio"]), y_axis.place(point["information_bits"])


def _axes(canvas: Canvas, x_axis: Axis, y_axis: Axis, x_label: str, y_label: str = "") -> None:
    for tick in y_axis.ticks:
        canvas.line(x_axis.start, y_axis.place(tick), x_axis.end, y_axis.place(tick), GRID)
        canvas.text(x_axis.start - 8, y_axis.place(tick) + 4, y_axis.label(tick), anchor="end", colour=FAINT)
    for tick in x_axis.ticks:
        canvas.text(x_axis.place(tick), y_axis.start + 18, x_axis.label(tick), anchor="middle", colour=FAINT)
    canvas.text((x_axis.start + x_axis.end) / 2, y_axis.start + 38, x_label, anchor="middle")
    if y_label:
        canvas.text(x_axis.start, y_axis.end - 8, y_label)


def _draw_trained(canvas: Canvas, x_axis: Axis, y_axis: Axis, trained: Sequence[tuple[str, float, Any]]) -> None:
    colours = {key: colour for key, _, colour in TRAINED}
    for key, lam, point in trained:
        x, y = _place(x_axis, y_axis, point)
        with canvas.note(f"{key}, lambda {lam:g}: {point['drop_ratio']:.3f}, {point['information_bits']:.3f} bits"):
            _mark(canvas, x, y, key, colours[key])
        canvas.text(x + 9, y + (-6 if key == "network" else 14), f"{lam:g}", colour=colours[key], size=11)


def _mark(canvas: Canvas, x: float, y: float, kind: str, colour: str) -> None:
    if kind == "network":
        canvas.diamond(x, y, colour)
    elif kind == "free":
        canvas.dot(x, y, colour, 5)
    elif kind == "dashes":
        canvas.dashes(x - 9, y, x + 9, y, colour)
    else:
        canvas.path([(x - 9, y), (x + 9, y)], colour)


def _legend(canvas: Canvas, marks: Sequence[tuple[str, str, str]]) -> None:
    """In the upper right, which every curve leaves free."""
    left = _WIDTH - _RIGHT - 40 - max(text_width(name, 12) for name, _, _ in marks) * 0.92
    for row, (name, colour, kind) in enumerate(marks):
        y = _TOP + 18 + row * _LEGEND_LINE
        _mark(canvas, left, y - 4, kind, colour)
        canvas.text(left + 16, y, name)


def _row_legend(canvas: Canvas, left: float, y: float, marks: Sequence[tuple[str, str, str]]) -> None:
    x = left + 10
    for name, colour, kind in marks:
        _mark(canvas, x, y - 4, kind, colour)
        canvas.text(x + 14, y, name, size=11)
        x += 40 + text_width(name, 11) * 0.88
