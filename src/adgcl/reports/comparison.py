"""Comparison: a published table next to ours, cell by cell, in one mode or both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adgcl.core.gaps import Gap
from adgcl.core.records import Record
from adgcl.data.catalog import find_entry, is_known
from adgcl.protocols.base import PROTOCOLS
from adgcl.published import PublishedResult, PublishedTable, layouts
from adgcl.reports import numbers
from adgcl.reports.selection import one_per_cell
from adgcl.reports.table import Verdict

_NOT_RUN = Gap("not run")
Place = tuple[str, str, str]


@dataclass(frozen=True)
class ComparedCell:
    """One cell: our Record, the paper's figure, and why something is missing."""

    record: Record | None = None
    published: PublishedResult | None = None
    gap: Gap | None = None

    @property
    def gain(self) -> float | None:
        """Ours against the paper's in the metric's unit; above 0 is better, whichever way the metric goes."""
        if self.record is None or self.published is None:
            return None
        return (self.record.mean - self.published.mean) * (1 if self.record.higher_is_better else -1)

    @property
    def gain_in_stds(self) -> float | None:
        """The same in the paper's standard deviations."""
        if self.gain is None or self.published is None or not self.published.std:
            return None
        return self.gain / self.published.std

    @property
    def verdict(self) -> Verdict:
        """Better, equal or worse than the paper's; nothing where either is missing."""
        return numbers.verdict(self.gain, self.published.std if self.published else None)


@dataclass(frozen=True)
class Comparison:
    """Rows (our names) and columns (data sets) of a table, and its cells by mode, row and data set."""

    table: PublishedTable
    modes: tuple[str, ...]
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: Mapping[Place, ComparedCell] = field(default_factory=dict)

    def cell(self, mode: str, row: str, dataset: str) -> ComparedCell:
        found = self.cells.get((mode, row, dataset))
        return found or ComparedCell(None, self.table.result(dataset, row), _NOT_RUN)

    def record(self, mode: str, row: str, dataset: str) -> Record | None:
        return self.cell(mode, row, dataset).record

    def metric(self, dataset: str) -> tuple[str, bool]:
        """The metric of a column, and whether more of it is better."""
        for (_, _, name), cell in self.cells.items():
            if name == dataset and cell.record is not None:
                return cell.record.metric, cell.record.higher_is_better
        found = next((r for row in self.table.methods if (r := self.table.result(dataset, row))), None)
        return (found.metric, found.higher_is_better) if found else ("", True)

    def best(self, mode: str, dataset: str) -> frozenset[str]:
        """The rows whose printed mean no other row beats."""
        metric, higher = self.metric(dataset)
        printed = {
            row: round(record.mean, numbers.decimals(metric)) * (1 if higher else -1)
            for row in self.rows
            if (record := self.record(mode, row, dataset)) is not None
        }
        return frozenset(row for row, mean in printed.items() if len(printed) > 1 and mean == max(printed.values()))

    def gaps(self) -> list[tuple[str, str, str, Gap]]:
        """Every gap that has more to say than its status, by mode, row and data set."""
        named = [(*place, cell.gap) for place, cell in self.cells.items() if place[1] in self.rows and cell.gap]
        return [
            (mode, row, dataset, gap)
            for mode, row, dataset, gap in named
            if gap.detail or self.record(mode, row, dataset)
        ]


def compare_outcomes(
    table: PublishedTable,
    modes: Sequence[str],
    rows: Sequence[str],
    datasets: Sequence[str],
    outcomes: Mapping[Place, tuple[Record | None, Gap | None]],
) -> Comparison:
    """Compare a command's results with the paper."""
    cells = {
        place: ComparedCell(record, table.result(place[2], place[1]), gap) for place, (record, gap) in outcomes.items()
    }
    return Comparison(table, tuple(modes), tuple(rows), tuple(datasets), cells)


def compare_records(table: PublishedTable, mode: str, records: Iterable[Record]) -> Comparison | None:
    """The same from Records alone; None where there is none for the table in this mode."""
    fitting = [r for r in one_per_cell(records) if r.mode == mode and _in_table(r, table)]
    outcomes = {(mode, r.method, _paper_name(r.dataset)): (r, None) for r in fitting}
    if not outcomes:
        return None
    have = {row for _, row, _ in outcomes}
    rows = [*(row for row in table.methods if row in have), *sorted(have - set(table.methods))]
    datasets = [d for d in table.datasets if any(d == name for _, _, name in outcomes)]
    return compare_outcomes(table, (mode,), rows, datasets, outcomes)


def _in_table(record: Record, table: PublishedTable) -> bool:
    """Whether a Record is about one of the table's data sets, by a row it has or one that no table of its kind has."""
    if _paper_name(record.dataset) not in table.datasets or record.protocol not in PROTOCOLS:
        return False
    other = not any(record.method in known.methods for known in layouts().values() if known.protocol == record.protocol)
    return PROTOCOLS[record.protocol].fills(table, record.probe) and (record.method in table.methods or other)


def _paper_name(dataset: str) -> str:
    """What papers call one of our data sets: `moleculenet-bbbp` is BBBP there."""
    return (find_entry(dataset).origin.paper_name if is_known(dataset) else "") or dataset
