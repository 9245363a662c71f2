"""Tables that come with known data sets (gzip'd CSV) as arrays, whole columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError, DataMissingError

_GET_AGAIN = "The file may be damaged or incomplete: remove it and get it again."


def read_matrix(path: Path, width: int, dtype: str) -> npt.NDArray[Any]:
    """A CSV file of numbers without header as `[rows, width]`; an empty field of a float table is NaN."""
    from pyarrow import csv

    # An empty line is a row whose only label is missing; it still counts.
    parse = csv.ParseOptions(ignore_empty_lines=False)
    table = _read(path, csv.ReadOptions(autogenerate_column_names=True), parse)
    if table.num_columns != width:
        raise DataError(f"{path} has {table.num_columns} columns instead of {width}.", _GET_AGAIN)
    matrix = np.empty((table.num_rows, width), dtype=dtype)
    for number, column in enumerate(table.columns):
        matrix[:, number] = _numbers(column, dtype, f"Column {number + 1} of {path}")
    return matrix


def read_table(path: Path, text_columns: tuple[str, ...]) -> tuple[dict[str, list[str]], dict[str, npt.NDArray[Any]]]:
    """A CSV file with header: these columns as text (those that are there), others as float64 with NaN."""
    import pyarrow as pa
    from pyarrow import csv

    types = dict.fromkeys(text_columns, pa.string())
    convert = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    table = _read(path, csv.ReadOptions(), csv.ParseOptions(), convert)
    if "smiles" not in table.column_names:
        raise DataError(f"{path} has no column 'smiles'.", _GET_AGAIN)
    texts = {name: table[name].to_pylist() for name in table.column_names if name in text_columns}
    numbers = {
        name: _numbers(table[name], "float64", f"Column {name!r} of {path}")
        for name in table.column_names
        if name not in text_columns
    }
    return texts, numbers


class TextColumn(Sequence[str]):
    """One text column of some CSV files; values become Python strings only when accessed."""

    def __init__(self, paths: Sequence[Path], name: str) -> None:
        import pyarrow as pa
        from pyarrow import csv

        types = csv.ConvertOptions(column_types={name: pa.string()}, include_columns=[name])
        tables = [_read(path, csv.ReadOptions(), csv.ParseOptions(), types) for path in paths]
        self._column = pa.concat_tables(tables)[name]

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self._column.slice(start, max(stop - start, 0)).to_pylist()[::step]
        return self._column[index].as_py()


def _numbers(column: Any, dtype: str, what: str) -> npt.NDArray[Any]:
    """A numeric Arrow column as an array, read from its buffers: `to_numpy` would import pandas."""
    import pyarrow as pa

    try:
        array = column.cast(pa.type_for_alias(dtype)).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{what} is not all numbers: {error}.", _GET_AGAIN) from error
    rows = slice(array.offset, array.offset + len(array))
    validity, data = array.buffers()
    values = np.frombuffer(data, dtype=dtype)[rows] if data is not None else np.zeros(len(array), dtype)
    if not array.null_count:
        return values
    if not np.issubdtype(dtype, np.floating):
        raise DataError(f"{what} has {array.null_count} empty fields.", _GET_AGAIN)
    present = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), bitorder="little")[rows]
    return np.where(present, values, np.nan)


def _read(path: Path, *options: Any) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    try:
        return csv.read_csv(str(path), *options)
    except FileNotFoundError as error:
        hint = "Get the data set again; part of it is missing."
        raise DataMissingError(f"{path} does not exist.", hint) from error
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        raise DataError(f"Cannot read {path}: {error}.", _GET_AGAIN) from error
