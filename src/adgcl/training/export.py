"""Embedding tables on disk: a row per input row, in its order, as Parquet, CSV or NumPy."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import OutputError
from adgcl.core.files import atomic_write, check_writable
from adgcl.core.safe_text import csv_cell
from adgcl.data.dataset import BadRow, Dataset

Matrix = npt.NDArray[np.float32]


def align(dataset: Dataset, embedding: Matrix) -> tuple[list[str], Matrix]:
    """The ids and vectors of every input row: rows that could not be read keep their place, as NaN."""
    count = len(dataset) + len(dataset.bad_rows)
    rows = np.arange(len(dataset)) if dataset.rows is None else np.asarray(dataset.rows)
    matrix = np.full((count, embedding.shape[1]), np.nan, dtype=np.float32)
    matrix[rows] = embedding
    ids = [str(row) for row in range(count)]
    if dataset.store.ids is not None:
        for row, name in zip(rows.tolist(), dataset.store.ids):
            ids[row] = name
    for row, bad in zip(np.setdiff1d(np.arange(count), rows).tolist(), dataset.bad_rows):
        ids[row] = bad.id or ids[row]
    return ids, matrix


def write_embeddings(path: Path, ids: Sequence[str], matrix: Matrix) -> None:
    """Write a table with the column `id` and a column `e0`, `e1`, ... per dimension; `.npy` has the numbers only."""
    atomic_write(Path(path), lambda part: _writer(Path(path))(part, ids, matrix))


def check_target(path: Path) -> None:
    """Refuse an output file of an unknown kind, or in a place that cannot be written to, before any work is done."""
    _writer(Path(path))
    check_writable(Path(path).parent)


def write_bad_rows(path: Path, bad_rows: Sequence[BadRow]) -> None:
    """List every input row that could not be read: its line, its text, and why."""

    def write(part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("line", "text", "reason"))
            writer.writerows((row.line, csv_cell(row.text), csv_cell(row.reason)) for row in bad_rows)

    atomic_write(Path(path), write)


def _write_parquet(path: Path, ids: Sequence[str], matrix: Matrix) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {"id": pa.array(ids, pa.string())}
    columns |= {name: pa.array(np.ascontiguousarray(matrix[:, i])) for i, name in enumerate(_names(matrix))}
    parquet.write_table(pa.table(columns), path)


def _write_csv(path: Path, ids: Sequence[str], matrix: Matrix) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", *_names(matrix)))
        for name, row in zip(ids, matrix):
            # Nine digits bring back every float32 exactly.
            writer.writerow((csv_cell(name), *(f"{value:.9g}" for value in row)))


def _write_npy(path: Path, ids: Sequence[str], matrix: Matrix) -> None:
    # np.save hides the reason of a failed write, such as a full disk.
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(matrix))
        file.write(np.ascontiguousarray(matrix).data)


_WRITERS: dict[str, Callable[[Path, Sequence[str], Matrix], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".npy": _write_npy,
}


def _writer(path: Path) -> Callable[[Path, Sequence[str], Matrix], None]:
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise OutputError(
            f"An embedding table cannot end in {path.suffix or 'nothing'!r}.", f"Use one of {', '.join(_WRITERS)}."
        )
    return writer


def _names(matrix: Matrix) -> list[str]:
    return [f"e{i}" for i in range(matrix.shape[1])]
