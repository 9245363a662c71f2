"""Records as a picture: a panel for each data set, a row for each method, best first, beside the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.svg import FAINT, GRID, PALETTE, Axis, Canvas

_COLUMNS, _PLOT, _LEFT, _TOP, _HEAD, _FOOT = 3, 240.0, 122.0, 40.0, 40.0, 34.0
# The height of a row, and how far apart its marks are.
_ROW, _MARK = 12.0, 9.0
Series = tuple[str, str]


class Panel(NamedTuple):
    """What one data set has, method by method."""

    title: str
    rows: tuple[tuple[Record, ...], ...]
    marks: int

    @property
    def height(self) -> float:
        return _HEAD + len(self.rows) * self.row + _FOOT

    @property
    def row(self) -> float:
        return _ROW + _MARK * self.marks


def figure_of_records(records: Sequence[Record]) -> str:
    """Each Record a dot with its spread, the paper's figure a diamond; a colour for each mode and probe."""
    series = sorted({_series(record) for record in records})
    colours = {key: PALETTE[i % len(PALETTE)] for i, key in enumerate(series)}
    # Numbers have room where a row has one mark.
    right = 18.0 if len(series) > 1 else 110.0
    panels = _panels(records)
    columns = min(_COLUMNS, len(panels))
    places, height = _places(panels, columns)
    width = _LEFT + _PLOT + right
    canvas = Canvas(max(columns * width, 560), height, "Results beside the published figures")
    _legend(canvas, colours)
    for panel, (column, top) in zip(panels, places):
        _draw(canvas, panel, column * width + _LEFT, top, colours)
    return canvas.to_svg()


def _places(panels: Sequence[Panel], columns: int) -> tuple[list[tuple[int, float]], float]:
    """The column and top of each panel, each put where there is most room left; and how far down they reach."""
    ends, places = [_TOP] * columns, []
    for panel in panels:
        column = ends.index(min(ends))
        places.append((column, ends[column]))
        ends[column] += panel.height
    return places, max(ends)


def _series(record: Record) -> Series:
    return record.mode, record.probe


def _panels(records: Sequence[Record]) -> list[Panel]:
    groups: dict[tuple[str, str, bool], dict[str, list[Record]]] = {}
    for record in sorted(records, key=lambda r: (r.dataset, _series(r))):
        of_set = groups.setdefault((record.dataset, record.metric, record.higher_is_better), {})
        of_set.setdefault(record.method, []).append(record)
    panels = []
    for (dataset, metric, higher), rows in groups.items():
        best_first = sorted(rows.values(), key=lambda row: -row[0].mean if higher else row[0].mean)
        marks = max(len(row) for row in best_first)
        title = f"{dataset}, {numbers.metric_label(metric, higher)}"
        panels.append(Panel(title, tuple(tuple(row) for row in best_first), marks))
    return panels


def _draw(canvas: Canvas, panel: Panel, left: float, top: float, colours: dict[Series, str]) -> None:
    axis = Axis.over([v for row in panel.rows for record in row for v in _extent(record)], left, left + _PLOT, 5)
    first, bottom = top + _HEAD, top + panel.height - _FOOT
    canvas.text(left, top + 24, panel.title, size=13, bold=True)
    for tick in axis.ticks:
        canvas.line(axis.place(tick), first - 4, axis.place(tick), bottom, GRID)
        canvas.text(axis.place(tick), bottom + 14, axis.label(tick), anchor="middle", colour=FAINT, size=10)
    for index, row in enumerate(panel.rows):
        middle = first + panel.row * (index + 0.5)
        canvas.text(left - 10, middle + 4, numbers.method_label(row[0].method), anchor="end", size=11)
        for place, record in enumerate(row):
            y = middle + _MARK * (place - (len(row) - 1) / 2)
            _mark(canvas, axis, y, record, colours[_series(record)])
        if len(colours) == 1:
            canvas.text(left + _PLOT + 12, middle + 4, numbers.result(row[0]), size=11)


def _mark(canvas: Canvas, axis: Axis, y: float, record: Record, colour: str) -> None:
    what = f"{record.dataset}, {numbers.method_label(record.method)}, {record.mode}, {record.probe}"
    if record.published:
        mean, std = _published(record)
        canvas.line(axis.place(mean - std), y, axis.place(mean + std), y, FAINT)
        canvas.diamond(axis.place(mean), y, FAINT, f"{what}, published: {numbers.published(record)}")
    std = record.std or 0.0
    canvas.line(axis.place(record.mean - std), y, axis.place(record.mean + std), y, colour, 2)
    seeds = f"{len(record.seeds)} seed{'s' if len(record.seeds) > 1 else ''}"
    canvas.dot(axis.place(record.mean), y, colour, f"{what}: {numbers.result(record)} ({seeds})")


def _extent(record: Record) -> list[float]:
    spread = record.std or 0.0
    values = [record.mean - spread, record.mean + spread]
    if record.published:
        mean, std = _published(record)
        values += [mean - std, mean + std]
    return values


def _published(record: Record) -> tuple[float, float]:
    assert record.published is not None
    return float(record.published["mean"]), float(record.published.get("std") or 0.0)


def _legend(canvas: Canvas, colours: dict[Series, str]) -> None:
    x = 16.0
    for (mode, probe), colour in colours.items():
        label = f"{mode}, {probe} probe"
        canvas.dot(x, 20, colour)
        canvas.text(x + 9, 24, label, size=11)
        x += 28 + 6.2 * len(label)
    canvas.diamond(x, 20, FAINT)
    canvas.text(x + 9, 24, "published", size=11)
