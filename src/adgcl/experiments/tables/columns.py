"""Columns: the data sets of a table, or the reason why one cannot be evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.errors import DataMissingError
from adgcl.core.gaps import Gap
from adgcl.data.dataset import Dataset
from adgcl.experiments.source import LoadedSource, Source


def open_column(name: str, data_dir: Path | None = None, progress: Any = None) -> LoadedSource:
    """Load a data set; what is wrong with it becomes the column's gap, not an error."""
    source = Source(name, data_dir)
    try:
        dataset = source.load(progress=progress)
    except DataMissingError as error:
        return LoadedSource(name, source, gap=Gap("no data", f"{error.message} {error.hint}"))
    return LoadedSource(_short(name, dataset), source, dataset, label_gap(dataset))


def label_gap(dataset: Dataset) -> Gap | None:
    """Why embeddings of this data cannot be evaluated, if they cannot."""
    y, task = dataset.store.y, dataset.task
    if y is None or task.kind == "none":
        return Gap("no labels", f"{dataset.name} can be embedded (`adgcl embed`), but not evaluated.")
    known = y[~np.isnan(y)]
    if not len(known):
        return Gap("no labels", f"Every label of {dataset.name} is missing.")
    if task.kind != "regression" and all(len(np.unique(column[~np.isnan(column)])) < 2 for column in y.T):
        return Gap("not applicable", f"All graphs of {dataset.name} have the same label: there is nothing to predict.")
    return None


def _short(name: str, dataset: Dataset) -> str:
    """A path is shown under the data's own name."""
    return dataset.name if "/" in name else name
