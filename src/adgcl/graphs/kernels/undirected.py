"""Undirected edges: a batch has them twice, once in each direction."""

from __future__ import annotations

from torch import Tensor

from adgcl.graphs.store.batch import GraphBatch


def edges_once(batch: GraphBatch) -> Tensor:
    """The positions of all edges but loops, of an undirected one in the direction from the lower node to the higher.

    Where some edge has no opposite, all edges are taken for directed ones.
    """
    once = batch.col != batch.target if batch.reverse is None else batch.col < batch.target
    return once.nonzero().squeeze(1)
