"""Checks that an embedding matrix with its labels can be evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adgcl.core.errors import ConfigError, DataError
from adgcl.core.schema import Metric, Task, TaskKind
from adgcl.protocols.solvers.arrays import Floats, Ints, Mask

_METRICS: dict[TaskKind, tuple[Metric, ...]] = {
    "multiclass": ("accuracy",),
    "binary": ("rocauc", "accuracy"),
    "regression": ("rmse", "mae"),
}
PARTS = ("train", "valid", "test")


@dataclass(frozen=True)
class Labelled:
    """Embeddings `x [n, d]` with labels `y [n, t]` (NaN: missing) and what they mean."""

    x: Floats
    y: Floats
    task: Task

    @property
    def single_class_column(self) -> bool:
        """Whether there is one column of classes, so that folds can be stratified by it."""
        return self.task.kind != "regression" and self.y.shape[1] == 1

    @property
    def several_binary(self) -> bool:
        """Whether there are several 0/1 tasks: as published, these get C = 1 and 0 for a missing label."""
        return self.task.kind == "binary" and self.y.shape[1] > 1

    @property
    def has_label(self) -> Mask:
        """The graphs with a label of at least one task."""
        labelled: Mask = np.isfinite(self.y).sum(axis=1) > 0
        return labelled

    def at(self, rows: Mask) -> Labelled:
        """These graphs only."""
        return Labelled(self.x[rows], self.y[rows], self.task)


def check_labelled(graph_emb: ArrayLike, y: ArrayLike, task: Task) -> Labelled:
    """Embeddings and labels as float64 matrices, or an error that says what is wrong with them."""
    x = np.asarray(graph_emb, dtype=np.float64)
    labels = np.asarray(y, dtype=np.float64)
    labels = labels[:, None] if labels.ndim == 1 else labels
    if x.ndim != 2 or labels.ndim != 2 or len(x) != len(labels):
        raise DataError(
            f"Embeddings {x.shape} and labels {labels.shape} do not match.",
            "Both need one row per graph.",
        )
    if x.shape[1] == 0:
        raise DataError("The embeddings have no columns.")
    if not np.isfinite(x).all():
        bad = int((~np.isfinite(x)).any(1).sum())
        raise DataError(
            f"The embeddings of {bad} of {len(x)} graphs contain NaN or infinite values.",
            "Training has probably diverged: lower the learning rate, or evaluate an earlier checkpoint.",
        )
    if task.kind == "none":
        raise DataError("The data has no labels, so its embeddings cannot be evaluated with a probe.")
    if task.metric not in _METRICS[task.kind]:
        known = ", ".join(_METRICS[task.kind])
        raise ConfigError(f"A {task.kind} task cannot be scored by {task.metric!r}.", f"Known: {known}.")
    _check_values(labels, task)
    return Labelled(x, labels, task)


def _check_values(y: Floats, task: Task) -> None:
    known = y[~np.isnan(y)]
    if not len(known):
        raise DataError("Every label is missing.", "Check which columns of the table hold the labels.")
    if not np.isfinite(known).all():
        raise DataError("Some labels are infinite.", "Replace them, or leave them empty.")
    if task.kind == "binary" and not np.isin(known, (0.0, 1.0)).all():
        raise DataError("A binary task needs labels 0 and 1.", "Recode the labels, or declare classes.")
    if task.kind == "multiclass" and (y.shape[1] != 1 or (known < 0).any() or (known % 1 != 0).any()):
        raise DataError(
            "A multiclass task needs one column of class numbers 0, 1, 2, ...",
            "Number the classes from 0, or declare the task as binary or regression.",
        )


def check_split(split: Mapping[str, NDArray[np.integer]], labelled: Labelled) -> dict[str, Ints]:
    """The ids of each part that have a label, in their given order; parts must not overlap or be empty."""
    missing = [part for part in PARTS if part not in split]
    if missing:
        raise DataError(f"The split has no part called {missing[0]!r}.", "It needs: train, valid, test.")
    n = len(labelled.y)
    has_label = labelled.has_label
    ids: dict[str, Ints] = {}
    for part in PARTS:
        part_ids = np.asarray(split[part], dtype=np.intp).ravel()
        if len(part_ids) and (part_ids.min() < 0 or part_ids.max() >= n):
            raise DataError(f"The split's {part} part contains graphs outside 0..{n - 1}.")
        ids[part] = part_ids[has_label[part_ids]]
        if not len(ids[part]):
            raise DataError(f"The split's {part} part has no labelled graph.")
    everything = np.concatenate(list(ids.values()))
    if len(np.unique(everything)) != len(everything):
        raise DataError(
            "A graph occurs twice in the split.", "Train, valid and test must not share graphs or repeat one."
        )
    return ids
