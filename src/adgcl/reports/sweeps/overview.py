"""The figures of any other sweep: the score against the swept setting, and the course of training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adgcl.reports.sweeps.drawing import MARKERS, colour, epochs_below, legend_below, panels, wrapped
from adgcl.reports.sweeps.findings import Finding
from adgcl.reports.sweeps.points import Row, arms_of, courses, datasets_of, metric_of, points, swept

CAPTIONS = {
    "score": "The score at the epoch that validation chose, against the swept setting: validation (solid) and test "
    "(dashed), mean and standard deviation over seeds.",
    "drop_ratio": "The drop ratio during training, mean over seeds.",
}


def draw(tables: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Any]]:
    """The score of each trial on each data set, and the drop ratio over epochs where there is one."""
    trials, course = tables["trials"], tables["courses"]
    names = datasets_of(trials)
    if not names:
        return
    yield "score", _scores(trials, names)
    if any("drop_ratio" in row for row in course):
        yield "drop_ratio", _courses(trials, course, names)


def findings(tables: Mapping[str, Sequence[Row]]) -> Iterator[Finding]:
    """None: nobody has claimed anything about this sweep."""
    yield from ()


def _scores(trials: Sequence[Row], names: Sequence[str]) -> Any:
    settings = swept(trials)

    def one(axis: Any, name: str) -> None:
        for number, arm in enumerate(arms_of(trials)):
            setting = _setting(trials, arm)
            found = points(trials, name, arm, setting)
            numeric = setting and len(found) > 1 and all(isinstance(p.value, int | float) for p in found)
            for column, style in (("valid", "-"), ("test", "--")):
                means, spread = [p.mean(column) for p in found], [p.spread(column) for p in found]
                look = {"color": colour(number), "marker": MARKERS[number % len(MARKERS)], "capsize": 2}
                label = wrapped(arm) if column == "valid" else None
                if numeric:
                    axis.errorbar([p.value for p in found], means, spread, ls=style, label=label, **look)
                elif found:
                    axis.axhline(means[0], color=colour(number), ls=style, lw=1, label=label)
        axis.set(xlabel=" / ".join(key.rpartition(".")[2] for key in settings), ylabel=metric_of(trials, name))

    figure = panels(names, one)
    legend_below(figure)
    return figure


def _setting(trials: Sequence[Row], arm: str) -> str:
    """The setting that an arm was swept over, if any; the first of several."""
    mine = [row for row in trials if row["arm"] == arm]
    return next((key for key in swept(trials) if any(key in row for row in mine)), "")


def _courses(trials: Sequence[Row], course: Sequence[Row], names: Sequence[str]) -> Any:
    def one(axis: Any, name: str) -> None:
        lines = [
            (arm, point)
            for arm in arms_of(course)
            for point in points(course, name, arm, _setting(trials, arm))
            if any("drop_ratio" in row for row in point.rows)
        ]
        for number, (arm, point) in enumerate(lines):
            epochs, mean, _ = courses(point.rows, "drop_ratio")
            value = "" if point.value is None else f" {point.value}"
            axis.plot(epochs, mean, color=colour(number), ls=("-", "--", ":")[number // 6 % 3], label=f"{arm}{value}")
        axis.set(ylabel="drop ratio", ylim=(-0.03, 1.03))
        epochs_below(axis)

    figure = panels(names, one)
    legend_below(figure)
    return figure
