"""Parts: which graphs of every fold train a supervised model, choose its epoch, and test it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adgcl.core.schema import Task
from adgcl.data.dataset import Dataset
from adgcl.data.splits import published_parts
from adgcl.protocols.metrics import task_scores, undefined
from adgcl.protocols.probes.checks import check_labelled, check_split
from adgcl.protocols.probes.folds import Mode, cross_validation, fold_seed, given_split
from adgcl.protocols.probes.selection import mean_defined
from adgcl.protocols.solvers.arrays import Floats, Ints


class Part(NamedTuple):
    """One fold: the numbers of the graphs that train, choose the epoch, and test."""

    train: Ints
    valid: Ints
    test: Ints


def fold_parts(dataset: Dataset, mode: Mode, seed: int, num_folds: int) -> list[Part]:
    """The data set's own split, or the folds that the probes use for this seed and mode.

    As published these are the folds of epoch 0, since here a fold lasts as long as its model. In strict mode the first
    of the inner folds, by which a probe chooses its penalty, is the validation part. Unlabelled graphs are left out.
    """
    data = check_labelled(np.zeros((len(dataset), 1)), labels_of(dataset), dataset.task)
    if dataset.split is not None:
        split = published_parts(dataset.split) if mode == "as_published" else dict(dataset.split)
        folds, ids = given_split(data, check_split(split, data), mode), np.arange(len(dataset))
        masks = (folds.train, folds.valid, folds.test)
    else:
        ids, data = np.flatnonzero(data.has_label), data.at(data.has_label)
        folds = cross_validation(data, mode, fold_seed(seed, mode), num_folds)
        strict = mode == "strict"
        masks = (folds.fit[:, 0], folds.held[:, 0], folds.test) if strict else (folds.train, folds.valid, folds.test)
    return scorable_parts(dataset, [Part(*(ids[mask] for mask in fold)) for fold in zip(*masks, strict=True)])


def score_part(task: Task, y: Floats, predicted: Floats) -> float:
    """The mean over tasks of the task's metric; NaN where no task has one."""
    return float(mean_defined(task_scores(task.metric, y, predicted), 0))


def labels_of(dataset: Dataset) -> Floats:
    """The labels of all graphs; no column where there are none."""
    return np.zeros((len(dataset), 0)) if dataset.store.y is None else dataset.store.y


def scorable_parts(dataset: Dataset, parts: list[Part]) -> list[Part]:
    """The parts, unless no fold has a score: whether a metric has a value depends on labels alone, so find out before
    training. A part that is empty in every fold is not meant to be scored."""
    y = labels_of(dataset)
    for which in ("valid", "test"):
        ids = [found for part in parts if len(found := getattr(part, which))]
        if ids and np.isnan([score_part(dataset.task, y[i], np.zeros_like(y[i])) for i in ids]).all():
            raise undefined(dataset.task.metric)
    return parts
