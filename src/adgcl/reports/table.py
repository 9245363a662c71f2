"""Table: what every report is made of. `formats` prints it in the terminal, as text, Markdown, LaTeX, CSV or HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

# `group`: rows belong together by it (the data set). `name`: what a row is about. `text` may be wrapped, `number` not.
Kind = Literal["group", "name", "text", "number"]
Verdict = Literal["", "better", "equal", "worse"]
EMPTY = "–"


@dataclass(frozen=True)
class Column:
    """A heading, the kind of cells below it, and how to state a value that they all share."""

    name: str
    kind: Kind = "text"
    note: str = ""
    common: Callable[[str], str] | None = None


@dataclass(frozen=True)
class Cell:
    """A text and its style; `detail` is shown next to it, `tip` on hover."""

    text: str = ""
    detail: str = ""
    best: bool = False
    faint: bool = False
    verdict: Verdict = ""
    tip: str = ""

    @property
    def plain(self) -> str:
        """Text and detail together."""
        return f"{self.text} {self.detail}".rstrip()

    @property
    def empty(self) -> bool:
        return self.plain in ("", EMPTY)


@dataclass(frozen=True)
class Row:
    """Cells from left to right; a row may start a group of lines, or be the one the table is about."""

    cells: tuple[Cell, ...]
    starts_group: bool = False
    highlight: bool = False


@dataclass(frozen=True)
class Table:
    """A title, a line above the columns, the columns, rows, and notes below them."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""
    lead: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[Column | str],
        rows: Iterable[Sequence[Cell | str]],
        *,
        title: str = "",
        numbers: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> Table:
        """A table from plain texts; columns named in `numbers` hold numbers."""
        made = (c if isinstance(c, Column) else Column(c, "number" if c in numbers else "text") for c in columns)
        lines = (Row(tuple(c if isinstance(c, Cell) else Cell(c) for c in row)) for row in rows)
        return cls(tuple(made), tuple(lines), title, notes=tuple(notes))

    def texts(self, index: int) -> list[str]:
        """The plain texts of a column, from top to bottom."""
        return [row.cells[index].plain for row in self.rows]

    def select(self, indices: Sequence[int]) -> Table:
        """Only these columns, in this order."""
        rows = tuple(replace(row, cells=tuple(row.cells[i] for i in indices)) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in indices), rows=rows)

    def without_empty(self) -> Table:
        """Columns that are not empty."""
        kept = [i for i in range(len(self.columns)) if any(not row.cells[i].empty for row in self.rows)]
        return self.select(kept) if self.rows else self

    def without_common(self) -> Table:
        """Values that all rows share are stated once, in the lead; a column that names the rows stays."""
        shared = [i for i, c in enumerate(self.columns) if c.common and self.rows and len(set(self.texts(i))) == 1]
        kept = [i for i in range(len(self.columns)) if i not in shared]
        if all(self.columns[i].kind == "number" for i in kept):
            name = next((i for i, column in enumerate(self.columns) if column.kind == "name"), 0)
            kept, shared = sorted({*kept, name}), [i for i in shared if i != name]
        said = [self.columns[i].common(self.texts(i)[0]) for i in shared]  # type: ignore[misc]
        return replace(self.select(kept), lead=", ".join(filter(None, [self.lead, *said])))

    def by(self, indices: Sequence[int]) -> list[Table]:
        """A table for each combination of values in these columns, in the order they first occur."""
        parts: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            parts.setdefault(tuple(row.cells[i].plain for i in indices), []).append(row)
        return [replace(self, rows=tuple(rows)) for rows in parts.values()]
