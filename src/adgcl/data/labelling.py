"""Labels in memory, assigned to their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset
from adgcl.data.text.labels import LabelColumn, read_labels


def labelled(dataset: Dataset, y: Any, task: Task | str | None = None) -> Dataset:
    """`dataset` with a label, or a row of labels, for each input row (NaN or None: missing).

    Rows that could not be read count too: their labels are left out. What the labels mean is guessed unless `task`
    says it, as for the label columns of a table.
    """
    rows = np.arange(len(dataset)) if dataset.rows is None else np.asarray(dataset.rows)
    columns = columns_in_memory(y, len(dataset) + len(dataset.bad_rows), rows, "Graph")
    labels, meaning = read_labels(columns, task)
    return dataset.with_store(dataset.store.with_labels(labels, meaning))


def columns_in_memory(y: Any, count: int, kept: npt.NDArray[np.int64], what: str) -> list[LabelColumn]:
    """Labels in memory as the columns of texts that a table would have, for the rows that were kept."""
    table: npt.NDArray[np.object_] = np.asarray(y, dtype=None if hasattr(y, "shape") else object).astype(object)
    if table.ndim == 0 or len(table) != count:
        found = len(table) if table.ndim else 1
        raise DataError(f"There are {count} inputs but {found} labels.", "Give a label, or a row of labels, for each.")
    rows = table.reshape(count, -1)[kept]
    names = _names(y, rows.shape[1])

    def where(row: int) -> str:
        return f"{what} {kept[row] + 1}"

    return [LabelColumn(name, [_text(value) for value in rows[:, i]], where) for i, name in enumerate(names)]


def _names(y: Any, width: int) -> Sequence[str]:
    """The names that a DataFrame or Series gives its columns, or else numbered ones."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [str(name) if name is not None else "y"] if width == 1 else [f"y{i}" for i in range(width)]


def _text(value: Any) -> str:
    """A label as it would be written; numbers keep every digit."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool | np.bool_) else str(value)
