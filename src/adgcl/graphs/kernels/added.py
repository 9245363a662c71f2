"""Edges that a View adds: their messages, and which pairs of nodes are already connected."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import AddedEdges


def with_added_messages(sums: Tensor, messages: Tensor, added: AddedEdges | None) -> Tensor:
    """`sums[i] + sum over added edges a = (j -> i) of keep[a] * messages[j]`."""
    if added is None:
        return sums
    along = rows(messages, added.source) * added.keep.unsqueeze(1)
    return sums.index_add(0, added.target, along.to(sums.dtype))


def are_edges(batch: GraphBatch, source: Tensor, target: Tensor) -> Tensor:
    """Whether the batch has an edge from each `source` to each `target`."""
    if not batch.num_edges:
        return torch.zeros_like(source, dtype=torch.bool)
    # Ascending, because a batch lists its edges by target, then source.
    edges = batch.target * batch.num_nodes + batch.col
    wanted = target * batch.num_nodes + source
    place = torch.searchsorted(edges, wanted).clamp_(max=batch.num_edges - 1)
    return rows(edges, place) == wanted
