"""Every sparse kernel: neighbour sums, edge-message sums, per-graph sums and means.

The adjacency of a batch is a CSR matrix, so a weighted neighbour sum is one sparse-dense product. Its backward
is written by hand: the gradient of `x` is the product with the transpose (for free where every edge has an
opposite), the gradient of the weights is a product sampled at the edges. Autograd's own rule for CSR weights is
one to two orders of magnitude slower and wrong on duplicate edges.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.batch import GraphBatch

# Devices whose torch build multiplies CSR matrices; elsewhere (MPS) the same sums are gathered and scattered.
_CSR_DEVICES = ("cpu", "cuda")
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")


def neighbour_sum(x: Tensor, batch: GraphBatch, edge_keep: Tensor | None = None) -> Tensor:
    """`out[i] = sum over edges e = (j -> i) of edge_keep[e] * x[j]`; without weights every edge counts 1."""
    edge_keep = batch.ones if edge_keep is None else edge_keep
    x = _wide(x)
    # Sparse products want 32 bits.
    with torch.autocast(x.device.type, enabled=False):
        return _NeighbourSum.apply(x, edge_keep.to(x.dtype), batch)


def edge_message_sum(
    x: Tensor, edge_table: Tensor, edge_code: Tensor, batch: GraphBatch, edge_keep: Tensor | None = None
) -> Tensor:
    """GINE's sum: `out[i] = sum over e = (j -> i) of edge_keep[e] * relu(x[j] + edge_table[edge_code[e]])`."""
    x = _wide(x)
    keep = None if edge_keep is None else edge_keep.to(x.dtype)
    return _EdgeMessageSum.apply(x, edge_table.to(x.dtype), keep, edge_code, batch)


def edge_scores(ends: Tensor, bias: Tensor, score: Tensor, batch: GraphBatch) -> Tensor:
    """`score . relu(as_source[source(e)] + as_target[target(e)] + bias)` for every edge e: an MLP on both its ends.

    The left half of the columns of `ends` is a node's share as a source, the right half its share as a target.
    """
    with torch.autocast(score.device.type, enabled=False):
        return _EdgeScores.apply(_wide(ends), bias, score, batch)


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


def rows(values: Tensor, index: Tensor) -> Tensor:
    """`values[index]`, by the kernel that is five times faster than indexing."""
    return values.index_select(0, index)


def _wide(x: Tensor) -> Tensor:
    """Sums are taken in at least 32 bits."""
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


class Adjacency:
    """The weighted adjacency of one or more copies of a batch, for hand-written layers outside autograd.

    The copies stand one after another; `keep` weighs the edges of the last, all edges of earlier ones count 1. Each
    sparse matrix is built once, however many layers use it.
    """

    def __init__(self, batch: GraphBatch, keep: Tensor | None = None, copies: int = 1) -> None:
        self.batch, self.copies = batch, copies
        keep = batch.ones if keep is None else keep
        self.weight = keep if copies == 1 else torch.cat([batch.ones] * (copies - 1) + [keep])
        self.crow, self.col, self.position = batch.crow, batch.col, batch.transposed[2]
        self.crow_t, self.col_t = batch.transposed[:2]

    def times(self, x: Tensor, plus: Tensor | None = None) -> Tensor:
        """`A x`, or `plus + A x`."""
        return self._forward(x, plus)

    def transposed_times(self, x: Tensor, plus: Tensor | None = None) -> Tensor:
        """`A^T x`, or `plus + A^T x`."""
        return self._backward(x, plus)

    def grad_of_keep(self, grad: Tensor, x: Tensor) -> Tensor:
        """The gradient of `keep`, given that of `A x`."""
        if self.copies > 1:
            first = (self.copies - 1) * self.batch.num_nodes
            grad, x = grad[first:], x[first:]
        return dots_at_edges(grad, x, self.batch, self._pattern)

    @cached_property
    def _pattern(self) -> Tensor | None:
        return _edge_pattern(self.batch, self.weight.dtype)

    @cached_property
    def _forward(self) -> Callable[[Tensor, Tensor | None], Tensor]:
        return _multiplier(*self._stacked(self.crow, self.col), self.weight)

    @cached_property
    def _backward(self) -> Callable[[Tensor, Tensor | None], Tensor]:
        edges, position = len(self.col), self.position
        if self.copies > 1:
            position = torch.cat([position + c * edges for c in range(self.copies)])
        return _multiplier(*self._stacked(self.crow_t, self.col_t), rows(self.weight, position))

    def _stacked(self, crow: Tensor, col: Tensor) -> tuple[Tensor, Tensor]:
        """The same rows once for every copy, as a block-diagonal matrix."""
        if self.copies == 1:
            return crow, col
        nodes, edges = self.batch.num_nodes, len(col)
        crows = [crow, *(crow[1:] + c * edges for c in range(1, self.copies))]
        return torch.cat(crows), torch.cat([col + c * nodes for c in range(self.copies)])


def _multiplier(crow: Tensor, col: Tensor, weight: Tensor) -> Callable[[Tensor, Tensor | None], Tensor]:
    """A function that multiplies by the square sparse matrix (crow, col, weight)."""
    if weight.device.type not in _CSR_DEVICES:
        return lambda x, plus: _product(crow, col, weight, x, plus)
    size = len(crow) - 1
    matrix = torch.sparse_csr_tensor(crow, col, weight, (size, size), check_invariants=False)
    return lambda x, plus: matrix @ x if plus is None else torch.addmm(plus, matrix, x)


def _product(crow: Tensor, col: Tensor, weight: Tensor, x: Tensor, plus: Tensor | None = None) -> Tensor:
    """The sparse matrix (crow, col, weight) times `x`, plus a dense matrix."""
    if x.device.type in _CSR_DEVICES:
        matrix = torch.sparse_csr_tensor(crow, col, weight, (len(crow) - 1, len(x)), check_invariants=False)
        return matrix @ x if plus is None else torch.addmm(plus, matrix, x)
    total = _scattered(crow, rows(x, col) * weight.unsqueeze(1))
    return total if plus is None else total.add_(plus)


def _scattered(crow: Tensor, messages: Tensor) -> Tensor:
    """Sum consecutive rows of `messages`, row i of the result taking `crow[i]:crow[i+1]`."""
    owner = torch.repeat_interleave(torch.arange(len(crow) - 1, device=crow.device), crow.diff())
    return messages.new_zeros(len(crow) - 1, messages.shape[1]).index_add_(0, owner, messages)


def dots_at_edges(grad: Tensor, x: Tensor, batch: GraphBatch, pattern: Tensor | None = None) -> Tensor:
    """`<grad[target(e)], x[source(e)]>` for every edge, without forming either gathered matrix."""
    pattern = _edge_pattern(batch, grad.dtype) if pattern is None else pattern
    if pattern is None:
        return (rows(grad, batch.target) * rows(x, batch.col)).sum(1)
    return torch.sparse.sampled_addmm(pattern, grad, x.t(), beta=0.0).values()


def _edge_pattern(batch: GraphBatch, dtype: torch.dtype) -> Tensor | None:
    """Where the edges are, as a sparse matrix of zeros; None where there is nothing to sample or no such kernel."""
    if batch.device.type not in _CSR_DEVICES or not batch.num_edges:
        return None
    zeros = torch.zeros(batch.num_edges, dtype=dtype, device=batch.device)
    shape = (batch.num_nodes, batch.num_nodes)
    return torch.sparse_csr_tensor(batch.crow, batch.col, zeros, shape, check_invariants=False)


class _NeighbourSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, batch: GraphBatch) -> Tensor:
        ctx.batch = batch
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, weight)
        return _product(batch.crow, batch.col, weight, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        x, weight = ctx.saved_tensors
        grad = grad.contiguous()
        grad_x = grad_weight = None
        if ctx.needs_input_grad[0]:
            crow, col, position = ctx.batch.transposed
            grad_x = _product(crow, col, rows(weight, position), grad)
        if ctx.needs_input_grad[1]:
            grad_weight = dots_at_edges(grad, x, ctx.batch)
        return grad_x, grad_weight, None


class _EdgeMessageSum(torch.autograd.Function):
    """Keeps only the summed messages' sign pattern: one edge-sized buffer forward, one backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: Tensor, keep: Tensor | None, code: Tensor, batch: GraphBatch) -> Tensor:
        message = rows(x, batch.col).add_(rows(table, code)).relu_()
        ctx.batch, ctx.shapes = batch, (x.shape, table.shape)
        ctx.save_for_backward(message, keep, code)
        out = torch.zeros_like(x)
        weighted = message if keep is None else message * keep.unsqueeze(1)
        return out.index_add_(0, batch.target, weighted)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None, None]:
        message, keep, code = ctx.saved_tensors
        batch, (x_shape, table_shape) = ctx.batch, ctx.shapes
        grad = grad.contiguous()
        at_edges = rows(grad, batch.target)
        grad_x = grad_table = grad_keep = None
        if ctx.needs_input_grad[2]:
            grad_keep = (at_edges * message).sum(1)
        if ctx.needs_input_grad[0] or ctx.needs_input_grad[1]:
            at_edges.mul_(message > 0)
            if keep is not None:
                at_edges.mul_(keep.unsqueeze(1))
        if ctx.needs_input_grad[0]:
            grad_x = grad.new_zeros(x_shape).index_add_(0, batch.col, at_edges)
        if ctx.needs_input_grad[1]:
            grad_table = grad.new_zeros(table_shape).index_add_(0, code, at_edges)
        return grad_x, grad_table, grad_keep, None, None


class _EdgeScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, ends: Tensor, bias: Tensor, score: Tensor, batch: GraphBatch) -> Tensor:
        as_source, as_target = ends.chunk(2, dim=1)
        hidden = rows(as_target + bias, batch.target).add_(rows(as_source, batch.col)).relu_()
        ctx.batch = batch
        ctx.save_for_backward(hidden, score)
        return hidden @ score

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        hidden, score = ctx.saved_tensors
        batch: GraphBatch = ctx.batch
        at_edges = torch.ops.aten.threshold_backward(torch.outer(grad, score), hidden, 0)
        ones = batch.ones.to(at_edges.dtype)
        in_order = torch.arange(batch.num_edges, dtype=torch.int32, device=grad.device)
        crow, _, position = batch.transposed
        as_target = _product(batch.crow, in_order, ones, at_edges)
        as_source = _product(crow, position.int(), ones, at_edges)
        return torch.cat((as_source, as_target), dim=1), as_target.sum(0), grad @ hidden, None


class _SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, groups: int, owner: Tensor) -> Tensor:
        ctx.save_for_backward(owner)
        return values.new_zeros(groups, values.shape[1]).index_add_(0, owner, values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return rows(grad.contiguous(), ctx.saved_tensors[0]), None, None
