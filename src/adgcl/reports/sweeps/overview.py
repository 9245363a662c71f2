"""The figures of any other sweep: the score against the swept setting, and the course of training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adgcl.reports.sweeps.drawing import MARKERS, colour, epochs_below, legend_below, panels, wrapped
from adgcl.reports.sweeps.findings import Finding
from adgcl.reports.sweeps.points import Point, Row, arms_of, courses, datasets_of, metric_of, points, swept
from adgcl.reports.sweeps.summary import setting as setting_of

_COLUMNS = {"valid": "validation", "test": "test"}
_STYLES = {"valid": "-", "test": "--"}

CAPTIONS = {
    "score": "Validation and test score at the epoch that validation chose, mean and standard deviation over seeds.",
    "drop_ratio": "The drop ratio during training, mean over seeds.",
}


def draw(tables: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Any]]:
    """The score of each trial on each data set, and the drop ratio over epochs where there is one."""
    trials, course = tables["trials"], tables["courses"]
    names = datasets_of(trials)
    if not names:
        return
    yield "score", _lines(trials, names) if _one_axis(trials) else _ways(trials, names)
    if any("drop_ratio" in row for row in course):
        yield "drop_ratio", _courses(trials, course, names)


def findings(tables: Mapping[str, Sequence[Row]]) -> Iterator[Finding]:
    """None: nobody has claimed anything about this sweep."""
    yield from ()


def _one_axis(trials: Sequence[Row]) -> bool:
    """Whether all arms were tried with several numbers of the same setting."""
    settings = [_setting(trials, arm) for arm in arms_of(trials)]
    if len(swept(trials)) != 1 or not all(settings):
        return False
    values = {row[key] for key in settings for row in trials if row.get(key) is not None}
    return len(values) > 1 and all(isinstance(value, int | float) for value in values)


def _lines(trials: Sequence[Row], names: Sequence[str]) -> Any:
    """Scores against the one setting that was swept."""
    (setting,) = swept(trials)

    def one(axis: Any, name: str) -> None:
        for number, arm in enumerate(arms_of(trials)):
            found = points(trials, name, arm, setting)
            for column, style in _STYLES.items():
                look = {"color": colour(number), "marker": MARKERS[number % len(MARKERS)], "capsize": 2}
                means, spread = [p.mean(column) for p in found], [p.spread(column) for p in found]
                label = f"{wrapped(arm)}, {_COLUMNS[column]}"
                axis.errorbar([p.value for p in found], means, spread, ls=style, label=label, **look)
        axis.set(xlabel=setting.rpartition(".")[2], ylabel=metric_of(trials, name))

    figure = panels(names, one)
    legend_below(figure)
    return figure


def _ways(trials: Sequence[Row], names: Sequence[str]) -> Any:
    """Scores of arms and settings that have no common axis, one below the other."""
    done = [row for row in trials if row["status"] == "finished"]
    ways = list(
        dict.fromkeys((row["arm"], setting_of(row)) for arm in arms_of(done) for row in done if row["arm"] == arm)
    )

    def one(axis: Any, name: str) -> None:
        for place, way in enumerate(ways):
            mine = [row for row in done if row["dataset"] == name and (row["arm"], setting_of(row)) == way]
            if not mine:
                continue
            point = Point(None, tuple(mine))
            for number, (column, what) in enumerate(_COLUMNS.items()):
                look = {"color": colour(number), "marker": MARKERS[number], "capsize": 2, "ls": ""}
                at, spread = place + 0.3 * number - 0.15, point.spread(column)
                axis.errorbar(point.mean(column), at, xerr=spread, label=what if place == 0 else None, **look)
        axis.set_yticks(range(len(ways)), [wrapped(" ".join(filter(None, way)), 30) for way in ways], fontsize=7)
        axis.set(xlabel=metric_of(trials, name), ylim=(len(ways) - 0.5, -0.5))

    figure = panels(names, one, columns=2, share=True, tall=max(2.7, 0.27 * len(ways)))
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
