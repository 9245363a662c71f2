"""Figures from Records and metrics, as SVG: points with error bars, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.svg import FAINT, GRID, INK, PALETTE, Axis, Canvas

_PLOT, _ROW, _RIGHT, _HEAD, _FOOT = 400.0, 26.0, 130.0, 46.0, 34.0
# How wide a letter of a row's name is, at most.
_LETTER = 6.6
Points = Sequence[tuple[float, float]]


def figure_of_records(records: Sequence[Record]) -> str:
    """One panel per metric: each Record a dot with its spread, the paper's figure a diamond."""
    panels: dict[tuple[str, bool], list[Record]] = {}
    for record in sorted(records, key=lambda r: (r.dataset, r.method, r.mode, r.probe)):
        panels.setdefault((record.metric, record.higher_is_better), []).append(record)
    heights = [_HEAD + _ROW * len(rows) + _FOOT for rows in panels.values()]
    several = len({(r.mode, r.probe) for r in records}) > 1
    left = 28 + _LETTER * max(len(_name(record, several)) for record in records)
    canvas = Canvas(left + _PLOT + _RIGHT, sum(heights) + 8, "Results beside the published figures")
    top = 0.0
    for (metric, higher), height in zip(panels, heights):
        names = [_name(record, several) for record in panels[metric, higher]]
        _panel(canvas, top, left, panels[metric, higher], names, numbers.metric_label(metric, higher))
        top += height
    return canvas.to_svg()


def _name(record: Record, with_mode: bool) -> str:
    note = f"  {record.mode}, {record.probe}" if with_mode else ""
    return f"{record.dataset}  {numbers.method_label(record.method)}{note}"


def _panel(
    canvas: Canvas, top: float, left: float, records: Sequence[Record], names: Sequence[str], title: str
) -> None:
    axis = Axis.over([v for r in records for v in _extent(r)], left, left + _PLOT)
    bottom = top + _HEAD + _ROW * len(records)
    canvas.text(12, top + 24, title, size=14, bold=True)
    _legend(canvas, max(left, 150), top + 24, any(r.published for r in records))
    for tick in axis.ticks:
        canvas.line(axis.place(tick), top + _HEAD - 6, axis.place(tick), bottom, GRID)
        canvas.text(axis.place(tick), bottom + 16, axis.label(tick), anchor="middle", colour=FAINT, size=11)
    colours = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(sorted({r.method for r in records}))}
    for index, (record, name) in enumerate(zip(records, names)):
        y = top + _HEAD + _ROW * (index + 0.5)
        canvas.text(left - 14, y + 4, name, anchor="end", size=11)
        _marks(canvas, axis, y, record, colours[record.method])
        canvas.text(left + _PLOT + 14, y + 4, numbers.result(record), size=11)


def _marks(canvas: Canvas, axis: Axis, y: float, record: Record, colour: str) -> None:
    if record.published:
        mean, std = float(record.published["mean"]), record.published.get("std") or 0.0
        canvas.line(axis.place(mean - std), y + 5, axis.place(mean + std), y + 5, FAINT)
        canvas.diamond(axis.place(mean), y + 5, FAINT)
    std = record.std or 0.0
    canvas.line(axis.place(record.mean - std), y - 1, axis.place(record.mean + std), y - 1, colour, 2)
    canvas.dot(axis.place(record.mean), y - 1, colour)


def _legend(canvas: Canvas, x: float, y: float, with_published: bool) -> None:
    canvas.dot(x, y - 4, PALETTE[0])
    canvas.text(x + 10, y, "measured", colour=FAINT, size=11)
    if with_published:
        canvas.diamond(x + 90, y - 4, FAINT)
        canvas.text(x + 100, y, "published", colour=FAINT, size=11)


def _extent(record: Record) -> list[float]:
    spread = record.std or 0.0
    values = [record.mean - spread, record.mean + spread]
    if record.published:
        mean, std = float(record.published["mean"]), record.published.get("std") or 0.0
        values += [mean - std, mean + std]
    return values


def figure_of_curves(curves: Mapping[str, Points], title: str, x_label: str = "epoch") -> str:
    """One small chart per curve, one above the other, over the same x axis."""
    height, left, width, right = 190.0, 70.0, 760.0, 24.0
    drawn = {name: points for name, points in curves.items() if points}
    canvas = Canvas(width, 40 + height * len(drawn) + 24, title)
    canvas.text(12, 26, title, size=14, bold=True)
    for index, (name, points) in enumerate(drawn.items()):
        top = 40 + height * index
        x_axis = Axis.over([x for x, _ in points], left, width - right, 8)
        y_axis = Axis.over([y for _, y in points], top + height - 30, top + 24, 4)
        canvas.text(left, top + 14, name, size=12, bold=True, colour=PALETTE[index % len(PALETTE)])
        for tick in y_axis.ticks:
            canvas.line(left, y_axis.place(tick), width - right, y_axis.place(tick), GRID)
            canvas.text(left - 8, y_axis.place(tick) + 4, y_axis.label(tick), anchor="end", colour=FAINT, size=11)
        for tick in x_axis.ticks:
            canvas.text(
                x_axis.place(tick), top + height - 14, x_axis.label(tick), anchor="middle", colour=FAINT, size=11
            )
        canvas.path([(x_axis.place(x), y_axis.place(y)) for x, y in points], PALETTE[index % len(PALETTE)])
    canvas.text((left + width - right) / 2, canvas.height - 8, x_label, anchor="middle", colour=INK, size=11)
    return canvas.to_svg()


def curves_of_metrics(rows: Sequence[Mapping[str, float]]) -> dict[str, list[tuple[float, float]]]:
    """What a run measured after every epoch, as curves over the epochs."""
    names = [name for name in ("loss", "drop_ratio") if any(name in row for row in rows)]
    return {name: [(float(row["epoch"]), float(row[name])) for row in rows if name in row] for name in names}
