"""What searches chose and what that is worth, from their Records alone: for pages that are made again from Records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adgcl.core.ranges import shown
from adgcl.core.records import Record
from adgcl.experiments.tuning.choice import START, TUNED
from adgcl.experiments.tuning.space import value_at
from adgcl.reports.formats.markdown import to_markdown
from adgcl.reports.numbers import metric_label, result, seeds_label
from adgcl.reports.table import EMPTY, Cell, Column, Row, Table


def chosen_settings(records: Sequence[Record]) -> str:
    """A table for each search: every setting at the start and as chosen, and below them the scores of both."""
    return "\n".join(part for record in records if _is_tuned(record) for part in _parts(record, records))


def _parts(tuned: Record, records: Sequence[Record]) -> Iterator[str]:
    start = next((record for record in records if _is_start_of(record, tuned)), None)
    yield f"Made by `{tuned.command}`:\n"
    yield to_markdown(_table(tuned, start))
    yield "".join(f"- {note}\n" for note in dict.fromkeys(note for r in (tuned, start) if r for note in r.notes))


def _table(tuned: Record, start: Record | None) -> Table:
    columns = (Column("setting", "name"), Column("searched"), Column("start", "number"), Column("chosen", "number"))
    rows = []
    for name, range_ in tuned.config["tune"].items():
        if name != "trials":
            values = [_value(record, name) for record in (start, tuned)]
            rows.append(Row((Cell(f"`{name}`"), Cell(str(range_)), *map(Cell, values))))
    label = f"test {metric_label(tuned.metric, tuned.higher_is_better)}, {seeds_label(tuned)}"
    rows.append(Row((Cell(label), Cell(), Cell(result(start) if start else EMPTY), Cell(result(tuned)))))
    return Table(columns, tuple(rows))


def _value(record: Record | None, name: str) -> str:
    return EMPTY if record is None else shown(value_at(record.config, name))


def _is_tuned(record: Record) -> bool:
    return "tune" in record.config and record.method.endswith(f"-{TUNED}")


def _is_start_of(record: Record, tuned: Record) -> bool:
    """Whether two Records are about the same search."""
    method = f"{tuned.method.removesuffix(TUNED)}{START}"
    same = record.dataset == tuned.dataset and record.probe == tuned.probe and record.seeds == tuned.seeds
    return same and record.method == method and record.config.get("tune") == tuned.config["tune"]
