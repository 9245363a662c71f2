"""Newton directions for fewer samples than columns: a system of one equation per sample (Woodbury's identity)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from adgcl.protocols.solvers.arrays import Floats
from adgcl.protocols.solvers.batch import Batch

# |H s + g| relative to |g|: above this it is no longer a Newton step, and convergence would be slow.
_MAX_ERROR = 1e-3

Matrix = NDArray[np.floating[Any]]


class SampleDirections:
    """H s = -g for H = ridge + C X^T A X, by way of B = I + C A^(1/2) K A^(1/2) with K = X ridge X^T.

    B has one row per sample whose curvature A is not zero, and so costs n^3 / 3 operations where H costs n d^2. Single
    precision halves the time. A direction need not be exact, so it is kept if it solves the system well enough; if not,
    that problem's systems are solved in double precision from then on.

    The problems share the rows as they are: their scalings must be the identity.
    """

    def __init__(self, rows: Floats, ridge: Floats, problems: int) -> None:
        self._rows = rows
        self._ridge = ridge
        self._kernel = (rows * ridge) @ rows.T
        self._single = self._kernel.astype(np.float32)
        self._precise = np.zeros(problems, dtype=bool)

    def __call__(self, batch: Batch, gradient: Floats, curvature: Floats) -> Floats:
        direction = self._directions(batch, gradient, curvature)
        error = gradient + self._apply(batch, direction, curvature)
        coarse = ~(np.square(error).sum(1) <= _MAX_ERROR**2 * np.square(gradient).sum(1))
        coarse &= ~self._precise[batch.index]
        if coarse.any():
            self._precise[batch.index[coarse]] = True
            direction[coarse] = self._directions(batch.keep(coarse), gradient[coarse], curvature[coarse])
        return np.where(np.isfinite(direction), direction, 0.0)

    def _directions(self, batch: Batch, gradient: Floats, curvature: Floats) -> Floats:
        """-g + X^T z without the intercept, if that has no penalty: it gets its own step."""
        penalised = self._ridge * gradient
        margins = penalised @ self._rows.T
        pulls, intercept = np.zeros_like(margins), np.zeros(len(margins))
        for i, problem in enumerate(batch.index):
            kernel = self._kernel if self._precise[problem] else self._single
            weight = batch.cost[i] * curvature[i]
            pulls[i], intercept[i] = self._solve(kernel, weight, margins[i], gradient[i, -1])
        direction = self._ridge * (pulls @ self._rows) - penalised
        if not self._ridge[-1]:
            direction[:, -1] = intercept
        return direction

    def _solve(self, kernel: Matrix, weight: Floats, margins: Floats, slope: float) -> tuple[Floats, float]:
        """z = W^(1/2) B^-1 W^(1/2) (X g - t) with W = C A, and the step t of the intercept.

        W is zero for samples without curvature; t is where the slope of the whole problem along the intercept vanishes.
        """
        pulls = np.zeros_like(margins)
        active = np.flatnonzero(weight)
        if not len(active):
            return pulls, 0.0
        root = np.sqrt(weight[active])
        right = np.stack([root * margins[active], root], axis=1)
        by_margin, by_one = _solve_positive(kernel, active, root, right).T
        # No curvature is left once every sample is far on its correct side.
        step = 0.0 if self._ridge[-1] else (root @ by_margin - slope) / (root @ by_one + 1e-12)
        pulls[active] = root * (by_margin - step * by_one)
        return pulls, step

    def _apply(self, batch: Batch, vectors: Floats, curvature: Floats) -> Floats:
        """H_p v_p."""
        along = vectors @ self._rows.T
        along *= curvature
        return self._ridge * vectors + batch.cost[:, None] * (along @ self._rows)


def _solve_positive(kernel: Matrix, active: NDArray[np.intp], root: Floats, right: Floats) -> Floats:
    """(I + R K R)^-1 `right` for the active part of K, R = diag(root), in the precision of K; NaN if that fails."""
    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (kernel,))
    scale = root.astype(kernel.dtype)
    system = kernel.take(active, axis=0).take(active, axis=1)
    system *= scale
    system *= scale[:, None]
    system.ravel()[:: len(active) + 1] += 1.0
    factor, failed = potrf(system.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return np.full_like(right, np.nan)
    solved: Floats = potrs(factor, right.astype(kernel.dtype), lower=1)[0].astype(np.float64)
    return solved
