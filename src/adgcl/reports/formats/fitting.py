"""Fitting: a Table split into pieces no wider than a terminal, without cutting off any number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adgcl.reports.table import Cell, Column, Table

GAP = 2  # spaces between two columns
BEST = " ◂"  # bold cannot be seen in a text file
_INDENT = "  "
_LONGEST = 24  # a longer word, such as a file name, may be broken


@dataclass(frozen=True)
class Piece:
    """A part of a table with the widths of its columns; those of one group have its name above them, and no header."""

    table: Table
    widths: tuple[int, ...]
    group: str = ""


def fit(table: Table, width: int) -> list[Piece]:
    """The first of these that fits: whole, a table for each heading, groups on lines of their own, fewer columns."""
    whole = table.without_empty().without_common()
    if _fits(whole, width):
        return [Piece(whole, _widths(whole, width))]
    sections = [part.without_empty().without_common() for part in whole.by(_headings(whole))]
    return [piece for section in sections for piece in _fit_section(section, width)]


def shown(cell: Cell) -> str:
    """A cell's text in the terminal."""
    return cell.plain + (BEST if cell.best else "")


def _fit_section(section: Table, width: int) -> list[Piece]:
    if not _fits(section, width) and any(column.kind == "group" for column in section.columns):
        nested = _nest(section, width)
        if nested:
            return nested
    return [Piece(part, _widths(part, width)) for part in _cut(section, width)]


def _headings(table: Table) -> list[int]:
    """Columns whose values can stand above a table instead of in it."""
    return [i for i, column in enumerate(table.columns) if column.common and column.kind == "text"]


def _nest(section: Table, width: int) -> list[Piece]:
    """One header, and below it the rows of each group under the group's name; nothing where that is too wide."""
    group = next(i for i, column in enumerate(section.columns) if column.kind == "group")
    others = [i for i in range(len(section.columns)) if i != group]
    body = _indented(section.select(others))
    if not _fits(body, width):
        return []
    widths = _widths(body, width)
    parts = [Piece(_indented(part.select(others)), widths, part.texts(group)[0]) for part in section.by([group])]
    return [Piece(replace(body, rows=()), widths), *parts]


def _indented(table: Table) -> Table:
    rows = (replace(r, cells=(replace(r.cells[0], text=_INDENT + r.cells[0].text), *r.cells[1:])) for r in table.rows)
    return replace(table, rows=tuple(rows))


def _cut(table: Table, width: int) -> list[Table]:
    """As many columns side by side as fit, each time after the columns that name the rows."""
    named = next((i for i, column in enumerate(table.columns) if column.kind == "number"), len(table.columns))
    parts, current = [], list(range(named))
    for index in range(named, len(table.columns)):
        if len(current) > named and not _fits(table.select([*current, index]), width):
            parts.append(current)
            current = list(range(named))
        current.append(index)
    return [table.select(part) for part in [*parts, current]]


def _fits(table: Table, width: int) -> bool:
    return sum(least for least, _ in _bounds(table)) + _gaps(table) <= width


def _widths(table: Table, width: int) -> tuple[int, ...]:
    """Every column at its natural width, or the widest texts wrapped until all fit."""
    bounds = _bounds(table)
    widths = [most for _, most in bounds]
    while sum(widths) + _gaps(table) > width:
        wrappable = [i for i, (least, _) in enumerate(bounds) if widths[i] > least]
        if not wrappable:
            break
        widths[max(wrappable, key=lambda i: widths[i])] -= 1
    return tuple(widths)


def _gaps(table: Table) -> int:
    return GAP * (len(table.columns) - 1)


def _bounds(table: Table) -> list[tuple[int, int]]:
    """The least and the most width that each column can use."""
    return [_bound(column, [row.cells[i] for row in table.rows]) for i, column in enumerate(table.columns)]


def _bound(column: Column, cells: Sequence[Cell]) -> tuple[int, int]:
    from rich.cells import cell_len

    texts = [column.name, *map(shown, cells)]
    most = max(map(cell_len, texts), default=0)
    if column.kind == "number":
        heads = [cell_len(word) for word in column.name.split()]
        return max([*heads, *map(cell_len, texts[1:])], default=0), most
    longest = max((cell_len(word) for text in texts for word in text.split()), default=0)
    return min(longest, _LONGEST), most
