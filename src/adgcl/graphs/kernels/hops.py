"""Hops: how far the nodes of a batch are from chosen ones, for all graphs at once."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch


def hop_distances(batch: GraphBatch, roots: Tensor, limit: int) -> Tensor:
    """The fewest edges on a way from each node to one of `roots`; `limit + 1` where there are more, or no way.

    Breadth-first in all graphs together: a hop is a product of the adjacency with the nodes found last. A network of k
    layers carries to a root what is at most k hops away, since messages go along the edges too.
    """
    distance = torch.full((batch.num_nodes,), limit + 1, device=batch.device).index_fill_(0, roots, 0)
    frontier = distance == 0
    for hop in range(1, limit + 1):
        hit = torch.zeros_like(frontier)
        hit[batch.col[rows(frontier, batch.target)]] = True
        frontier = hit & (distance > limit)
        distance.masked_fill_(frontier, hop)
    return distance
