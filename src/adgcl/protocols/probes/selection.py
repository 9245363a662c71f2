"""Choose a penalty for every fold, then score the models that were fitted with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from adgcl.protocols.metrics import task_scores, undefined
from adgcl.protocols.probes.checks import Labelled
from adgcl.protocols.probes.folds import Folds, Mode
from adgcl.protocols.solvers.arrays import Floats, Ints, Mask


@dataclass(frozen=True)
class ProbeScore:
    """Validation and test score of one embedding matrix: means over folds, and the folds.

    `chosen` holds the penalty (C or alpha) of every fold, in strict mode of every fold and task. A fold in
    which the metric is undefined is NaN and is left out of the mean.
    """

    valid: float
    test: float
    valid_folds: tuple[float, ...]
    test_folds: tuple[float, ...]
    chosen: tuple[float, ...]


class Candidates(Protocol):
    """Models for every penalty of a grid, fitted on the parts that `Folds` names."""

    grid: tuple[float, ...]

    def held_out(self) -> Floats:
        """Predictions `[f, g, n, t]` by the fits that held a graph out; only those graphs count."""

    def refit(self, chosen: Ints) -> Floats:
        """Predictions `[f, n, t]` of models of the whole training part with the penalties `chosen [f, t]`."""


def judge(
    data: Labelled, folds: Folds, candidates: Candidates, mode: Mode, *, may_be_blind: bool = False
) -> ProbeScore:
    """Score the candidates: one penalty for all tasks as published, one per task in strict mode.

    The validation score is that of the refitted model on the validation part as published, and the score
    by which the penalty was chosen in strict mode: it has not seen the test part. It may be undefined only if
    the choice `may_be_blind`: then the middle of the grid is taken.
    """
    shape = (len(folds.train), data.y.shape[1])
    chosen, best = np.zeros(shape, dtype=np.intp), np.full(shape, np.nan)
    if len(candidates.grid) > 1 or mode == "strict":
        scores = _selection_scores(data, folds, candidates.held_out())
        chosen, best = _choose(scores, data.task.higher_is_better, joint=mode == "as_published")
    predicted = candidates.refit(chosen)
    test = _fold_scores(data, predicted, folds.test)
    valid = mean_defined(best, 1) if mode == "strict" else _fold_scores(data, predicted, folds.valid)
    valid_mean, test_mean = (float(mean_defined(scores, 0)) for scores in (valid, test))
    if np.isnan(test_mean) or (np.isnan(valid_mean) and not may_be_blind):
        raise undefined(data.task.metric)
    picked = chosen if mode == "strict" else chosen[:, :1]
    penalties = tuple(candidates.grid[i] for i in picked.ravel())
    return ProbeScore(valid_mean, test_mean, tuple(valid.tolist()), tuple(test.tolist()), penalties)


def _selection_scores(data: Labelled, folds: Folds, predicted: Floats) -> Floats:
    """The scores `[f, s, g, t]` of every penalty on every held-out part; NaN where undefined."""
    f, g, _, t = predicted.shape
    scores = np.full((f, folds.held.shape[1], g, t), np.nan)
    for i, j in np.argwhere(folds.held.any(2)):
        rows = folds.held[i, j]
        scores[i, j] = task_scores(data.task.metric, data.y[rows], predicted[i][:, rows])
    return scores


def _choose(scores: Floats, higher_is_better: bool, joint: bool) -> tuple[Ints, Floats]:
    """The index `[f, t]` of the best mean score, and that score; ties go to the smallest penalty."""
    tasks = scores.shape[3]
    if joint:
        scores = mean_defined(scores, 3)[..., None]
    means = mean_defined(scores, 1)
    worst_first = np.where(np.isnan(means), -np.inf, means if higher_is_better else -means)
    chosen = worst_first.argmax(1)
    # If nothing could be scored, take the middle of the grid: C = 1 or alpha = 1.
    chosen = np.where(np.isneginf(worst_first).all(1), means.shape[1] // 2, chosen)
    best = np.take_along_axis(means, chosen[:, None, :], axis=1)[:, 0]
    shape = (len(chosen), tasks)
    return np.broadcast_to(chosen, shape), np.broadcast_to(best, shape)


def _fold_scores(data: Labelled, predicted: Floats, parts: Mask) -> Floats:
    """The mean over tasks of every fold's score on its part, `[f]`."""
    pairs = zip(predicted, parts, strict=True)
    scores = [task_scores(data.task.metric, data.y[rows], fold[rows]) for fold, rows in pairs]
    return mean_defined(np.stack(scores), 1)


def mean_defined(values: Floats, axis: int) -> Floats:
    """The mean of the values that are not NaN; NaN if there are none."""
    count = (~np.isnan(values)).sum(axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.nansum(values, axis=axis) / count
    return mean
