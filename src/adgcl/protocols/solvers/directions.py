"""Newton directions for many problems: H_p s_p = -g_p with H_p = ridge + C_p X_p^T diag(a_p) X_p."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from adgcl.protocols.solvers.arrays import Floats, Ints
from adgcl.protocols.solvers.batch import Batch, Directions
from adgcl.protocols.solvers.gram import ProductTable, block_rows, fits_product_table, mirror, weighted_gram
from adgcl.protocols.solvers.sample_directions import SampleDirections
from adgcl.protocols.solvers.scaling import Scaling

_MAX_CONJUGATE_STEPS = 12
_TINY = 1e-300
# Up to this many samples per column, one equation per sample is faster to solve than one per column.
_MOST_SAMPLES = 1.5


def choose_directions(rows: Floats, ridge: Floats, scaling: Scaling) -> Directions:
    """The best solver for rows of this shape and problems with these scalings."""
    if fits_product_table(*rows.shape):
        return NarrowDirections(rows, ridge)
    if len(rows) <= _MOST_SAMPLES * rows.shape[1] and scaling.is_identity:
        return SampleDirections(rows, ridge, len(scaling.mean))
    return WideDirections(rows, ridge, len(scaling.mean))


class NarrowDirections:
    """For narrow rows: all Hessians by one matrix product, then one batched solve."""

    def __init__(self, rows: Floats, ridge: Floats) -> None:
        self._table = ProductTable(rows)
        self._ridge = ridge

    def __call__(self, batch: Batch, gradient: Floats, curvature: Floats) -> Floats:
        hessian = batch.scaling.pull_back_gram(self._table.grams(curvature))
        _add_ridge(hessian, batch.cost, self._ridge)
        direction = np.linalg.solve(hessian, -gradient[:, :, None])[:, :, 0]
        return np.where(np.isfinite(direction), direction, 0.0)


class WideDirections:
    """For wide rows: conjugate gradients, preconditioned by an older exact inverse of the same Hessian.

    A Hessian of width 300 costs as much as about forty products with it, and it changes little from step
    to step and from one C to the next. So each problem keeps an inverse, with which a few conjugate steps
    are enough, and renews it only when they are not.
    """

    def __init__(self, rows: Floats, ridge: Floats, problems: int) -> None:
        width = rows.shape[1]
        self._rows = rows
        self._ridge = ridge
        self._inverse = np.empty((problems, width, width))
        self._fresh = np.zeros(problems, dtype=bool)

    def __call__(self, batch: Batch, gradient: Floats, curvature: Floats) -> Floats:
        for i in np.flatnonzero(~self._fresh[batch.index]):
            problem = batch.index[i]
            self._inverse[problem] = self._invert(batch.scaling[i : i + 1], batch.cost[i], curvature[i])
        direction, unsolved = self._conjugate(batch, gradient, curvature)
        self._fresh[batch.index] = True
        self._fresh[unsolved] = False
        return np.where(np.isfinite(direction), direction, 0.0)

    def _invert(self, scaling: Scaling, cost: float, curvature: Floats) -> Floats:
        hessian = scaling.pull_back_gram(weighted_gram(self._rows, curvature)[None])
        _add_ridge(hessian, np.array([cost]), self._ridge)
        factor, failed = lapack.dpotrf(hessian[0].T, lower=1)
        if failed:  # rounding made it indefinite: its diagonal is still a valid preconditioner
            return np.diag(1.0 / np.maximum(np.diag(hessian[0]), _TINY))
        return mirror(lapack.dpotri(factor, lower=1, overwrite_c=1)[0])

    def _conjugate(self, batch: Batch, gradient: Floats, curvature: Floats) -> tuple[Floats, Ints]:
        """Approximate directions, and the indices of the problems whose preconditioner was too old."""
        solution = np.zeros_like(gradient)
        where = np.arange(len(gradient))
        residual = -gradient
        step = self._precondition(batch.index, residual)
        size = (residual * step).sum(1)
        # Coarse solves far from the optimum, accurate ones near it: this keeps Newton's fast convergence.
        relative = size / (np.square(batch.coef).sum(1) + 1e-12)
        target = np.minimum(1e-2, relative) * size
        for _ in range(_MAX_CONJUGATE_STEPS):
            image = self._apply(batch, step, curvature)
            length = (size / np.maximum((step * image).sum(1), _TINY))[:, None]
            solution[where] += length * step
            residual = residual - length * image
            solved = self._precondition(batch.index, residual)
            new_size = (residual * solved).sum(1)
            left = new_size > target
            step = (solved + (new_size / np.maximum(size, _TINY))[:, None] * step)[left]
            where, residual, size, target = where[left], residual[left], new_size[left], target[left]
            batch, curvature = batch.keep(left), (curvature if left.all() else curvature[left])
            if not len(where):
                break
        return solution, batch.index

    def _precondition(self, index: Ints, residual: Floats) -> Floats:
        # One matrix-vector product at a time: fancy indexing would copy the inverses.
        return np.stack([self._inverse[p] @ r for p, r in zip(index, residual, strict=True)])

    def _apply(self, batch: Batch, vectors: Floats, curvature: Floats) -> Floats:
        """H_p v_p, in one pass over the rows."""
        shared = batch.scaling.shared(vectors)
        image = np.zeros_like(vectors)
        size = block_rows(self._rows.shape[1])
        for first in range(0, len(self._rows), size):
            block = self._rows[first : first + size]
            along = shared @ block.T
            along *= curvature[:, first : first + size]
            image += along @ block
        return self._ridge * vectors + batch.cost[:, None] * batch.scaling.pull_back(image)


def _add_ridge(gram: Floats, cost: Floats, ridge: Floats) -> None:
    """Turn Gram matrices into Hessians C G + ridge, in place."""
    gram *= cost[:, None, None]
    diagonal = np.einsum("pii->pi", gram)
    diagonal += ridge
    # An unpenalised intercept has no curvature left once every sample is far on its correct side.
    diagonal[:, -1] += 1e-12 * (1.0 + cost)
