"""Domain: how far a molecule is from those that a model has learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from adgcl.protocols.solvers.arrays import Floats
from adgcl.training.export import Matrix

# The share of training molecules that lie within the border of the others.
QUANTILE = 0.95
_MOST_ROWS = 10_000
_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Domain:
    """Embeddings of training molecules (standardised, 16 bits), and the distance at which strangeness begins."""

    rows: npt.NDArray[np.float16]
    centre: Matrix
    scale: Matrix
    border: float

    def distances(self, embedding: Matrix) -> Floats:
        """The distance of each embedding to the nearest of training, in units of the border: above 1 is outside."""
        nearest = _nearest(self.rows, _standard(embedding, self.centre, self.scale), 1)[:, 0]
        return nearest / self.border


def fit_domain(embedding: Matrix) -> Domain:
    """Learn from the embeddings of training molecules; of very many a part is kept, drawn with a fixed seed."""
    if len(embedding) > _MOST_ROWS:
        embedding = embedding[np.sort(np.random.default_rng(0).permutation(len(embedding))[:_MOST_ROWS])]
    centre, spread = embedding.mean(axis=0), embedding.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0).astype(np.float32)
    rows = _standard(embedding, centre, scale)
    border = 1.0
    if len(rows) > 1:
        # The nearest neighbour of a training molecule but for itself.
        border = float(np.quantile(_nearest(rows, rows, 2)[:, 1], QUANTILE))
    return Domain(rows, centre, scale, max(border, 1e-3))


def _standard(embedding: Matrix, centre: Matrix, scale: Matrix) -> npt.NDArray[np.float16]:
    """In 16 bits on both sides, so that a training molecule is at distance 0 of itself."""
    return np.clip((embedding - centre) / scale, -6e4, 6e4).astype(np.float16)


def _nearest(rows: npt.NDArray[np.float16], queries: npt.NDArray[np.float16], count: int) -> Any:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=min(count, len(rows)), algorithm="brute").fit(rows.astype(np.float32))
    chunks = [queries[start : start + _CHUNK] for start in range(0, len(queries), _CHUNK)]
    return np.concatenate([search.kneighbors(chunk.astype(np.float32))[0] for chunk in chunks])
