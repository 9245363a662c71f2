"""A Comparison as text for the terminal and for files, as Markdown, and as LaTeX."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from adgcl.reports.comparison import Comparison
from adgcl.reports.comparison_notes import (
    DUEL_COLUMNS,
    LEGEND,
    duel_tables,
    gap_notes,
    rank_notes,
    test_note,
    title,
)
from adgcl.reports.grid import Grid, GridCell, make_grid
from adgcl.reports.tables import latex_escape, markdown

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

_CELL, _HEAD = 30, 40  # how wide a cell and the first columns may get
FILE_WIDTH = 160


def for_terminal(comparison: Comparison, width: int = FILE_WIDTH) -> Group:
    """Tables no wider than `width`, and the notes below them."""
    from rich.console import Group
    from rich.text import Text

    parts: list[object] = [Text(title(comparison), style="bold"), Text("")]
    parts += [_rich_grid(make_grid(comparison, chunk)) for chunk in _chunks(comparison.datasets, width)]
    for heading, rows in duel_tables(comparison):
        parts += [Text(heading, style="bold"), _rich_plain(DUEL_COLUMNS, rows)]
    parts += [Text(note, style="dim") for note in notes(comparison)]
    return Group(*parts)  # type: ignore[arg-type]


def to_text(comparison: Comparison) -> str:
    """What the terminal shows, without colours."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=FILE_WIDTH, color_system=None, highlight=False)
    console.print(for_terminal(comparison))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def to_markdown(comparison: Comparison, heading: str = "#", legend: bool = True) -> str:
    """A page, or a section of one that explains its cells elsewhere."""
    grid = make_grid(comparison)
    lines = [[_markdown_cell(cell) for cell in line] for line in grid.lines]
    parts = [f"{heading} {title(comparison)}\n", markdown(grid.columns, lines, grid.columns[2:])]
    for name, rows in duel_tables(comparison):
        parts += [f"**{name}**\n", markdown(DUEL_COLUMNS, rows, DUEL_COLUMNS[1:6])]
    below = [note for note in notes(comparison) if legend or note != LEGEND]
    return "\n".join([*parts, *(f"- {note}" for note in below)]) + "\n"


def to_latex(comparison: Comparison) -> str:
    """Two floating tables (packages booktabs and graphicx): the cells, and the wins."""
    grid = make_grid(comparison)
    body = []
    for number, line in enumerate(grid.lines):
        if number in grid.first_lines and number:
            body.append(r"\addlinespace")
        body.append(" & ".join(map(_latex_cell, line)) + r" \\")
    caption = f"{title(comparison)}. {' '.join(notes(comparison))}"
    tables = [_latex_table(caption, grid.columns, "ll" + "r" * (len(grid.columns) - 2), body)]
    for name, rows in duel_tables(comparison):
        lines = [" & ".join(map(latex_escape, row)) + r" \\" for row in rows]
        tables.append(_latex_table(name, DUEL_COLUMNS, "lrrrrrl", lines))
    return "\n".join(tables)


def notes(comparison: Comparison) -> list[str]:
    """Everything that stands below a table."""
    return [n for n in (LEGEND, *rank_notes(comparison), test_note(comparison), *gap_notes(comparison)) if n]


def _chunks(datasets: Sequence[str], width: int) -> Iterator[Sequence[str]]:
    size = max((width - _HEAD) // _CELL, 1)
    for start in range(0, len(datasets), size):
        yield datasets[start : start + size]


def _rich_grid(grid: Grid) -> Table:
    from rich.text import Text

    table = _rich_table(grid.columns, grid.columns[2:])
    for number, line in enumerate(grid.lines):
        texts = [
            Text(c.text + (" ◂" if c.best else ""), style="bold" if c.best else "dim" if c.faint else "") for c in line
        ]
        table.add_row(*texts, end_section=number + 1 in grid.first_lines)
    return table


def _rich_plain(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    from rich.text import Text

    table = _rich_table(columns, columns[1:6])
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _rich_table(columns: Sequence[str], right: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def _markdown_cell(cell: GridCell) -> str:
    text = cell.text.replace("*)", "\\*)")
    return f"**{text}**" if cell.best else text


def _latex_cell(cell: GridCell) -> str:
    text = latex_escape(cell.text)
    return rf"\textbf{{{text}}}" if cell.best else text


def _latex_table(caption: str, columns: Sequence[str], alignment: str, body: Sequence[str]) -> str:
    lines = [
        r"\begin{table}[ht]",
        r"\centering",
        rf"\caption{{{latex_escape(caption)}}}",
        r"\resizebox{\textwidth}{!}{%",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(map(latex_escape, columns)) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
