"""Kernel probes: support vector machines with exp(-gamma |x - x'|^2), gamma = 1 / (d * variance)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from adgcl.protocols.probes.checks import Labelled
from adgcl.protocols.probes.folds import Folds, Mode
from adgcl.protocols.probes.linear import binary_settings
from adgcl.protocols.solvers.arrays import Floats, Ints, Mask

# A kernel of this many rows takes half a gigabyte; beyond it libsvm computes entries as needed.
_MAX_KERNEL_ROWS = 8000


class KernelCandidates:
    """Support vector machines on standardised features, with scikit-learn's default kernel and settings.

    Numbers are predicted by support vector regression of the standardised target. The kernel of a
    training part is computed once and serves every C.
    """

    def __init__(self, data: Labelled, folds: Folds, mode: Mode) -> None:
        self._data = data
        self._folds = folds
        self.grid, self._targets = binary_settings(data, mode)

    def held_out(self) -> Floats:
        f, s, n = self._folds.held.shape
        tasks = self._data.y.shape[1]
        out = np.zeros((f, len(self.grid), n, tasks))
        for i, j in np.ndindex(f, s):
            rows = self._folds.held[i, j]
            every = [self.grid] * tasks
            fits = self._fits(self._folds.fit[i, j], self._folds.scale_on[i, j], rows, every)
            for task, g, predicted in fits:
                out[i, g, rows, task] = predicted
        return out

    def refit(self, chosen: Ints) -> Floats:
        f, _, n = self._folds.held.shape
        out = np.zeros((f, n, chosen.shape[1]))
        for i, penalties in enumerate(chosen):
            train = self._folds.train[i]
            rows = self._folds.valid[i] | self._folds.test[i]
            one_each = [(self.grid[g],) for g in penalties]
            for task, _, predicted in self._fits(train, train, rows, one_each):
                out[i, rows, task] = predicted
        return out

    def _fits(
        self, train: Mask, scale_on: Mask, rows: Mask, costs: Sequence[tuple[float, ...]]
    ) -> Iterator[tuple[int, int, Floats]]:
        """Task, index of the cost and predictions for `rows`, for every task and its costs."""
        if not train.any() or not rows.any():
            return
        from sklearn.preprocessing import StandardScaler

        x = StandardScaler().fit(self._data.x[scale_on]).transform(self._data.x)
        for task, task_costs in enumerate(costs):
            target = self._targets[:, task]
            known = train & ~np.isnan(target)
            kernel = _Kernel(x[known], x[rows]) if known.any() else None
            for g, cost in enumerate(task_costs):
                yield task, g, self._predict(kernel, target[known], cost, int(rows.sum()))

    def _predict(self, kernel: _Kernel | None, target: Floats, cost: float, count: int) -> Floats:
        if kernel is None:
            return np.zeros(count)
        # Imported here: it takes a second, and few commands ask for kernel probes.
        from sklearn.svm import SVC, SVR

        if self._data.task.kind == "regression":
            centre, spread = target.mean(), target.std() or 1.0
            model = SVR(C=cost, **kernel.options)
            model.fit(kernel.train, (target - centre) / spread)
            predicted: Floats = model.predict(kernel.rows) * spread + centre
            return predicted
        scores = self._data.task.metric == "rocauc"
        if len(np.unique(target)) < 2:
            return np.full(count, 0.0 if scores else target[0])
        model = SVC(C=cost, **kernel.options).fit(kernel.train, target)
        predicted = model.decision_function(kernel.rows) if scores else model.predict(kernel.rows)
        return predicted


class _Kernel:
    """The input of a support vector machine: kernel values if they fit in memory, else the features."""

    def __init__(self, train: Floats, rows: Floats) -> None:
        variance = train.var()
        gamma = 1.0 / (train.shape[1] * variance) if variance > 0 else 1.0
        self.train, self.rows = train, rows
        self.options = {"kernel": "rbf", "gamma": gamma}
        if len(train) <= _MAX_KERNEL_ROWS:
            self.train, self.rows = _rbf(train, train, gamma), _rbf(rows, train, gamma)
            self.options = {"kernel": "precomputed"}


def _rbf(a: Floats, b: Floats, gamma: float) -> Floats:
    """exp(-gamma |a_i - b_j|^2) `[len(a), len(b)]`."""
    distance = a @ b.T
    distance *= -2.0
    distance += np.square(a).sum(1)[:, None]
    distance += np.square(b).sum(1)
    np.maximum(distance, 0.0, out=distance)
    distance *= -gamma
    return np.exp(distance, out=distance)
