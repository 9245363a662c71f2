"""Weighted Gram matrices G = X^T diag(a) X, one at a time for wide X, many at once for narrow X."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from adgcl.protocols.solvers.arrays import Floats

# Above these the table of products costs more memory traffic than it saves.
_MAX_PRODUCTS = 2200
_MAX_TABLE_BYTES = 192 * 2**20
# Rows per block: the block stays in the second-level cache between its scaling and its product.
_BLOCK_BYTES = 2**18


def fits_product_table(samples: int, width: int) -> bool:
    """Whether `ProductTable` is the right tool for X `[samples, width]`."""
    products = width * (width + 1) // 2
    return products <= _MAX_PRODUCTS and samples * products * 8 <= _MAX_TABLE_BYTES


class ProductTable:
    """All G_p = X^T diag(a_p) X as one matrix product, from the tabulated products x_ij x_ik of each row.

    `[p, n] @ [n, d (d + 1) / 2]` runs at full speed however small d is, with the same number of operations
    as p symmetric products of size d.
    """

    def __init__(self, rows: Floats) -> None:
        self._width = rows.shape[1]
        left, right = np.triu_indices(self._width)
        self._products = rows[:, left]
        self._products *= rows[:, right]
        unpack = np.empty((self._width, self._width), dtype=np.intp)
        unpack[left, right] = unpack[right, left] = np.arange(len(left))
        self._unpack = unpack.ravel()

    def grams(self, weights: Floats) -> Floats:
        """The Gram matrices `[p, d, d]` of `weights [p, n]`."""
        packed = weights @ self._products
        return packed.take(self._unpack, axis=1).reshape(-1, self._width, self._width)


def weighted_gram(rows: Floats, weight: Floats) -> Floats:
    """G = X^T diag(a) X `[d, d]` for `rows [n, d]` and one non-negative `weight [n]`."""
    width = rows.shape[1]
    kept = np.flatnonzero(weight)
    root = np.sqrt(weight[kept])
    size = block_rows(width)
    lower = np.zeros((width, width), order="F")
    for first in range(0, len(kept), size):
        block = rows[kept[first : first + size]]
        block *= root[first : first + size, None]
        lower = blas.dsyrk(1.0, block.T, beta=1.0, c=lower, overwrite_c=1, lower=1)
    return mirror(lower)


def mirror(lower: Floats) -> Floats:
    """The symmetric matrix whose lower triangle is given; above it there must be zeros."""
    full = lower + lower.T
    full.ravel()[:: len(full) + 1] *= 0.5
    return full


def block_rows(width: int) -> int:
    """How many rows of this width are processed together."""
    return max(16, _BLOCK_BYTES // (8 * width))
