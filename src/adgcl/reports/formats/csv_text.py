"""Tables as CSV, for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from adgcl.core.safe_text import csv_cell
from adgcl.reports.table import Table


def to_csv(table: Table) -> str:
    """A header and a line per row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([csv_cell(column.name) for column in table.columns])
    writer.writerows([csv_cell(cell.plain) for cell in row.cells] for row in table.rows)
    return text.getvalue()


def table_of_values(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Table:
    """A table of full numbers, one mapping per row; None becomes an empty field."""
    return Table.of(columns, [["" if row[name] is None else str(row[name]) for name in columns] for row in rows])
