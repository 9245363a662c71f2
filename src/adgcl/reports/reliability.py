"""Reliability curves as SVG: do molecules with a predicted probability of 0.7 turn out positive 7 times in 10?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adgcl.reports.svg import FAINT, GRID, INK, PALETTE, Axis, Canvas

_SIZE, _LEFT, _TOP, _RIGHT, _BOTTOM = 380.0, 64.0, 56.0, 24.0, 56.0
# The area of a dot says how many labels are behind it.
_SMALLEST, _LARGEST = 3.0, 12.0


def reliability_figure(points: Sequence[Mapping[str, float]], title: str) -> str:
    """The share of positives among labels of similar predicted probability; on the diagonal both are equal."""
    canvas = Canvas(_LEFT + _SIZE + _RIGHT, _TOP + _SIZE + _BOTTOM, title)
    canvas.text(12, 26, title, size=14, bold=True)
    x_axis = Axis(0.0, 1.0, _LEFT, _LEFT + _SIZE, tuple(i / 5 for i in range(6)))
    y_axis = Axis(0.0, 1.0, _TOP + _SIZE, _TOP, x_axis.ticks)
    for tick in x_axis.ticks:
        x, y = x_axis.place(tick), y_axis.place(tick)
        canvas.line(x_axis.start, y, x_axis.end, y, GRID)
        canvas.line(x, y_axis.start, x, y_axis.end, GRID)
        canvas.text(x_axis.start - 8, y + 4, x_axis.label(tick), anchor="end", colour=FAINT)
        canvas.text(x, y_axis.start + 20, x_axis.label(tick), anchor="middle", colour=FAINT)
    canvas.dashes(x_axis.start, y_axis.start, x_axis.end, y_axis.end, FAINT)
    places = [(x_axis.place(p["probability"]), y_axis.place(p["share"])) for p in points]
    canvas.path(places, PALETTE[0])
    most = max((p["labels"] for p in points), default=1)
    for point, (x, y) in zip(points, places):
        note = f"predicted {point['probability']:.2f}, found {point['share']:.2f}, {point['labels']:,} labels"
        with canvas.note(note):
            canvas.dot(x, y, PALETTE[0], max(_SMALLEST, _LARGEST * (point["labels"] / most) ** 0.5))
    canvas.text(x_axis.place(0.5), canvas.height - 12, "predicted probability", anchor="middle", colour=INK)
    canvas.text(12, _TOP - 10, "share of positives", colour=INK)
    return canvas.to_svg()
