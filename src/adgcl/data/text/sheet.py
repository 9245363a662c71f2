"""A sheet of an Excel workbook as a table; rows keep their numbers from the spreadsheet."""

from __future__ import annotations

import datetime
import warnings
from pathlib import Path
from typing import Any

from adgcl.core.errors import DataError, did_you_mean
from adgcl.core.extras import import_extra
from adgcl.data.text.table import IsHeader, Row, Table, with_columns

SHEET_SUFFIXES = (".xlsx", ".xlsm")
# Whole numbers below this are exact as floats, so writing them without a point loses nothing.
_EXACT = 2**53


def open_sheet(path: Path, sheet: str | None, is_header: IsHeader) -> Table:
    """The first sheet of a workbook, or the one called `sheet`; formulas are read as their last saved results."""
    openpyxl = import_extra("openpyxl", "excel", f"Reading {path}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns about styles and other things it ignores
        try:
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            try:
                values = _values(_chosen(path, book, sheet))
            finally:
                book.close()
        except DataError:
            raise
        except PermissionError as error:
            raise DataError(f"Cannot read {path}: {error.strerror}.", "Check its permissions.") from error
        except Exception as error:  # for a damaged file openpyxl raises whatever error it hits first
            raise DataError(
                f"{path} cannot be read as an Excel workbook: {error}.",
                "Open it in a spreadsheet program and save it as .xlsx without a password, or as CSV.",
            ) from error
    # A note next to the table is an extra column, not an unreadable row.
    width = max((len(fields) for fields in values), default=0)
    rows = (Row(n, fields + [""] * (width - len(fields))) for n, fields in enumerate(values, 1))
    return with_columns(path, rows, is_header)


def _chosen(path: Path, book: Any, name: str | None) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise DataError(f"{path} has no sheet with cells.", "Give a workbook that has one.")
    if name is None:
        return next(iter(sheets.values()))
    if name not in sheets:
        raise DataError(
            f"{path} has no sheet {name!r}. It has: {', '.join(sheets)}.",
            f"{did_you_mean(name, sheets)} Without `sheet` the first is read.",
        )
    return sheets[name]


def _values(sheet: Any) -> list[list[str]]:
    """The cells of a sheet as text, without the empty ones at the ends of rows and without empty rows at the end."""
    # Some programs write a wrong size into the file, which would cut off rows.
    sheet.reset_dimensions()
    found = []
    for cells in sheet.iter_rows(values_only=True):
        fields = [_text(cell) for cell in cells]
        while fields and not fields[-1]:
            fields.pop()
        found.append(fields)
    # Rows that were once filled or only formatted may follow the table.
    while found and not found[-1]:
        found.pop()
    return found


def _text(cell: Any) -> str:
    """A cell as a CSV file would have it, with every digit."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT:
        return str(int(cell))
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell).strip()
