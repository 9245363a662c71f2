"""Tables as Markdown."""

from __future__ import annotations

import re

from adgcl.core.safe_text import one_line
from adgcl.reports.table import Cell, Table

_ENTITY = re.compile(r"&(?=#?\w+;)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def to_markdown(table: Table) -> str:
    """The table without its title, which is a heading on some pages and bold on others."""
    names = [escape(column.name) for column in table.columns]
    rule = ["---:" if column.kind == "number" else "---" for column in table.columns]
    lines = [names, rule, *([_cell(cell) for cell in row.cells] for row in table.rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def with_title(table: Table) -> str:
    """The table below its title in bold."""
    return f"**{escape(table.title)}**\n\n{to_markdown(table)}"


def escape(text: str) -> str:
    """`text` on one line, with what Markdown or the HTML within it would act on made plain."""
    plain = _TAG.sub("&lt;", _ENTITY.sub("&amp;", one_line(text)))
    return plain.replace("|", "\\|").replace("*)", "\\*)").replace("](", "]\\(")


def _cell(cell: Cell) -> str:
    text = escape(cell.plain)
    return f"**{text}**" if cell.best else text
