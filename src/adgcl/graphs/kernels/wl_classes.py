"""1-WL classes: which graphs colour refinement cannot tell apart, and so no encoder that passes messages can."""

from __future__ import annotations

import numpy as np

from adgcl.core.progress import Count
from adgcl.graphs.kernels.structure import Colours, hashed, wl_colours
from adgcl.graphs.store.adjacency import runs
from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore


def wl_classes(store: GraphStore, progress: Count | None = None) -> IntArray:
    """The class of every graph, numbered from 0: two graphs share one if the 1-WL test cannot tell them apart.

    Colours are refined until they are stable and compared across graphs; features, real values included, are the
    first colours. Most graphs are alone after a few rounds and are left out of the rest.
    """
    classes: IntArray = np.full(len(store), -1, dtype=np.int64)
    left = np.arange(len(store))
    known, rounds = 0, 1
    while len(left):
        if progress is not None:
            progress(len(store) - len(left), len(store))
        summary, stable = _summaries(store if len(left) == len(store) else store.select(left), rounds)
        _, group, size = np.unique(summary, return_inverse=True, return_counts=True)
        done = stable | (size[group] == 1)
        classes[left[done]] = known + np.unique(group[done], return_inverse=True)[1]
        known = int(classes.max()) + 1
        left, rounds = left[~done], 2 * rounds
    if progress is not None:
        progress(len(store), len(store))
    return classes


def _summaries(store: GraphStore, rounds: int) -> tuple[Colours, bool]:
    """A hash of the colours of each graph after some rounds, and whether the last round told no more nodes apart."""
    summaries: list[Colours] = []
    before: list[Colours] = []
    after: list[Colours] = []
    for first, last in runs(store.edge_ptr):
        batch = store.batch(np.arange(first, last))
        *_, former, colour = wl_colours(batch, rounds, reals=True)
        total = np.zeros(len(colour) + 1, dtype=np.uint64)
        # As in a round of refinement, a sum of hashes does not depend on the order of nodes.
        np.cumsum(hashed(colour), out=total[1:])
        starts = batch.node_ptr.numpy()
        summaries.append(total[starts[1:]] - total[starts[:-1]])
        before.append(np.unique(former))
        after.append(np.unique(colour))
    distinct = (len(np.unique(np.concatenate(colours))) for colours in (before, after))
    return np.concatenate(summaries), len(set(distinct)) == 1
