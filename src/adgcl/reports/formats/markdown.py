"""Tables as Markdown."""

from __future__ import annotations

from adgcl.reports.table import Cell, Table


def to_markdown(table: Table) -> str:
    """The table without its title, which is a heading on some pages and bold on others."""
    names = [column.name for column in table.columns]
    rule = ["---:" if column.kind == "number" else "---" for column in table.columns]
    lines = [names, rule, *([_cell(cell) for cell in row.cells] for row in table.rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def with_title(table: Table) -> str:
    """The table below its title in bold."""
    return f"**{table.title}**\n\n{to_markdown(table)}"


def _cell(cell: Cell) -> str:
    text = cell.plain.replace("|", "\\|").replace("*)", "\\*)")
    return f"**{text}**" if cell.best else text
