"""Table: column names and rows with their line numbers, whatever file they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from adgcl.core.errors import DataError

SAMPLE = 100


class Row(NamedTuple):
    """One row: the line it starts on (from 1), its fields, and why it cannot be read, if so."""

    line: int
    fields: list[str]
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written in any field."""
        return not any(field.strip() for field in self.fields)

    @property
    def is_blank(self) -> bool:
        """Whether it is an empty line, without even a delimiter."""
        return len(self.fields) < 2 and self.is_empty


@dataclass
class Table:
    """A table that is being read: its column names, its first rows, and all rows (to be read once).

    `smiles` and `id` are the places of these columns where the file format itself says which they are;
    `decimal_comma` says that numbers may be written 1,5.
    """

    path: Path
    columns: tuple[str, ...]
    sample: tuple[Row, ...]
    rows: Iterator[Row]
    smiles: int | None = None
    id: int | None = None
    decimal_comma: bool = False


IsHeader = Callable[[list[str], list[Row]], bool]


def with_columns(path: Path, rows: Iterator[Row], is_header: IsHeader) -> Table:
    """A table of rows; `is_header` decides from the first filled row and those after it whether it names columns.

    Empty rows keep their place, so that what is said about row 17 stands in row 17. Those above a header are no rows,
    nor are blank lines at the end of a file.
    """
    rows = _without_blank_end(rows)
    above: list[Row] = []
    for head in rows:
        if not head.is_empty:
            break
        above.append(head)
    else:
        raise DataError(f"{path} is empty.", "It should have one molecule per line.")
    below = list(islice(rows, SAMPLE))
    if is_header(head.fields, below):
        columns = _named_columns(path, head.fields)
        first_rows = below
        if not first_rows:
            raise DataError(f"{path} has a header but no rows.", "It should have one molecule per line.")
    else:
        first_rows = [*above, head, *below]
        widest = max(len(row.fields) for row in first_rows)
        columns = tuple(f"column {number}" for number in range(1, widest + 1))
    return Table(path, columns, tuple(first_rows), chain(first_rows, rows))


def _without_blank_end(rows: Iterator[Row]) -> Iterator[Row]:
    blank: list[Row] = []
    for row in rows:
        if row.is_blank:
            blank.append(row)
            continue
        yield from blank
        blank = []
        yield row


def _named_columns(path: Path, head: list[str]) -> tuple[str, ...]:
    names = [name.strip() or f"column {number}" for number, name in enumerate(head, 1)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path} has two columns called {twice!r}.", "Rename or remove one of them.")
    return tuple(names)
