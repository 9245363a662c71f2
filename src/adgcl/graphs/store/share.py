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
    """Which of the graphs `ids` process `rank` of `size` takes: as many as every other, give or take one."""
    first, last = (len(ids) * place // size for place in (rank, rank + 1))
    nodes, edges = store.counts_of(ids)
    before = Counts(first, int(nodes[:first].sum()), int(edges[:first].sum()))
    whole = Counts(len(ids), int(nodes.sum()), int(edges.sum()))
    return ids[first:last], Share(before, whole, np.count_nonzero(edges) / size, generator)
