"""How the paper lays out its tables: which data sets, methods and probe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from adgcl.core.errors import UnknownNameError
from adgcl.published.reader import PublishedResult, find_result, method_names, results, rows


@dataclass(frozen=True)
class PublishedTable:
    """A table that can be reproduced: its columns (data sets) and rows (the paper's labels), in printed order."""

    name: str
    title: str
    protocol: str
    probe: str
    source: str
    datasets: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """Our names of its rows."""
        names = {label: name for name, label in method_names().items()}
        return tuple(names[label] for label in self.labels if label in names)

    def result(self, dataset: str, method: str) -> PublishedResult | None:
        """The printed cell of one of our methods."""
        return find_result(dataset, method, self.name)


@cache
def layouts() -> dict[str, PublishedTable]:
    """Every table with a known protocol, by name."""
    return {row["table"]: _layout(row) for row in rows("tables.csv")}


def layout(name: str) -> PublishedTable:
    """The table called `name`."""
    if name not in layouts():
        raise UnknownNameError("table", name, layouts())
    return layouts()[name]


def _layout(row: dict[str, str]) -> PublishedTable:
    cells = results(row["table"])
    return PublishedTable(
        row["table"],
        row["title"],
        row["protocol"],
        row["probe"],
        row["source"],
        tuple(dict.fromkeys(cell.dataset for cell in cells)),
        tuple(dict.fromkeys(cell.method for cell in cells)),
    )
