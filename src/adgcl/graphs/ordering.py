"""Sorting edges by their end nodes in linear time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.graphs.ranges import IntArray


def stable_order(keys: npt.NDArray[np.integer], size: int) -> npt.NDArray[np.integer]:
    """The order that sorts `keys` (all in 0..size-1); equal keys keep their places.

    A sparse matrix with one entry per row, at column `keys[row]`, lists its rows by column once it is
    transposed: scipy's counting sort, 3 to 10 times faster than comparing 25 million keys.
    """
    from scipy.sparse import csr_array

    count = len(keys)
    width: Any = np.int32 if max(count, size) < np.iinfo(np.int32).max else np.int64
    entries = np.zeros(count, dtype=np.int8)
    matrix = csr_array((entries, keys.astype(width), np.arange(count + 1, dtype=width)), shape=(count, size))
    order: npt.NDArray[np.integer] = matrix.tocsc().indices
    return order


def edge_order(major: IntArray, minor: IntArray, size: int) -> npt.NDArray[np.integer] | None:
    """The order that sorts by (major, minor), or None when they are sorted already."""
    step, tie = np.diff(major), np.diff(minor)
    if ((step > 0) | ((step == 0) & (tie >= 0))).all():
        return None
    by_minor = stable_order(minor, size)
    order: npt.NDArray[np.integer] = by_minor[stable_order(major[by_minor], size)]
    return order
