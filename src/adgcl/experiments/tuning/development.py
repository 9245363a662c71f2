"""The data that a search sees: no trial gets a label of the test part, so that its score afterwards is a test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.data.splits import stratified_split
from adgcl.experiments.source import LoadedSource, Source
from adgcl.protocols.base import check_labels
from adgcl.protocols.solvers.arrays import Floats
from adgcl.training.run_config import DataConfig

# The split by which data that has none is tested after a search.
HELD_OUT = "stratified"


@dataclass(eq=False)
class Development(LoadedSource):
    """Loaded data whose test labels no run sees."""

    @classmethod
    def of(cls, source: Source, progress: Any = None) -> Development:
        loaded = super().of(source, progress)
        check_labels(loaded.content)
        return cls(loaded.name, source, loaded.dataset)

    def seen(self, config: DataConfig, progress: Any = None) -> Dataset:
        key = f"development {config.model_dump_json()}"
        if key not in self._seen:
            self._seen[key] = without_test_labels(super().seen(config, progress))
        return self._seen[key]

    @property
    def test_source(self) -> Source:
        """Where the data with all its labels comes from, divided as it is tested after the search."""
        return self.source if self.content.split is not None else replace(self.source, split=HELD_OUT)

    @property
    def test_size(self) -> int:
        """How many graphs are kept for the test."""
        return len(_test_part(self.content))


def without_test_labels(dataset: Dataset) -> Dataset:
    """`dataset` without the labels of its test part.

    Data that is cross-validated loses a fifth of its labels: trials are cross-validated on the others. A given split
    keeps its three parts, since every protocol scores a test part, but the labels there are those of training graphs:
    a score on them means nothing, and is not looked at.
    """
    store, test = dataset.store, _test_part(dataset)
    assert store.y is not None
    y = store.y.copy()
    if dataset.split is None:
        y[test] = np.nan
    else:
        y[test] = _of_all_kinds(store.y[dataset.split["train"]], len(test))
    return dataset.with_store(store.with_labels(y, store.task))


def _of_all_kinds(labels: Floats, count: int) -> Floats:
    """Some rows of labels, spread evenly over their values, so that a score that needs two classes has them."""
    known = ~np.isnan(labels)
    if not known.any():
        raise DataError("The training part has no labelled graph.", "Label some of them, or choose another --split.")
    spread = [np.ptp(column[here]) * here.sum() if here.any() else 0.0 for column, here in zip(labels.T, known.T)]
    best = int(np.argmax(spread))
    rows = labels[known[:, best]]
    order = np.argsort(rows[:, best], kind="stable")
    picked: Floats = rows[order[np.linspace(0, len(order) - 1, count).round().astype(int)]]
    return picked


def _test_part(dataset: Dataset) -> Any:
    parts = stratified_split(dataset) if dataset.split is None else dataset.split
    return np.asarray(parts["test"])
