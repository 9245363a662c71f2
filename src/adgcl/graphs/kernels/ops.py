"""Sums over the edges and the nodes of graphs: neighbour sums, per-graph sums, means and maxima.

A weighted neighbour sum is a product with the adjacency of the batch (see matrix.py). Its backward is written by hand:
autograd's own rule for sparse weights is one to two orders of magnitude slower and wrong on duplicate edges.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.kernels.matrix import dots_at_edges, rows, weighted_rows
from adgcl.graphs.store.batch import GraphBatch


def neighbour_sum(x: Tensor, batch: GraphBatch, edge_keep: Tensor | None = None) -> Tensor:
    """`out[i] = sum over edges e = (j -> i) of edge_keep[e] * x[j]`; without weights every edge counts 1."""
    edge_keep = batch.ones if edge_keep is None else edge_keep
    x = _wide(x)
    return _NeighbourSum.apply(x, edge_keep.to(x.dtype), batch)


def graph_sum(values: Tensor, batch: GraphBatch, copies: int = 1) -> Tensor:
    """Per-graph sum of node rows; several copies of the batch give as many blocks of graph rows."""
    return _SegmentSum.apply(_wide(values), copies * batch.num_graphs, batch.owners(copies))


def graph_mean(values: Tensor, batch: GraphBatch, copies: int = 1) -> Tensor:
    """Per-graph mean of node rows."""
    counts = batch.node_counts.repeat(copies).unsqueeze(1)
    return graph_sum(values, batch, copies) / counts.to(values.dtype)


def graph_max(values: Tensor, batch: GraphBatch, copies: int = 1) -> Tensor:
    """Per-graph maximum of node rows."""
    index = batch.owners(copies).unsqueeze(1).expand_as(values)
    empty = values.new_full((copies * batch.num_graphs, values.shape[1]), -torch.inf)
    return empty.scatter_reduce(0, index, values, "amax", include_self=False)


def _wide(x: Tensor) -> Tensor:
    """Sums are taken in at least 32 bits."""
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


class _NeighbourSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, batch: GraphBatch) -> Tensor:
        ctx.batch = batch
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, weight)
        return weighted_rows(x, batch.crow[:-1], batch.col, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        x, weight = ctx.saved_tensors
        batch, grad = ctx.batch, grad.contiguous()
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            crow, col, position = batch.transposed
            grad_x = weighted_rows(grad, crow[:-1], col, rows(weight, position))
        if ctx.needs_input_grad[1]:
            grad_weight = dots_at_edges([grad], [x], batch)
        return grad_x, grad_weight, None


class _SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, groups: int, owner: Tensor) -> Tensor:
        ctx.save_for_backward(owner)
        return values.new_zeros(groups, values.shape[1]).index_add_(0, owner, values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return rows(grad.contiguous(), ctx.saved_tensors[0]), None, None
