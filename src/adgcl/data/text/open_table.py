"""`open_table`: any file of molecules as a table."""

from __future__ import annotations

from pathlib import Path

from adgcl.core.errors import ConfigError, DataError
from adgcl.data.text.delimited import open_delimited
from adgcl.data.text.sdf import SDF_SUFFIXES, open_sdf
from adgcl.data.text.sheet import SHEET_SUFFIXES, open_sheet
from adgcl.data.text.table import IsHeader, Table

TABLE_SUFFIXES = (".csv", ".tsv", ".smi", ".smiles", *SHEET_SUFFIXES, *SDF_SUFFIXES)


def is_table_name(path: str | Path) -> bool:
    """Whether a file is read as a table of molecules, by its name."""
    return Path(path).name.lower().removesuffix(".gz").endswith(TABLE_SUFFIXES)


def open_table(path: Path, is_header: IsHeader, sheet: str | None = None) -> Table:
    """Open a file of molecules by its suffix; `is_header` decides whether a first row names columns."""
    if not path.exists():
        raise DataError(f"There is no file {path}.", "Check the path.")
    if not path.is_file():
        raise DataError(f"{path} is not a file.", "Give the path of a file: CSV, TSV, .smi, .xlsx or .sdf.")
    name = path.name.lower()
    if name.endswith(SHEET_SUFFIXES):
        return open_sheet(path, sheet, is_header)
    if sheet is not None:
        raise ConfigError(f"{path} has no sheets.", "Leave out `sheet`; it is for .xlsx files.")
    return open_sdf(path) if name.removesuffix(".gz").endswith(SDF_SUFFIXES) else open_delimited(path, is_header)
