"""Distinct values of an array in the order in which they appear, found without sorting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from adgcl.graphs.kernels.compiled import compiled, ints
from adgcl.graphs.store.ranges import IntArray

_FREE = -1


def distinct(values: npt.NDArray[np.uint64]) -> tuple[IntArray, IntArray, IntArray]:
    """Where each distinct value appears first, which of them every value is, and how often each appears.

    That is `np.unique` but for the order: classes of nodes keep that of their graphs, so that rows which are read
    together lie together. The values must be hashes, because their lowest bits are the places in a table.
    """
    values = np.ascontiguousarray(values)
    size = len(values)
    # At most half full, so that most values find their place at once.
    table = np.full(1 << max(2 * size - 1, 1).bit_length(), _FREE)
    first, member, counts, found = (np.zeros(n, dtype=np.int64) for n in (size, size, size, 1))
    arrays = (values, table, first, member, counts, found)
    _number(*(array.ctypes.data for array in arrays), size, len(table))
    return first[: found[0]].copy(), member, counts[: found[0]].copy()


@compiled
def _number(
    values_at: int, table_at: int, first_at: int, member_at: int, counts_at: int, found_at: int, size: int, places: int
) -> None:
    values, table = ints(values_at, (size,)), ints(table_at, (places,))
    first, member, counts = ints(first_at, (size,)), ints(member_at, (size,)), ints(counts_at, (size,))
    known = 0
    for i in range(size):
        place = values[i] & (places - 1)
        while table[place] != _FREE and values[first[table[place]]] != values[i]:
            place = (place + 1) & (places - 1)
        if table[place] == _FREE:
            table[place] = known
            first[known] = i
            known += 1
        member[i] = table[place]
        counts[table[place]] += 1
    ints(found_at, (1,))[0] = known
