"""Panel: one data set in one mode, a row for each method, best first, next to the paper's figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.svg import FAINT, GRID, Axis, Canvas, text_width
from adgcl.reports.takeaway import PUBLISHED_MODE

HIGHLIGHT = "#e8f1fb"
_LABELS, _PLOT, _RIGHT, _NUMBERS, _TITLE = 124.0, 184.0, 30.0, 124.0, 13.0
_HEAD, _FOOT, _LANE, _BETWEEN = 34.0, 30.0, 15.0, 6.0
# How far a mean may lie outside the middle half of all, in widths of that half, before it is off the scale.
_FENCE = 3.0
# An outlier this near, in widths of the axis, is shown too.
_SPARE = 0.5
# An axis is not narrower than this many of the smallest steps that are printed: less is noise.
_NARROWEST = 200
_FEWEST = 4  # fewer values have no outliers


@dataclass(frozen=True)
class Look:
    """What all panels of a figure share: a colour for each protocol, room for names, and numbers next to rows."""

    colours: dict[str, str]
    numbers: bool
    labels: float
    width: float

    @classmethod
    def of(cls, records: Sequence[Record], colours: dict[str, str]) -> Look:
        rows = [(r.mode, r.dataset, r.metric, r.method) for r in records]
        one_mark_a_row = len(rows) == len(set(rows))
        labels = max(_LABELS, *(text_width(numbers.method_label(r.method)) + 14 for r in records))
        titles = max(text_width(_title(r), _TITLE) for r in records) + 14
        width = labels + _PLOT + (_NUMBERS if one_mark_a_row else _RIGHT)
        return cls(colours, one_mark_a_row, labels, max(width, titles))


@dataclass(frozen=True)
class Panel:
    """Rows of Records, a lane for each Record of a row, and the values that the axis shows."""

    title: str
    rows: tuple[tuple[Record, ...], ...]
    shown: tuple[float, float]
    look: Look

    @property
    def height(self) -> float:
        return _HEAD + sum(map(_row_height, self.rows)) + _FOOT

    @property
    def has_outliers(self) -> bool:
        """Whether something lies beyond the axis."""
        axis = self._axis(0.0)
        figures = [figure for row in self.rows for record in row for figure in _figures(record)]
        return not all(axis.holds(value) for mean, std in figures for value in (mean - std, mean + std))

    def draw(self, canvas: Canvas, x: float, top: float) -> None:
        left = x + self.look.labels
        axis = self._axis(left)
        first, bottom = top + _HEAD, top + self.height - _FOOT
        canvas.text(x, top + 22, self.title, size=_TITLE, bold=True)
        y = first
        for row in self.rows:
            if _is_ours(row[0]):
                canvas.box(x - 6, y, self.look.labels + _PLOT + 10, _row_height(row), HIGHLIGHT)
            y += _row_height(row)
        for tick in axis.ticks:
            canvas.line(axis.place(tick), first, axis.place(tick), bottom, GRID)
            canvas.text(axis.place(tick), bottom + 16, axis.label(tick), anchor="middle", colour=FAINT)
        y = first
        for row in self.rows:
            self._draw_row(canvas, axis, y, row)
            y += _row_height(row)

    def _axis(self, left: float) -> Axis:
        return Axis.over(self.shown, left, left + _PLOT, 4)

    def _draw_row(self, canvas: Canvas, axis: Axis, top: float, row: Sequence[Record]) -> None:
        middle = top + _row_height(row) / 2
        label = numbers.method_label(row[0].method)
        canvas.text(axis.start - 10, middle + 4, label, anchor="end", bold=_is_ours(row[0]))
        for place, record in enumerate(row):
            y = top + _BETWEEN / 2 + _LANE * (place + 0.5)
            with canvas.note(_note(record)):
                canvas.box(axis.start, y - _LANE / 2, _PLOT, _LANE, "transparent")
                _draw_record(canvas, axis, y, record, self.look.colours[numbers.judged_by(record)])
        if self.look.numbers:
            canvas.text(axis.end + 12, middle + 4, numbers.result(row[0]), bold=_is_ours(row[0]))


def make_panel(records: Sequence[Record], look: Look) -> Panel:
    """The panel of one data set in one mode."""
    first = records[0]
    rows: dict[str, list[Record]] = {}
    for record in sorted(records, key=lambda r: (r.probe, r.protocol)):
        rows.setdefault(record.method, []).append(record)
    sign = -1 if first.higher_is_better else 1
    best_first = sorted(rows.values(), key=lambda row: sign * row[0].mean)
    return Panel(_title(first), tuple(map(tuple, best_first)), _on_scale(records), look)


def _on_scale(records: Sequence[Record]) -> tuple[float, float]:
    """What the axis must hold: means and spreads, without outliers that would squeeze all others."""
    figures = [figure for record in records for figure in _figures(record)]
    low, high = _fence([mean for mean, _ in figures])
    # What the figure is about is never left out.
    about = [mean for record in records if record.method == numbers.REFERENCE for mean, _ in _figures(record)]
    low, high = min([low, *about]), max([high, *about])
    kept = [(mean, std) for mean, std in figures if low <= mean <= high]
    least = max(min(mean - std for mean, std in kept), low)
    most = min(max(mean + std for mean, std in kept), high)
    room = _SPARE * (most - least)
    near = [mean for mean, _ in figures if least - room <= mean <= most + room]
    least, most = min([least, *near]), max([most, *near])
    lacking = _NARROWEST * 10.0 ** -numbers.decimals(records[0].metric) - (most - least)
    return least - max(lacking, 0.0) / 2, most + max(lacking, 0.0) / 2


def _fence(means: Sequence[float]) -> tuple[float, float]:
    """Beyond these bounds a mean is an outlier (Tukey's rule)."""
    if len(means) < _FEWEST:
        return -math.inf, math.inf
    lower, upper = np.quantile(means, [0.25, 0.75])
    return float(lower - _FENCE * (upper - lower)), float(upper + _FENCE * (upper - lower))


def _figures(record: Record) -> list[tuple[float, float]]:
    """Mean and spread of a Record, and of the paper's where it was made in the same way."""
    ours = (record.mean, record.std or 0.0)
    if not record.published or record.mode != PUBLISHED_MODE:
        return [ours]
    return [ours, (float(record.published["mean"]), float(record.published.get("std") or 0.0))]


def _draw_record(canvas: Canvas, axis: Axis, y: float, record: Record, colour: str) -> None:
    (mean, std), *paper = _figures(record)
    for theirs, spread in paper:
        _draw_spread(canvas, axis, y, theirs, spread, FAINT, 1.0)
        if axis.holds(theirs):
            canvas.diamond(axis.place(theirs), y, FAINT)
    _draw_spread(canvas, axis, y, mean, std, colour, 2.0)
    if axis.holds(mean):
        canvas.dot(axis.place(mean), y, colour, 5 if _is_ours(record) else 4)
    _draw_off_scale(canvas, axis, y, record, colour)


def _draw_spread(canvas: Canvas, axis: Axis, y: float, mean: float, std: float, colour: str, width: float) -> None:
    """A line over one standard deviation either way, with an arrow where it continues outside."""
    low, high = axis.clip(mean - std), axis.clip(mean + std)
    if low < high:
        canvas.line(axis.place(low), y, axis.place(high), y, colour, width)
        for end, direction in ((mean - std, -1), (mean + std, 1)):
            if not axis.holds(end):
                canvas.arrow(axis.place(axis.clip(end)), y, colour, direction, 3)


def _draw_off_scale(canvas: Canvas, axis: Axis, y: float, record: Record, colour: str) -> None:
    """An arrow at the edge for means that lie beyond, and their values where the row has room."""
    means = [mean for mean, _ in _figures(record)]
    off = [mean for mean in means if not axis.holds(mean)]
    if not off:
        return
    direction = -1 if off[0] < axis.low else 1
    edge = axis.start if direction < 0 else axis.end
    ours = off[0] == means[0]
    texts = [f"{mean:.{numbers.decimals(record.metric)}f}" for mean in off]
    text = f"{texts[0]}, published {texts[1]}" if len(texts) > 1 else texts[0]
    canvas.arrow(edge, y, colour if ours else FAINT, direction)
    # Beyond what is drawn near the edge.
    taken = [abs(axis.place(axis.clip(value)) - edge) for m, s in _figures(record) for value in (m - s, m, m + s)]
    near = max((distance for distance in taken if distance < text_width(text) + 20), default=0.0)
    x = edge - direction * (max(near, 6.0) + 7)
    canvas.text(x, y + 4, text, anchor="start" if direction < 0 else "end", colour=colour if ours else FAINT)


def _title(record: Record) -> str:
    return f"{record.dataset}, {numbers.metric_label(record.metric, record.higher_is_better)}"


def _note(record: Record) -> str:
    judged = f"{record.mode}, {numbers.judged_by(record)}"
    what = f"{record.dataset}, {numbers.method_label(record.method)}, {judged}"
    text = f"{what}: {numbers.result(record)} ({numbers.seeds_label(record)})"
    return f"{text}; published {numbers.published(record)}" if len(_figures(record)) > 1 else text


def _is_ours(record: Record) -> bool:
    """AD-GCL, whatever settings it has."""
    return record.method.split("-")[0] == numbers.REFERENCE


def _row_height(row: Sequence[Record]) -> float:
    return _LANE * len(row) + _BETWEEN
