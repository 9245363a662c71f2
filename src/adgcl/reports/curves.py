"""Curves of what a run measured, as SVG: one small chart above the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adgcl.reports.svg import FAINT, GRID, INK, PALETTE, Axis, Canvas

Points = Sequence[tuple[float, float]]


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
