"""Fewer columns for wide rows: coordinates in the space that the rows themselves span."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular

from adgcl.protocols.solvers.arrays import Floats

# How large the rounding of the Gram matrix may be relative to the penalty.
_MAX_ROUNDING = 1e-6


@dataclass(frozen=True)
class RowSpace:
    """Rows `X [n, d]` as coordinates `X Q [n, r]` in an orthonormal basis Q of their span, r <= n.

    A coefficient vector outside the span has a larger norm and the same margins as its part inside it. So with a
    penalty on |w|^2 the optimum lies inside, and a problem on the coordinates has the same optimum as one on X.
    """

    coordinates: Floats
    _basis: Floats  # r rows of X that span it
    _triangle: Floats  # Q = basis^T triangle^-T

    def lift(self, coef: Floats) -> Floats:
        """The coefficients Q v `[..., d]` of the columns of X from those of the coordinates, `v [..., r]`."""
        *leading, rank = coef.shape
        flat = coef.reshape(math.prod(leading), rank)
        combined = solve_triangular(self._triangle, flat.T, trans="T", lower=True, check_finite=False)
        return (combined.T @ self._basis).reshape(*leading, self._basis.shape[1])


def row_space(x: Floats, costs: Sequence[float]) -> RowSpace | None:
    """The row space of `x [n, d]`, or None where its Gram matrix is too coarse for the largest of the costs.

    X X^T = L L^T with pivoting: X Q = L, where Q comes from the rows that were pivots. Rounding perturbs the Gram
    matrix by about 1e-16 of its size, which must be small compared with 1 / C. For standardised columns.
    """
    gram = x @ x.T
    if np.finfo(np.float64).eps * np.linalg.norm(gram) * max(costs) > _MAX_ROUNDING:
        return None
    factor, pivots, rank, _ = lapack.dpstrf(gram.T, lower=1, overwrite_a=1)
    order = pivots - 1
    coordinates = np.empty((len(x), rank))
    coordinates[order] = np.tril(factor[:, :rank])
    return RowSpace(coordinates, x[order[:rank]], factor[:rank, :rank])
