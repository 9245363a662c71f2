"""Records as a figure: a group of panels for each mode, a panel for each data set, a row for each method."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.panel import HIGHLIGHT, Look, Panel, make_panel
from adgcl.reports.selection import one_per_cell
from adgcl.reports.svg import FAINT, PALETTE, Canvas, text_width
from adgcl.reports.takeaway import PUBLISHED_MODE, takeaway

_COLUMNS, _MARGIN, _LEAST = 3, 20.0, 640.0
_TITLE, _HEADING, _LINE = 18.0, 15.0, 22.0
_PUBLISHED = "published"
Mark = tuple[str, str, str]
_PROBES = ("linear", "svm", "head")
_MODES = {PUBLISHED_MODE: "evaluated as the authors did", "strict": "nothing chosen on test data"}


def figure_of_records(records: Sequence[Record]) -> str:
    """Each Record a dot with its spread; the paper's figures as diamonds where they were made in the same way."""
    records = one_per_cell(records)
    kinds = sorted({(_probe_order(record.probe), numbers.judged_by(record)) for record in records})
    look = Look.of(records, {kind: PALETTE[i % len(PALETTE)] for i, (_, kind) in enumerate(kinds)})
    groups = {mode: _panels([r for r in records if r.mode == mode], look) for mode in _modes(records)}
    columns = min(_COLUMNS, max(map(len, groups.values())))
    canvas = Canvas(max(columns * look.width + 2 * _MARGIN, _LEAST), 0.0, takeaway(records))
    y = _head(
        canvas, _legend_of(records, look, any(panel.has_outliers for group in groups.values() for panel in group))
    )
    for mode, panels in groups.items():
        canvas.text(_MARGIN, y + 26, _heading(mode, records), size=_HEADING, bold=True)
        y = _place(canvas, panels, columns, y + 36)
    canvas.height = y
    return canvas.to_svg()


def _probe_order(probe: str) -> tuple[int, str]:
    """The paper's first choice gets the first colour."""
    return (_PROBES.index(probe) if probe in _PROBES else len(_PROBES)), probe


def _modes(records: Sequence[Record]) -> list[str]:
    """The mode that can be compared with the paper comes first."""
    return sorted({record.mode for record in records}, key=lambda mode: (mode != PUBLISHED_MODE, mode))


def _heading(mode: str, records: Sequence[Record]) -> str:
    text = f"{mode}: {_MODES[mode]}" if mode in _MODES else mode
    apart = mode != PUBLISHED_MODE and any(record.published for record in records if record.mode == mode)
    return f"{text}, so not comparable with published figures" if apart else text


def _panels(records: Sequence[Record], look: Look) -> list[Panel]:
    """Data sets grouped by metric, accuracies before errors, those with most rows first."""
    sets: dict[tuple[bool, str, str], list[Record]] = {}
    for record in records:
        sets.setdefault((not record.higher_is_better, record.metric, record.dataset), []).append(record)
    made = {key: make_panel(group, look) for key, group in sets.items()}
    return [made[key] for key in sorted(made, key=lambda key: (*key[:2], -made[key].height, key[2]))]


def _place(canvas: Canvas, panels: Sequence[Panel], columns: int, top: float) -> float:
    """Draw each panel where there is most room left; return how far down they reach."""
    ends = [top] * columns
    for panel in panels:
        column = ends.index(min(ends))
        panel.draw(canvas, _MARGIN + column * panel.look.width, ends[column])
        ends[column] += panel.height
    return max(ends)


def _legend_of(records: Sequence[Record], look: Look, outliers: bool) -> list[Mark]:
    """A name, a shape and a colour for each kind of mark that occurs."""
    marks = [(kind, "dot", colour) for kind, colour in look.colours.items()]
    if any(record.published and record.mode == PUBLISHED_MODE for record in records):
        marks.append((_PUBLISHED, "diamond", FAINT))
    if outliers:
        marks.append(("off the scale", "arrow", FAINT))
    if any(record.method == numbers.REFERENCE for record in records):
        marks.append((numbers.method_label(numbers.REFERENCE), "box", HIGHLIGHT))
    return marks


def _head(canvas: Canvas, legend: Sequence[Mark]) -> float:
    """Draw the takeaway, what its words mean, and a legend; return how far down they reach."""
    y = _MARGIN
    room = canvas.width - 2 * _MARGIN
    for line in textwrap.wrap(canvas.title, int(room / text_width("x", _TITLE))):
        y += _LINE
        canvas.text(_MARGIN, y, line, size=_TITLE, bold=True)
    words = "Dots: mean ± standard deviation over seeds. Hover over a row for its values."
    if any(name == _PUBLISHED for name, _, _ in legend):
        words = "Meets: at most one published standard deviation worse. " + words
    for line in textwrap.wrap(words, int(room / text_width("x", 13))):
        y += _LINE - 2
        canvas.text(_MARGIN, y, line, size=13, colour=FAINT)
    return _draw_legend(canvas, legend, y + _LINE + 4)


def _draw_legend(canvas: Canvas, legend: Sequence[Mark], y: float) -> float:
    x = _MARGIN
    for name, shape, colour in legend:
        width = 20 + text_width(name, 13) + 18
        if x + width > canvas.width and x > _MARGIN:
            x, y = _MARGIN, y + _LINE
        match shape:
            case "dot":
                canvas.dot(x + 6, y - 4, colour, 5)
            case "diamond":
                canvas.diamond(x + 6, y - 4, colour)
            case "arrow":
                canvas.arrow(x + 1, y - 4, colour, -1)
            case _:
                canvas.box(x - 2, y - 12, 16, 16, colour)
        canvas.text(x + 18, y, name, size=13)
        x += width
    return y + 6
