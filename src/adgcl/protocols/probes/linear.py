"""Linear probes: support vector machine for classes, logistic regression for 0/1 tasks, ridge for numbers."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from adgcl.protocols.probes.checks import Labelled
from adgcl.protocols.probes.folds import Folds, Mode
from adgcl.protocols.solvers.arrays import Floats, Ints, Mask, Signs
from adgcl.protocols.solvers.linear_svc import fit_linear_svc, one_vs_rest, predict_classes
from adgcl.protocols.solvers.logistic import fit_logistic
from adgcl.protocols.solvers.ridge import RidgeModels, fit_ridge
from adgcl.protocols.solvers.scaling import Scaling, fit_scaling

COSTS = tuple(10.0**e for e in range(-3, 4))
ALPHAS = tuple(10.0**e for e in range(-5, 6))


class FittedModels(Protocol):
    """Models fitted on m training parts for every penalty of a grid."""

    grid: tuple[float, ...]

    def predict(self, penalty: int) -> Floats:
        """Predictions `[m, n, t]` for all graphs with the penalty of this index."""


class LinearCandidates:
    """Every fit of a linear probe, solved together: refits and inner fits share their rows."""

    def __init__(self, data: Labelled, folds: Folds, mode: Mode) -> None:
        train, scale_on, where = _distinct_fits(folds)
        models = _fit(data, mode, train, scale_on)
        self.grid = models.grid
        f, s, n = folds.held.shape
        shape = (f, len(self.grid), n, data.y.shape[1])
        self._refit, self._held_out = np.empty(shape), np.zeros(shape)
        for g in range(len(self.grid)):
            predicted = models.predict(g)
            self._refit[:, g] = predicted[where[:f]]
            for fit, (i, j) in zip(where[f:], np.ndindex(f, s), strict=True):
                rows = folds.held[i, j]
                self._held_out[i, g, rows] = predicted[fit, rows]

    def held_out(self) -> Floats:
        return self._held_out

    def refit(self, chosen: Ints) -> Floats:
        picked: Floats = np.take_along_axis(self._refit, chosen[:, None, None, :], axis=1)[:, 0]
        return picked


def _distinct_fits(folds: Folds) -> tuple[Mask, Mask, Ints]:
    """Training parts `[m, n]`, the graphs that standardise them, and the positions of refits and inner fits."""
    n = folds.train.shape[1]
    train = np.concatenate([folds.train, folds.fit.reshape(-1, n)])
    scale_on = np.concatenate([folds.train, folds.scale_on.reshape(-1, n)])
    key = np.packbits(np.hstack([train, scale_on]), axis=1)
    _, first, where = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return train[first], scale_on[first], where.ravel()


def _fit(data: Labelled, mode: Mode, train: Mask, scale_on: Mask) -> FittedModels:
    if data.task.kind == "regression":
        return RidgeFits(data, train)
    scaling = fit_scaling(data.x, scale_on)
    if data.task.kind == "multiclass":
        return SvcFits(data, train, scaling)
    return LogisticFits(data, train, scaling, mode)


class SvcFits:
    """Linear support vector machines, one against the rest."""

    grid = COSTS

    def __init__(self, data: Labelled, train: Mask, scaling: Scaling) -> None:
        self._x, self._train = data.x, train
        y = data.y[:, 0]
        self._classes = np.unique(y[~np.isnan(y)])
        self._num_classes = max(2, len(self._classes))
        # The class of an unlabelled graph does not matter: no training part holds it.
        self._labels = np.minimum(np.searchsorted(self._classes, y), len(self._classes) - 1)
        signs = one_vs_rest(self._labels, train, self._num_classes)
        repeated = scaling[np.repeat(np.arange(len(train)), len(signs) // len(train))]
        self._models = fit_linear_svc(data.x, signs, self.grid, repeated)

    def predict(self, penalty: int) -> Floats:
        decision = self._models.decision(self._x, penalty)
        places = predict_classes(decision, self._labels, self._train, self._num_classes)
        return self._classes[places][:, :, None]


class LogisticFits:
    """Logistic regressions, one per task."""

    def __init__(self, data: Labelled, train: Mask, scaling: Scaling, mode: Mode) -> None:
        self._x, self._tasks = data.x, data.y.shape[1]
        self._classes = data.task.metric == "accuracy"
        self.grid, targets = binary_settings(data, mode)
        signs = _signs(targets)
        signs = (train[:, None, :] * signs).reshape(-1, len(data.y))
        repeated = scaling[np.repeat(np.arange(len(train)), self._tasks)]
        self._models = fit_logistic(data.x, signs, self.grid, repeated)

    def predict(self, penalty: int) -> Floats:
        decision = self._models.decision(self._x, penalty)
        decision = decision.reshape(-1, self._tasks, decision.shape[1]).transpose(0, 2, 1)
        return (decision > 0).astype(np.float64) if self._classes else decision


def binary_settings(data: Labelled, mode: Mode) -> tuple[tuple[float, ...], Floats]:
    """The grid of C, and the training labels: as published, several tasks get C = 1 and 0 for a missing label."""
    if mode == "as_published" and data.several_binary:
        return (1.0,), np.nan_to_num(data.y)
    return COSTS, data.y


def _signs(y: Floats) -> Signs:
    """+1, -1 and 0 for positive, negative and missing labels, `[t, n]`."""
    return np.where(np.isnan(y), 0, np.where(y > 0, 1, -1)).T.astype(np.int8)


class RidgeFits:
    """Ridge regressions on centred columns of length 1.

    This is the `normalize=True` of old scikit-learn, as published. It equals ridge on standardised features
    with penalty n * alpha, so the grid of alphas means the same for every n, and strict mode uses it too.
    """

    grid = ALPHAS

    def __init__(self, data: Labelled, train: Mask) -> None:
        self._x, self._tasks = data.x, data.y.shape[1]
        labelled = ~np.isnan(data.y)
        groups = [np.arange(self._tasks)] if labelled.all() else list(np.arange(self._tasks)[:, None])
        self._models: list[list[tuple[Ints, RidgeModels]]] = []
        for part in train:
            fits = []
            for tasks in groups:
                rows = part & labelled[:, tasks[0]]
                if rows.any():
                    y = data.y[np.ix_(rows, tasks)]
                    fits.append((tasks, fit_ridge(data.x[rows], y, self.grid, normalise=True)))
            self._models.append(fits)

    def predict(self, penalty: int) -> Floats:
        out = np.zeros((len(self._models), len(self._x), self._tasks))
        for predicted, fits in zip(out, self._models, strict=True):
            for tasks, models in fits:
                predicted[:, tasks] = models.predict(self._x, penalty)
        return out
