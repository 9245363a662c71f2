"""Index arithmetic for many runs of consecutive elements, without a Python loop over the runs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def offsets(counts: npt.ArrayLike) -> IntArray:
    """Where each run starts when runs of these lengths are concatenated; the total comes last."""
    counts = np.asarray(counts)
    ends = np.empty(len(counts) + 1, dtype=np.int64)
    ends[0] = 0
    np.cumsum(counts, out=ends[1:])
    return ends


def concatenated_ranges(starts: IntArray, ends_after: IntArray) -> IntArray:
    """The indices `starts[k], starts[k]+1, ...` of all runs; `ends_after` is `offsets` of their lengths."""
    total = int(ends_after[-1])
    shift = starts - ends_after[:-1]
    return np.arange(total, dtype=np.int64) + np.repeat(shift, np.diff(ends_after))


def smallest_unsigned(array: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """The same non-negative integers in the narrowest unsigned type that holds them."""
    top = int(array.max()) if array.size else 0
    return array.astype(np.min_scalar_type(top), copy=False)
