"""Search for the nearest rows: exact by blocks, or by an approximate index where all pairs would take too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from adgcl.core.errors import ConfigError
from adgcl.core.extras import import_extra, is_installed
from adgcl.core.progress import Count

Index = Literal["auto", "exact", "approximate"]
Found = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]
# From so many queries on, building an index pays off, whatever the number of rows (measured in docs/see.md).
MANY_QUERIES = 10_000
_BLOCK = 512
_LINKS, _BREADTH = 16, 80


def nearest(
    rows: npt.NDArray[np.float32],
    queries: npt.NDArray[np.float32],
    count: int,
    index: Index = "auto",
    progress: Count | None = None,
) -> Found:
    """For each query the `count` rows with the largest cosine, best first; both have rows of length 1."""
    if index not in ("auto", "exact", "approximate"):
        raise ConfigError(f"There is no index {index!r}.", "Use auto, exact or approximate.")
    many = min(len(rows), len(queries)) >= MANY_QUERIES
    if index == "approximate" or (index == "auto" and many and is_installed("faiss")):
        return _approximate(rows, queries, count)
    return best_of(lambda block: queries[block] @ rows.T, len(queries), count, progress)


def best_of(
    scores: Callable[[slice], npt.NDArray[np.float32]], queries: int, count: int, progress: Count | None = None
) -> Found:
    """The `count` best columns of every row of a matrix that is computed block by block."""
    places, values = [], []
    for start in range(0, queries, _BLOCK):
        block = scores(slice(start, min(start + _BLOCK, queries)))
        most = min(count, block.shape[1])
        part = np.argpartition(-block, most - 1, axis=1)[:, :most]
        found = np.take_along_axis(block, part, axis=1)
        order = np.lexsort((part, -found), axis=1)
        places.append(np.take_along_axis(part, order, axis=1))
        values.append(np.take_along_axis(found, order, axis=1))
        if progress is not None:
            progress(min(start + _BLOCK, queries), queries)
    return np.concatenate(places).astype(np.int64), np.concatenate(values).astype(np.float32)


def _approximate(rows: npt.NDArray[np.float32], queries: npt.NDArray[np.float32], count: int) -> Found:
    """A graph of near rows, walked from each query (Malkov and Yashunin 2020), by faiss."""
    faiss: Any = import_extra("faiss", "search", "The approximate index")
    made = faiss.IndexHNSWFlat(rows.shape[1], _LINKS, faiss.METRIC_INNER_PRODUCT)
    made.hnsw.efConstruction, made.hnsw.efSearch = _BREADTH, max(_BREADTH, 2 * count)
    made.add(np.ascontiguousarray(rows))
    values, places = made.search(np.ascontiguousarray(queries), min(count, len(rows)))
    # Among many equal rows the walk may end before it has found enough: these queries are compared with all rows.
    lacking = np.flatnonzero((places < 0).any(axis=1))
    if len(lacking):
        scores = lambda block: queries[lacking[block]] @ rows.T  # noqa: E731
        places[lacking], values[lacking] = best_of(scores, len(lacking), places.shape[1])
    return places.astype(np.int64), values.astype(np.float32)
