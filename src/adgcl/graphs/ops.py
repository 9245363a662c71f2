"""Sums over the edges and the nodes of graphs: neighbour sums, edge-message sums, per-graph sums and means.

A weighted neighbour sum is a product with the adjacency of the batch (see matrix.py). Its backward is written by hand:
autograd's own rule for sparse weights is one to two orders of magnitude slower and wrong on duplicate edges.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.matrix import dots_at_edges, rows, weighted_rows


class Edges(Protocol):
    """Edges from `col` to `target`, of which there are `num_nodes`: a batch, or a block of its quotient."""

    @property
    def col(self) -> Tensor: ...
    @property
    def target(self) -> Tensor: ...
    @property
    def num_nodes(self) -> int: ...


def neighbour_sum(x: Tensor, batch: GraphBatch, edge_keep: Tensor | None = None) -> Tensor:
    """`out[i] = sum over edges e = (j -> i) of edge_keep[e] * x[j]`; without weights every edge counts 1."""
    edge_keep = batch.ones if edge_keep is None else edge_keep
    x = _wide(x)
    return _NeighbourSum.apply(x, edge_keep.to(x.dtype), batch)


def edge_message_sum(
    x: Tensor, edge_table: Tensor, edge_code: Tensor, edges: Edges, edge_keep: Tensor | None = None
) -> Tensor:
    """GINE's sum: `out[i] = sum over e = (j -> i) of edge_keep[e] * relu(x[j] + edge_table[edge_code[e]])`."""
    x = _wide(x)
    keep = None if edge_keep is None else edge_keep.to(x.dtype)
    return _EdgeMessageSum.apply(x, edge_table.to(x.dtype), keep, edge_code, edges)


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


class _EdgeMessageSum(torch.autograd.Function):
    """Keeps only the summed messages' sign pattern: one edge-sized buffer forward, one backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: Tensor, keep: Tensor | None, code: Tensor, edges: Edges) -> Tensor:
        message = rows(x, edges.col).add_(rows(table, code)).relu_()
        ctx.edges, ctx.shapes = edges, (x.shape, table.shape)
        ctx.save_for_backward(message, keep, code)
        out = x.new_zeros(edges.num_nodes, x.shape[1])
        weighted = message if keep is None else message * keep.unsqueeze(1)
        return out.index_add_(0, edges.target, weighted)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
        message, keep, code = ctx.saved_tensors
        edges, (x_shape, table_shape) = ctx.edges, ctx.shapes
        at_edges = rows(grad.contiguous(), edges.target)
        grad_x = grad_table = grad_keep = None
        if ctx.needs_input_grad[2]:
            grad_keep = (at_edges * message).sum(1)
        if ctx.needs_input_grad[0] or ctx.needs_input_grad[1]:
            at_edges.mul_(message > 0)
            if keep is not None:
                at_edges.mul_(keep.unsqueeze(1))
        if ctx.needs_input_grad[0]:
            grad_x = grad.new_zeros(x_shape).index_add_(0, edges.col, at_edges)
        if ctx.needs_input_grad[1]:
            grad_table = grad.new_zeros(table_shape).index_add_(0, code, at_edges)
        return grad_x, grad_table, grad_keep, None, None


class _SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, groups: int, owner: Tensor) -> Tensor:
        ctx.save_for_backward(owner)
        return values.new_zeros(groups, values.shape[1]).index_add_(0, owner, values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return rows(grad.contiguous(), ctx.saved_tensors[0]), None, None
