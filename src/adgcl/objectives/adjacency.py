"""Rebuilding the adjacency: the inner product of two nodes says whether they are joined (Kipf and Welling 2016)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.kernels.precision import wide_products
from adgcl.graphs.store.batch import GraphBatch
from adgcl.objectives.pair_scores import inner_products
from adgcl.parallel.collectives import average_count

# Scores that are computed at a time.
_AT_ONCE = 1 << 22


def adjacency_loss(node_emb: Tensor, batch: GraphBatch) -> Tensor:
    """Cross-entropy of `sigmoid(<h_i, h_j>)` against "i and j are joined", over all ordered pairs of different nodes.

    The mean over the pairs of a graph, then over the graphs that have any; 0 if none has. Equal to the mean of
    `softplus(s_ij)` over all pairs less the sum of `s_ij` over edges, which are few.
    """
    share = pair_share(batch)
    source, target = joined_pairs(batch)
    with wide_products(node_emb.device):
        h = node_emb.float()
        joined = inner_products(rows(h, source), rows(h, target)) * rows(share, rows(batch.batch, target))
        return _AllPairs.apply(h, batch, share) - joined.sum()


def joined_pairs(batch: GraphBatch) -> tuple[Tensor, Tensor]:
    """The ends of all edges, each once, without those that join a node to itself."""
    counts = batch.col != batch.target
    # Edges are sorted by target, then source, so that repeated ones follow one another.
    counts[1:] &= (batch.col[1:] != batch.col[:-1]) | (batch.target[1:] != batch.target[:-1])
    return batch.col[counts], batch.target[counts]


def pair_share(batch: GraphBatch) -> Tensor:
    """The weight of one pair of each graph: 1 over its pairs and over the graphs that have pairs."""
    pairs = batch.node_counts * (batch.node_counts - 1)
    graphs = average_count(int((pairs > 0).sum())) or 1
    return torch.where(pairs > 0, 1.0 / (pairs.clamp(min=1) * graphs), 0.0)


class _AllPairs(torch.autograd.Function):
    """The weighted sum of `softplus(s_ij)` over all pairs `i != j`; scores are never kept, only their gradient."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, batch: GraphBatch, share: Tensor) -> Tensor:
        total, of_h = h.new_zeros(()), torch.zeros_like(h) if ctx.needs_input_grad[0] else None
        for graphs, nodes, real in _blocks(batch):
            z = rows(h, nodes.flatten()).view(*nodes.shape, -1) * real.unsqueeze(2)
            score = z @ z.transpose(1, 2)
            weight = (real.unsqueeze(1) * real.unsqueeze(2)) * rows(share, graphs)[:, None, None]
            weight.diagonal(dim1=1, dim2=2).zero_()
            total += (F.softplus(score) * weight).sum()
            if of_h is not None:
                # Both rows of a score move it, hence twice.
                slope = 2.0 * (score.sigmoid_() * weight) @ z
                of_h.index_add_(0, nodes.flatten(), slope.flatten(0, 1))
        ctx.save_for_backward(of_h)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, None, None]:
        (of_h,) = ctx.saved_tensors
        return (None if of_h is None else of_h * grad), None, None


def _blocks(batch: GraphBatch) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Graphs of similar size at a time: their numbers, their nodes `[graphs, size]`, and 1 for nodes that are real."""
    sizes, order = torch.sort(batch.node_counts, descending=True)
    start = 0
    while start < len(order):
        size = int(sizes[start])
        graphs = order[start : start + max(_AT_ONCE // size**2, 1)]
        places = torch.arange(size, device=batch.device)
        counts = rows(batch.node_counts, graphs).unsqueeze(1)
        nodes = rows(batch.node_ptr, graphs).unsqueeze(1) + torch.minimum(places, counts - 1)
        yield graphs, nodes, (places < counts).float()
        start += len(graphs)
