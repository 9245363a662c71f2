"""The kind of task of a column of labels, guessed when it is not given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import DataError
from adgcl.core.schema import Task

Labels = npt.NDArray[np.float64]


def class_labels(values: npt.ArrayLike) -> tuple[Labels, Task]:
    """Number the distinct values 0..K-1 in sorted order, NaN staying NaN; `Task.names` has the originals."""
    flat = np.asarray(values, dtype=np.float64).reshape(-1)
    known = np.isfinite(flat)
    originals, codes = np.unique(flat[known], return_inverse=True)
    y = np.full((len(flat), 1), np.nan)
    y[known, 0] = codes
    names = tuple(f"{value:.15g}" for value in originals)
    return y, Task("multiclass", num_classes=len(originals), names=names)


def guess_labels(values: npt.ArrayLike, whole_numbers: bool) -> tuple[Labels, Task]:
    """Labels `[graphs, tasks]` and the Task they look like; NaN is a missing label.

    One column of integers is classes. Columns of only 0 and 1 are binary tasks, anything else is regression.
    """
    y = np.asarray(values, dtype=np.float64)
    y = y.reshape(len(y), -1)
    if np.isinf(y).any():
        raise DataError(f"The label of graph {int(np.isinf(y).any(axis=1).argmax())} is infinite.")
    if y.shape[1] == 0 or np.isnan(y).all():
        return y, Task("none", num_tasks=0)
    if whole_numbers and y.shape[1] == 1:
        return class_labels(y)
    binary = (np.isnan(y) | (y == 0) | (y == 1)).all()
    return y, Task("binary" if binary else "regression", num_tasks=y.shape[1])


def stack_labels(values: Sequence[npt.NDArray[Any] | None], task: Task | None = None) -> tuple[Labels | None, Task]:
    """One row of labels per graph from each graph's own labels; None is a graph without any.

    With a `task` the labels stay as they are, else it is guessed.
    """
    known = [(i, np.asarray(value).reshape(-1)) for i, value in enumerate(values) if value is not None]
    if not known:
        return None, task or Task("none", num_tasks=0)
    first, width = known[0][0], len(known[0][1])
    for i, row in known:
        if len(row) != width:
            raise DataError(
                f"Graph {i} has {len(row)} labels, but graph {first} has {width}.",
                "A label belongs to the whole graph: one row of the same length for each.",
            )
        if row.dtype.kind not in "iubf":
            raise DataError(f"The label of graph {i} is {row.dtype}, not a number.")
    table = np.full((len(values), width), np.nan)
    table[[i for i, _ in known]] = np.stack([row for _, row in known])
    if task is not None:
        return table, task
    return guess_labels(table, whole_numbers=all(row.dtype.kind in "iub" for _, row in known))
