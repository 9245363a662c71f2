"""Labels that a model can be fine-tuned on, or an error that says why not."""

from __future__ import annotations

import numpy as np

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.protocols.base import check_labels
from adgcl.protocols.solvers.arrays import Floats


def check_trainable(dataset: Dataset, task_named: bool) -> list[str]:
    """Refuse labels from which nothing can be learned; returns warnings about columns that teach nothing.

    `task_named`: the user has said what the labels are, so a mixture of kinds is meant.
    """
    check_labels(dataset, "to learn from")
    y, names = dataset.store.y, label_names(dataset)
    assert y is not None
    if np.isnan(y).all():
        raise DataError("Every label is missing.", "Name another column with --label-column.")
    constant = [name for name, column in zip(names, y.T) if len(np.unique(column[~np.isnan(column)])) < 2]
    if len(constant) == len(names):
        value = y[~np.isnan(y)][0]
        what = (
            f"the only label is {_shown(dataset, value)}" if len(names) == 1 else "no column has two different labels"
        )
        raise DataError(
            f"Nothing can be learned from {_called(dataset)}: {what}.",
            "Name another column with --label-column, or add rows with other labels.",
        )
    if dataset.task.kind == "regression" and not task_named:
        _refuse_mixtures(names, y)
    return [f"{name} has one value only: nothing can be learned about it." for name in constant]


def label_names(dataset: Dataset) -> list[str]:
    """What the labels are called, one name per column of `y`."""
    task = dataset.task
    if task.kind == "multiclass":
        return ["class"]
    names = list(task.names)
    return names if len(names) == task.num_tasks else [f"y{i}" for i in range(task.num_tasks)]


def class_names(dataset: Dataset) -> list[str]:
    """The names of the classes of a multiclass task; none otherwise."""
    task = dataset.task
    if task.kind != "multiclass":
        return []
    return list(task.names) if len(task.names) == task.num_classes else [str(k) for k in range(task.num_classes)]


def _refuse_mixtures(names: list[str], y: Floats) -> None:
    """Yes-or-no columns among measurements: one loss cannot be right for both."""
    yes_or_no = [bool(np.isin(column[~np.isnan(column)], (0.0, 1.0)).all()) for column in y.T]
    if any(yes_or_no) and not all(yes_or_no):
        classes = names[yes_or_no.index(True)]
        values = names[yes_or_no.index(False)]
        raise DataError(
            f"The label columns are of different kinds: {classes!r} holds 0 and 1, {values!r} holds measurements.",
            "Fine-tune a model for each kind, or use --task regression to treat all of them as numbers.",
        )


def _called(dataset: Dataset) -> str:
    """The label columns in a sentence; that of classes is not known by name."""
    return "the labels" if dataset.task.kind == "multiclass" else ", ".join(label_names(dataset)[:5])


def _shown(dataset: Dataset, value: float) -> str:
    names = class_names(dataset)
    return repr(names[int(value)]) if names else f"{value:g}"
