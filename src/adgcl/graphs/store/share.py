"""Share: the part of a batch that one of several processes computes, and its place in the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from adgcl.graphs.store.ranges import IntArray
from adgcl.graphs.store.store import GraphStore


class Counts(NamedTuple):
    """How many there are of each."""

    graphs: int
    nodes: int
    edges: int


@dataclass(frozen=True, eq=False)
class Share:
    """What a batch has to know about the larger one that it is a part of.

    `before` and `whole` count what other processes hold in front of this part, and what all of them hold. `with_edges`
    is how many graphs with edges a process has on average. `generator` draws noise that no other process needs to know.
    """

    before: Counts
    whole: Counts
    with_edges: float
    generator: torch.Generator


def share_of(
    store: GraphStore, ids: IntArray, rank: int, size: int, generator: torch.Generator
) -> tuple[IntArray, Share]:
    """Which of the graphs `ids` process `rank` of `size` takes: about as many nodes as every other takes."""
    nodes, edges = store.counts_of(ids)
    cuts = _cuts(nodes, size)
    first, last = int(cuts[rank]), int(cuts[rank + 1])
    before = Counts(first, int(nodes[:first].sum()), int(edges[:first].sum()))
    whole = Counts(len(ids), int(nodes.sum()), int(edges.sum()))
    return ids[first:last], Share(before, whole, np.count_nonzero(edges) / size, generator)


def _cuts(nodes: IntArray, size: int) -> IntArray:
    """Where each of `size` parts of a batch begins, and the end: equal in nodes as far as whole graphs allow."""
    ends, place = nodes.cumsum(), np.arange(1, size)
    inner = np.searchsorted(ends - nodes / 2, ends[-1] * place / size)
    # Each part has a graph of its own, however large others are.
    inner = np.minimum(np.maximum.accumulate(np.maximum(inner, 1) - place) + place, len(nodes) - size + place)
    return np.concatenate(([0], inner, [len(nodes)]))
