"""Tables for the terminal, and the same as plain text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adgcl.core.terminal import plain_console
from adgcl.reports.formats.fitting import BEST, GAP, Piece, fit
from adgcl.reports.table import Cell, Table

if TYPE_CHECKING:
    import rich.table
    from rich.console import Group, RenderableType
    from rich.text import Text

FILE_WIDTH = 160
_VERDICTS = {"better": "green", "worse": "yellow", "equal": "", "": ""}


def for_terminal(tables: Table | Sequence[Table], width: int) -> Group:
    """Tables one below the other, no line wider than `width`."""
    from rich.console import Group

    tables = [tables] if isinstance(tables, Table) else tables
    return Group(*(part for table in tables for part in _parts(table, width)))


def to_text(tables: Table | Sequence[Table], width: int = FILE_WIDTH) -> str:
    """What the terminal shows, without colours."""
    stream = io.StringIO()
    plain_console(stream, width, color_system=None).print(for_terminal(tables, width))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _parts(table: Table, width: int) -> list[RenderableType]:
    from rich.text import Text

    parts: list[RenderableType] = [Text(table.title, style="bold"), Text("")] if table.title else []
    pieces = fit(table, width)
    for piece, following in zip(pieces, [*pieces[1:], None]):
        if piece.group:
            parts.append(Text(piece.group, style="bold"))
        elif piece.table.lead:
            parts += [Text(piece.table.lead, style="" if table.title else "bold"), Text("")]
        parts.append(_rich_table(piece))
        if following is None or not following.group:
            parts.append(Text(""))
    if table.notes:
        parts += [*(Text(note, style="dim") for note in table.notes), Text("")]
    return parts


def _rich_table(piece: Piece) -> rich.table.Table:
    from rich import box
    from rich.table import Table as RichTable

    table = piece.table
    # The box puts one space between columns, the padding the rest.
    made = RichTable(
        box=box.SIMPLE_HEAD,
        padding=(0, GAP - 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        show_header=not piece.group and any(column.name for column in table.columns),
    )
    for column, width in zip(table.columns, piece.widths):
        made.add_column(
            column.name, justify="right" if column.kind == "number" else "left", width=width, overflow="fold"
        )
    for row, following in zip(table.rows, [*table.rows[1:], None]):
        made.add_row(*map(_rich_cell, row.cells), end_section=following is not None and following.starts_group)
    return made


def _rich_cell(cell: Cell) -> Text:
    from rich.text import Text

    weight = "bold" if cell.best else "dim" if cell.faint else ""
    verdict = _VERDICTS[cell.verdict]
    if not cell.detail:
        return Text(cell.text + (BEST if cell.best else ""), style=f"{weight} {verdict}".strip())
    text = Text(cell.text, style=weight)
    text.append(f" {cell.detail}", style=verdict)
    return text.append(BEST) if cell.best else text
