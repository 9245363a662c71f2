"""A sweep as one table: a row per setting, with scores and drop ratio as mean and spread over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from adgcl.reports.numbers import mean_std, metric_label
from adgcl.reports.sweeps.points import Point, Row, arms_of, datasets_of
from adgcl.reports.table import EMPTY, Cell, Column, Table
from adgcl.reports.table import Row as Line


def summary(trials: Sequence[Row], title: str) -> Table:
    """Every setting of every arm on every data set that has a finished trial."""
    columns = [
        Column("data set", "group"), Column("arm", "name"), Column("setting"), Column("validation", "number"),
        Column("test", "number"), Column("drop ratio", "number"), Column("seeds", "number"),
    ]  # fmt: skip
    lines = []
    for dataset in datasets_of(trials):
        mine = [row for row in trials if row["dataset"] == dataset and row["status"] == "finished"]
        for number, point in enumerate(_settings(mine)):
            lines.append(Line(tuple(map(Cell, _cells(dataset, point))), starts_group=number == 0))
    metrics = dict.fromkeys((row["metric"], row["higher_is_better"]) for row in trials if "metric" in row)
    note = "Scores at the epoch that validation chose: " + ", ".join(metric_label(*metric) for metric in metrics) + "."
    return Table(tuple(columns), tuple(lines), title=title, notes=(note,) if lines else ())


def _settings(rows: Sequence[Row]) -> list[Point]:
    """The trials that differ only in their seed; scores of several probes stay apart."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    order = arms_of(rows)
    for row in rows:
        found.setdefault((row["arm"], setting(row), row["score"]), []).append(row)
    ranked = sorted(found.items(), key=lambda item: order.index(item[0][0]))
    return [Point(None, tuple(same)) for _, same in ranked]


def _cells(dataset: str, point: Point) -> list[str]:
    first = point.rows[0]
    several = len(point.rows) > 1
    shown = [mean_std(point.mean(c), point.spread(c) if several else None, first["metric"]) for c in ("valid", "test")]
    ratio = point.mean("drop_ratio_at_end")
    probe = "" if first["score"] == "linear" else f" ({first['score']})"
    dropped = EMPTY if isnan(ratio) else f"{ratio:.3f}"
    return [dataset, first["arm"] + probe, setting(first) or EMPTY, *shown, dropped, str(len(point.rows))]


def setting(row: Row) -> str:
    """The swept settings of a trial: `reg_lambda=5`."""
    swept = [(key.rpartition(".")[2], value) for key, value in row.items() if "." in key and value is not None]
    return ", ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in swept)
