"""Motifs: bonds with the same surroundings, and which of them an augmenter finds most and least redundant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adgcl.graphs.kernels.structure import wl_colours
from adgcl.graphs.store.store import GraphStore
from adgcl.insight.bonds import Bonds, Floats

_CHUNK = 4096


@dataclass(frozen=True)
class Motif:
    """A bond with its direct neighbours: how often it occurs, its mean drop probability, and one such bond."""

    count: int
    graphs: int
    drop: float
    example: int


def find_motifs(store: GraphStore, bonds: Bonds, drop: Floats, least: int | None = None) -> list[Motif]:
    """Motifs that occur in at least `least` graphs (default: one in 100, and at least 3), most dropped first.

    Two bonds have the same motif if their ends have the same colours after one round of Weisfeiler and Lehman: the same
    labels with the same neighbours, whatever the order.
    """
    if not len(bonds):
        return []
    least = max(3, len(store) // 100) if least is None else least
    colour = _node_colours(store)
    ends = (colour[store.node_ptr[bonds.graph] + end] for end in (bonds.one, bonds.other))
    first, second = ends
    key = np.minimum(first, second) * np.uint64(3) + np.maximum(first, second)
    _, example, code, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    mean = np.bincount(code, weights=drop) / counts
    graphs = np.bincount(np.unique(code * np.int64(len(store)) + bonds.graph) // len(store))
    order = np.argsort(-mean, kind="stable")
    return [Motif(int(counts[i]), int(graphs[i]), float(mean[i]), int(example[i])) for i in order if graphs[i] >= least]


def _node_colours(store: GraphStore) -> np.ndarray:
    parts = [np.empty(0, dtype=np.uint64)]
    for start in range(0, len(store), _CHUNK):
        batch = store.batch(np.arange(start, min(start + _CHUNK, len(store))))
        parts.append(wl_colours(batch, 1)[1])
    return np.concatenate(parts)
