"""Labels that a model can be fine-tuned on, or an error that says why not."""

from __future__ import annotations

import numpy as np

from adgcl.core.errors import DataError
from adgcl.data.dataset import Dataset
from adgcl.data.text.as_written import label_as_written
from adgcl.data.text.doubts import refuse_doubtful
from adgcl.data.text.labels import as_number
from adgcl.protocols.base import check_labels
from adgcl.protocols.solvers.arrays import Floats


def check_trainable(dataset: Dataset, task_named: bool) -> list[str]:
    """Refuse labels from which nothing can be learned; returns what the user should know about the others.

    `task_named`: the user has said what the labels are, so a mixture of kinds is meant, and so are odd classes.
    """
    check_labels(dataset, "to learn from")
    check_classes(dataset, task_named)
    y, names = dataset.store.y, label_names(dataset)
    assert y is not None
    if np.isnan(y).all():
        raise DataError("Every label is missing.", "Name another column with --label-column.")
    constant = [name for name, column in zip(names, y.T) if len(np.unique(column[~np.isnan(column)])) < 2]
    if len(constant) == len(names):
        what = f"the only label is {_only(dataset, y)}" if len(names) == 1 else "no column has two different labels"
        raise DataError(
            f"Nothing can be learned from {_called(dataset)}: {what}.",
            "Name another column with --label-column, or add rows with other labels.",
        )
    if dataset.task.kind == "regression" and not task_named:
        _refuse_mixtures(names, y)
    warnings = [f"{name} has one value only: nothing can be learned about it." for name in constant]
    if (guessed := _guessed_classes(dataset, task_named)) and all(map(_is_number, guessed)):
        warnings.append(f"The labels are read as {len(guessed)} classes; --task regression reads them as numbers.")
    return warnings


def check_classes(dataset: Dataset, task_named: bool) -> None:
    """Refuse classes of a table that are hardly meant as such.

    In a column that the user named they were refused when it was read; one that was found by its name may be read for
    other purposes than learning from it.
    """
    if (guessed := _guessed_classes(dataset, task_named)) and dataset.store.y is not None:
        refuse_doubtful("The labels", dataset.store.y, guessed)


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


def _guessed_classes(dataset: Dataset, task_named: bool) -> list[str]:
    """The names of the classes of a table, unless the user has said that its labels are classes."""
    return class_names(dataset) if dataset.columns and not task_named else []


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


def _only(dataset: Dataset, y: Floats) -> str:
    """The label that all graphs with a label have, as the file says it where it can be read again."""
    first = int(np.flatnonzero(~np.isnan(y[:, 0]))[0])
    names, value = class_names(dataset), y[first, 0]
    text = names[int(value)] if names else label_as_written(dataset, label_names(dataset)[0], first) or f"{value:g}"
    return text if _is_number(text) else repr(text)


def _is_number(text: str) -> bool:
    return as_number(text) is not None
