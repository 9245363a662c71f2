"""Readouts: node rows -> one row per graph, with weighted nodes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from adgcl.graphs.kernels.ops import graph_max, graph_mean, graph_sum, rows
from adgcl.graphs.store.batch import GraphBatch


def sum_readout(node_emb: Tensor, batch: GraphBatch, copies: int = 1, node_keep: Tensor | None = None) -> Tensor:
    """The weighted sum of a graph's node rows."""
    return graph_sum(node_emb if node_keep is None else node_emb * node_keep.unsqueeze(1), batch, copies)


def mean_readout(node_emb: Tensor, batch: GraphBatch, copies: int = 1, node_keep: Tensor | None = None) -> Tensor:
    """The weighted mean of a graph's node rows."""
    if node_keep is None:
        return graph_mean(node_emb, batch, copies)
    counts = graph_sum(node_keep.unsqueeze(1), batch, copies)
    return sum_readout(node_emb, batch, copies, node_keep) / counts.masked_fill(counts == 0, 1.0)


def max_readout(node_emb: Tensor, batch: GraphBatch, copies: int = 1, node_keep: Tensor | None = None) -> Tensor:
    """The maximum of a graph's node rows; as its weight falls to 0 a row fades to the lowest of the graph's values,
    where it decides no maximum and its gradient stays bounded."""
    if node_keep is None:
        return graph_max(node_emb, batch, copies)
    weight = node_keep.to(node_emb.dtype).unsqueeze(1)
    lowest = -graph_max(-node_emb, batch, copies)
    faded = rows(lowest, batch.owners(copies)).lerp(node_emb, weight)
    # Excluded altogether, not only ranked last: the gradient of a maximum is shared among equal rows.
    highest = graph_max(faded.masked_fill(weight == 0, -torch.inf), batch, copies)
    return highest.masked_fill(highest == -torch.inf, 0.0)


READOUTS: dict[str, Callable[[Tensor, GraphBatch, int, Tensor | None], Tensor]] = {
    "sum": sum_readout,
    "mean": mean_readout,
    "max": max_readout,
}
