"""Bonds: the undirected edges of a store, each with both of its directions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from adgcl.graphs.store.ranges import IntArray, offsets
from adgcl.graphs.store.store import GraphStore

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Bonds:
    """Bonds in store order: the graph of each, its ends (local to the graph) and its two edges (in the store).

    `forth` runs from `one` to `other`, `back` the other way. An edge without an opposite is a bond of its own whose two
    directions are the same edge.
    """

    num_graphs: int
    graph: IntArray
    one: IntArray
    other: IntArray
    forth: IntArray
    back: IntArray

    def __len__(self) -> int:
        return len(self.graph)

    @cached_property
    def counts(self) -> IntArray:
        """How many bonds each graph has."""
        return np.bincount(self.graph, minlength=self.num_graphs)

    @cached_property
    def ptr(self) -> IntArray:
        """Where the bonds of each graph begin; the total comes last."""
        return offsets(self.counts)

    def of(self, graph: int) -> slice:
        """The place of a graph's bonds."""
        return slice(int(self.ptr[graph]), int(self.ptr[graph + 1]))

    def mean(self, per_edge: npt.NDArray[np.floating]) -> Floats:
        """The mean over both directions of a number for each edge."""
        return (per_edge[self.forth].astype(np.float64) + per_edge[self.back]) / 2


def find_bonds(store: GraphStore) -> Bonds:
    """Pair the edges of a store with their opposites; an edge that has none is a bond by itself."""
    graph = np.repeat(np.arange(len(store)), store.edge_counts)
    here = np.arange(store.num_edges)
    source, target = np.asarray(store.edge_source, dtype=np.int64), store.edge_target()
    if store.edge_reverse is None:
        opposite = _opposites(store.node_ptr[graph], source, target, store.num_nodes)
    else:
        opposite = store.edge_ptr[graph] + np.asarray(store.edge_reverse, dtype=np.int64)
    forth = np.flatnonzero(here <= opposite)
    return Bonds(len(store), graph[forth], source[forth], target[forth], forth, opposite[forth])


def _opposites(first: IntArray, source: IntArray, target: IntArray, width: int) -> IntArray:
    """The place of each edge's opposite, or its own; of repeated edges, the first belongs to the first, and so on.

    `first` is where the nodes of each edge's graph begin.
    """
    ahead, behind = (first + source) * width + first + target, (first + target) * width + first + source
    order = np.argsort(ahead, kind="stable")
    ordered = ahead[order]
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    place = np.searchsorted(ordered, behind) + rank
    there = np.flatnonzero(place < len(order))
    there = there[ordered[place[there]] == behind[there]]
    found = np.arange(len(order))
    found[there] = order[place[there]]
    return found
