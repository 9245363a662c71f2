"""Held-out predictions: what they say about new ones (bands, calibrated probabilities), and how that was checked.

What is fitted on some held-out graphs is checked on others. Members that share their parts fit on validation graphs and
check on test graphs. With folds every graph is in one test part, so all test graphs fit, and each fold checks what the
other folds would fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adgcl.core.schema import Task
from adgcl.experiments.model.calibration import Calibration, brier, calibrate, calibrate_classes, reliability
from adgcl.experiments.model.conformal import Intervals, fit_intervals
from adgcl.protocols.solvers.arrays import Floats, Ints

COVERAGE = 0.9


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions for graphs that no member behind them has learned from, their spread, distances, and the labels.

    Distances, one for each graph, are those to the training graphs; NaN where these hold the graphs themselves (folds).
    Graphs of the same `group` were held out together.
    """

    mean: Floats
    spread: Floats
    distance: Floats
    y: Floats
    group: Ints

    def at(self, rows: np.ndarray) -> HeldOut:
        return HeldOut(self.mean[rows], self.spread[rows], self.distance[rows], self.y[rows], self.group[rows])


# What a calibration is fitted on, and the graphs that check it.
Check = tuple[HeldOut, HeldOut]


def across_folds(part: HeldOut, sizes: Sequence[int]) -> list[Check]:
    """For every fold, in order of their rows: all other rows to fit on, its own to check."""
    fold = np.repeat(np.arange(len(sizes)), sizes)
    return [(part.at(fold != k), part.at(fold == k)) for k in range(len(sizes))]


def calibrate_on(task: Task, fitting: HeldOut, checks: Sequence[Check]) -> dict[str, Any]:
    """What `fitting` says about predictions, for `model.json`, and how the same does on the graphs of `checks`."""
    return _intervals(fitting, checks) if task.kind == "regression" else _probabilities(task, fitting, checks)


def calibrated(probability: Floats, calibrations: Sequence[Calibration], task: Task) -> Floats:
    """Mean probabilities `[n, columns]` after their maps: one for all classes, or one for each task."""
    if task.kind == "multiclass":
        return calibrations[0](probability)
    return np.stack([one(column) for one, column in zip(calibrations, probability.T, strict=True)], axis=1)


def _intervals(fitting: HeldOut, checks: Sequence[Check]) -> dict[str, Any]:
    tried = [_bands(fit) for fit, _ in checks]
    parts = [part for _, part in checks]
    checked = [_covered([bands[task] for bands in tried], parts, task) for task in range(fitting.y.shape[1])]
    return {"intervals": [one.to_json() for one in _bands(fitting)], "checked": checked}


def _bands(part: HeldOut) -> list[Intervals]:
    columns = zip(part.y.T, part.mean.T, part.spread.T, strict=True)
    return [fit_intervals(*column, part.distance, part.group) for column in columns]


def _covered(bands: Sequence[Intervals], parts: Sequence[HeldOut], task: int) -> dict[str, Any]:
    """The share of a task's labels within bands of 90 %, and their mean width; nothing where labels are too few."""
    y = np.concatenate([part.y[:, task] for part in parts])
    known = ~np.isnan(y)
    if not known.any() or not all(one.promises(COVERAGE) for one in bands):
        return {"coverage": None, "labels": int(known.sum())}
    pairs = zip(bands, parts, strict=True)
    half = np.concatenate([one.half_width(COVERAGE, part.spread[:, task], part.distance) for one, part in pairs])[known]
    residual = np.abs(y - np.concatenate([part.mean[:, task] for part in parts]))[known]
    return {
        "asked": COVERAGE,
        "coverage": round(float((residual <= half).mean()), 4),
        "mean_width": round(float(2 * half.mean()), 6),
        "labels": int(known.sum()),
    }


def _probabilities(task: Task, fitting: HeldOut, checks: Sequence[Check]) -> dict[str, Any]:
    before, wanted = (np.concatenate(arrays) for arrays in zip(*((p.mean, _wanted(task, p)) for _, p in checks)))
    after = np.concatenate([calibrated(p.mean, _maps(task, fit), task) for fit, p in checks])
    columns = task.num_classes if task.kind == "multiclass" else 1  # of classes Brier's score is the sum
    checked: dict[str, Any] = {
        "brier_before": round(columns * brier(before, wanted), 6),
        "brier_after": round(columns * brier(after, wanted), 6),
        "reliability": reliability(after.ravel(), wanted.ravel()),
    }
    return {"probabilities": [one.to_json() for one in _maps(task, fitting)], "checked": checked}


def _maps(task: Task, part: HeldOut) -> list[Calibration]:
    if task.kind == "multiclass":
        return [calibrate_classes(part.mean, part.y[:, 0])]
    return calibrate(part.mean, part.y)


def _wanted(task: Task, part: HeldOut) -> Floats:
    """The labels as the probabilities they should have: one column for each class, or the tasks' own."""
    if task.kind != "multiclass":
        return part.y
    return np.where(np.isnan(part.y), np.nan, part.y == np.arange(task.num_classes))
