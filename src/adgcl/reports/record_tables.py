"""Tables from Records: a row for each Record, or methods down and data sets across as papers print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.formats.csv_text import table_of_values
from adgcl.reports.selection import one_per_cell
from adgcl.reports.table import EMPTY, Cell, Column, Row, Table

_COLUMNS = (
    Column("data set", "group", common=str),
    Column("method", "name", common=str),
    Column("mode", common=str),
    Column("evaluation", common=str),
    Column("metric", common=str),
    Column("result", "number"),
    Column("seeds", "number", common=lambda count: "1 seed" if count == "1" else f"{count} seeds"),
    Column("published", "number"),
    Column("difference", "number"),
    Column("time", "number"),
)
_VALUES = (
    "dataset", "method", "mode", "protocol", "probe", "metric", "mean", "std", "seeds", "published_mean",
    "published_std", "published_table", "difference", "seconds",
)  # fmt: skip


def record_list(records: Sequence[Record], title: str = "", *, every: bool = False) -> Table:
    """A row for each Record that tables show, or for `every` one."""
    shown = records if every else one_per_cell(records)
    return Table(_COLUMNS, tuple(Row(_cells(record)) for record in shown), title).without_empty()


def record_values(records: Sequence[Record]) -> Table:
    """The same with full numbers, for CSV."""
    return table_of_values([_values(record) for record in one_per_cell(records)], _VALUES)


def pivots(records: Sequence[Record]) -> list[Table]:
    """One table for each metric, probe, protocol and mode that occurs."""
    groups: dict[tuple[str, str, str, str], list[Record]] = {}
    for record in one_per_cell(records):
        groups.setdefault((record.metric, record.protocol, record.probe, record.mode), []).append(record)
    return [_pivot(group) for _, group in sorted(groups.items())]


def _cells(record: Record) -> tuple[Cell, ...]:
    return (
        Cell(record.dataset),
        Cell(numbers.method_label(record.method)),
        Cell(record.mode),
        Cell(numbers.judged_by(record)),
        Cell(numbers.metric_label(record.metric, record.higher_is_better)),
        Cell(numbers.result(record)),
        Cell(str(len(record.seeds))),
        Cell(numbers.published(record)),
        Cell(
            numbers.signed(numbers.difference(record), record.metric),
            verdict=numbers.verdict(numbers.gain(record), None),
        ),
        Cell(numbers.seconds_label(record.seconds)),
    )


def _values(record: Record) -> dict[str, Any]:
    figure = record.published or {}
    gap = numbers.difference(record)
    return {
        "dataset": record.dataset,
        "method": record.method,
        "mode": record.mode,
        "protocol": record.protocol,
        "probe": record.probe,
        "metric": record.metric,
        "mean": record.mean,
        "std": record.std,
        "seeds": len(record.seeds),
        "published_mean": figure.get("mean"),
        "published_std": figure.get("std"),
        "published_table": figure.get("table"),
        "difference": None if gap is None else round(gap, 6),
        "seconds": record.seconds,
    }


def _pivot(group: Sequence[Record]) -> Table:
    """A row per method, and below it the paper's figures."""
    found = {(r.method, r.dataset): r for r in group}
    datasets = sorted({r.dataset for r in group})
    rows = []
    for method in sorted({r.method for r in group}, key=numbers.method_label):
        mine = [found.get((method, dataset)) for dataset in datasets]
        name = Cell(numbers.method_label(method))
        ours = [Cell(numbers.result(r) if r else EMPTY) for r in mine]
        rows.append(Row((name, *ours), highlight=method == numbers.REFERENCE))
        theirs = next((r.published["method"] for r in mine if r and r.published), None)
        if theirs is not None:
            paper = [Cell(numbers.published(r) if r else EMPTY, faint=True) for r in mine]
            rows.append(Row((Cell(f"{theirs} (published)", faint=True), *paper)))
    first = group[0]
    metric = numbers.metric_label(first.metric, first.higher_is_better)
    title = f"{metric}, {numbers.judged_by(first)}, mode {first.mode}"
    columns = (Column("method", "name"), *(Column(dataset, "number") for dataset in datasets))
    return Table(columns, tuple(rows), title)
