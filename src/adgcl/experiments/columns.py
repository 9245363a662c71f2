"""Columns: the data sets of a table, each loaded once and seen as the settings of a run say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adgcl.core.errors import DataError, DataMissingError
from adgcl.core.gaps import Gap
from adgcl.data.dataset import Dataset
from adgcl.experiments.source import Source
from adgcl.training.run_config import DataConfig


@dataclass(eq=False)
class Column:
    """One data set, or the reason why there is none."""

    name: str
    source: Source
    dataset: Dataset | None = None
    gap: Gap | None = None
    _seen: dict[str, Dataset] = field(default_factory=dict, repr=False)

    def seen(self, config: DataConfig) -> Dataset:
        """The data with the features that `config` chooses."""
        assert self.dataset is not None
        key = config.model_dump_json()
        if key not in self._seen:
            self._seen[key] = self.source.seen_through(self.dataset, config)
        return self._seen[key]


def open_column(name: str, data_dir: Path | None = None, progress: Any = None) -> Column:
    """Load a data set; what is wrong with it becomes the column's gap, not an error."""
    source = Source(name, data_dir)
    try:
        dataset = source.load(progress=progress)
    except DataMissingError as error:
        return Column(name, source, gap=Gap("no data", f"{error.message} {error.hint}"))
    return Column(_short(name, dataset), source, dataset, _label_gap(dataset))


def _short(name: str, dataset: Dataset) -> str:
    """A path is called by the data's own name."""
    return dataset.name if "/" in name else name


def _label_gap(dataset: Dataset) -> Gap | None:
    """Why embeddings of this data cannot be judged at all, if so."""
    y, task = dataset.store.y, dataset.task
    if y is None or task.kind == "none":
        return Gap("no labels", f"{dataset.name} can be embedded (`adgcl embed`), but nothing says how well.")
    known = y[~np.isnan(y)]
    if not len(known):
        return Gap("no labels", f"Every label of {dataset.name} is missing.")
    if task.kind != "regression" and all(len(np.unique(column[~np.isnan(column)])) < 2 for column in y.T):
        return Gap(
            "not applicable", f"All graphs of {dataset.name} have the same label: there is nothing to tell apart."
        )
    return None


def gap_of(error: Exception, trained: bool) -> Gap:
    """An error of a job as the reason for its cell; data that are wrong from the start mean that it does not apply."""
    if isinstance(error, DataMissingError):
        return Gap("no data", str(error))
    message = (str(error).strip() or type(error).__name__).splitlines()[0]
    if isinstance(error, DataError) and not trained:
        return Gap("not applicable", message)
    return Gap("failed", message)
