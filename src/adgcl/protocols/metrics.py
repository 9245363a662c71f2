"""How predictions are scored: accuracy, ROC-AUC, RMSE and MAE, with missing labels left out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adgcl.core.errors import ConfigError, DataError
from adgcl.core.schema import Metric

Floats = NDArray[np.float64]


def score(metric: Metric, y_true: Floats, y_pred: Floats) -> float:
    """The mean over tasks of a metric, as the Open Graph Benchmark defines it.

    `y_true [n, t]` holds NaN where a label is missing. `y_pred [n, t]` holds class numbers for accuracy, any
    increasing function of the probability for rocauc, and values for rmse and mae. Tasks without a label,
    and for rocauc those with one class only, are left out. Accuracy and rocauc are fractions in 0..1.
    """
    per_task = task_scores(metric, y_true, y_pred)
    defined = ~np.isnan(per_task)
    if not defined.any():
        raise undefined(metric)
    return float(per_task[defined].mean())


def undefined(metric: Metric) -> DataError:
    """The error for labels on which a metric has no value for any task."""
    if metric == "rocauc":
        return DataError(
            "ROC-AUC is undefined: no task has both classes among the labels that are scored.",
            "Score more graphs, or use stratified folds so that every part holds both classes.",
        )
    return DataError(
        f"{metric} is undefined: none of the graphs that are scored has a label.",
        "Check the label columns: all values are missing (NaN).",
    )


def task_scores(metric: Metric, y_true: Floats, y_pred: Floats) -> Floats:
    """The metric of every task `[..., t]`, NaN where undefined, for `y_true [n, t]`, `y_pred [..., n, t]`."""
    y_true, y_pred = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
    _check(y_true, y_pred)
    if metric == "rocauc":
        return _rocauc(y_true, y_pred)
    labelled = ~np.isnan(y_true)
    target = np.where(labelled, y_true, 0.0)
    if metric == "accuracy":
        return _mean_labelled(y_pred == target, labelled)
    if metric == "rmse":
        return np.sqrt(_mean_labelled(np.square(y_pred - target), labelled))
    if metric == "mae":
        return _mean_labelled(np.abs(y_pred - target), labelled)
    raise ConfigError(f"There is no way to score {metric!r}.", "Known: accuracy, rocauc, rmse, mae.")


def _check(y_true: Floats, y_pred: Floats) -> None:
    if y_true.ndim != 2 or y_pred.shape[-2:] != y_true.shape:
        raise DataError(
            f"Labels {y_true.shape} and predictions {y_pred.shape} do not match.",
            "Both need one row per graph and one column per task.",
        )
    if not np.isfinite(y_pred).all():
        raise DataError(
            "The predictions contain NaN or infinite values, so they cannot be scored.",
            "Check that training did not diverge.",
        )


def _mean_labelled(values: NDArray[Any], labelled: NDArray[np.bool_]) -> Floats:
    with np.errstate(invalid="ignore"):  # a task without labels: 0 / 0
        mean: Floats = np.sum(values, axis=-2, where=labelled, dtype=np.float64) / labelled.sum(0)
    return mean


def _rocauc(y_true: Floats, y_pred: Floats) -> Floats:
    """The chance that a positive ranks above a negative, ties counting half: Mann-Whitney's U / (n1 n0).

    U = sum of the positives' ranks - n1 (n1 + 1) / 2. Unlabelled graphs rank last, which moves no other rank.
    """
    labelled = ~np.isnan(y_true)
    if not np.isin(y_true[labelled], (0.0, 1.0)).all():
        raise DataError("ROC-AUC needs labels 0 and 1.", "Recode the labels, or choose another metric.")
    positive = y_true == 1
    num_positive = positive.sum(0)
    num_negative = labelled.sum(0) - num_positive
    ranks = average_ranks(np.where(labelled, y_pred, np.inf))
    u = np.sum(ranks, axis=-2, where=positive) - num_positive * (num_positive + 1) / 2
    with np.errstate(invalid="ignore"):  # a task with one class only: 0 / 0
        area: Floats = u / (num_positive * num_negative)
    return area


def average_ranks(values: Floats) -> Floats:
    """The ranks from 1 on of the numbers of every column (the axis before the last), equal ones sharing their mean."""
    columns = np.moveaxis(values, -2, -1)
    order = np.argsort(columns, axis=-1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=-1)
    place = np.arange(columns.shape[-1], dtype=np.float64)
    begins = np.ones(columns.shape, dtype=bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones(columns.shape, dtype=bool)
    ends[..., :-1] = begins[..., 1:]
    first = np.maximum.accumulate(np.where(begins, place, 0.0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, place, np.inf)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(columns.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return np.moveaxis(ranks, -1, -2)
