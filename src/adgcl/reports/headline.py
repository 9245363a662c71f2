"""The headline: five data sets of five kinds, AD-GCL next to the paper, an untrained encoder and a baseline."""

from __future__ import annotations

from collections.abc import Sequence

from adgcl.core.records import Record
from adgcl.reports import numbers
from adgcl.reports.selection import one_per_cell
from adgcl.reports.table import EMPTY, Cell, Column, Row, Table

# A small and a larger set of molecules by structure, a social one, a classification and a regression of molecules.
DATASETS = ("MUTAG", "PROTEINS", "IMDB-BINARY", "ogbg-molbbbp", "ogbg-molesol")
_FLOORS = ("ecfp", "statistics")
_COLUMNS = (
    Column("data set", "name"),
    Column("metric"),
    Column("AD-GCL", "number"),
    Column("the paper's", "number"),
    Column("untrained encoder", "number"),
    Column("no network", "number"),
)


def headline(records: Sequence[Record]) -> Table:
    """Evaluated as in the paper, with the linear probe; data sets without AD-GCL are left out."""
    found = {
        (record.dataset, record.method): record
        for record in one_per_cell(records)
        if record.mode == "as_published" and record.probe == "linear" and record.protocol == "unsupervised"
    }
    rows = [_row(dataset, found) for dataset in DATASETS if (dataset, numbers.REFERENCE) in found]
    return Table(_COLUMNS, tuple(rows))


def _row(dataset: str, found: dict[tuple[str, str], Record]) -> Row:
    ours = found[dataset, numbers.REFERENCE]
    floor = next((found[dataset, name] for name in _FLOORS if (dataset, name) in found), None)
    untrained = found.get((dataset, "random_init"))
    return Row(
        (
            Cell(dataset),
            Cell(numbers.metric_label(ours.metric, ours.higher_is_better)),
            Cell(f"{numbers.result(ours)} ({numbers.seeds_label(ours)})"),
            Cell(numbers.published(ours)),
            Cell(numbers.result(untrained) if untrained else EMPTY),
            Cell(f"{numbers.result(floor)} ({numbers.method_label(floor.method)})" if floor else EMPTY),
        )
    )
