"""Sums of rows that many nodes and edges share, taken from one small table."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.kernels.compiled import addresses, callable_in_loops, compiled, compiles, floats, ints
from adgcl.graphs.kernels.matrix import rows


def shared_row_sum(
    table: Tensor,
    own: Tensor,
    row: Tensor,
    target: Tensor,
    keep: Tensor | None = None,
    own_keep: Tensor | None = None,
) -> Tensor:
    """`out[i] = own_keep[i] * table[own[i]] + sum over edges e to i = target[e] of keep[e] * table[row[e]]`.

    Weights that are not given are 1.
    """
    dtype = torch.promote_types(table.dtype, torch.float32)
    table = table.to(dtype)
    keep, own_keep = (None if weights is None else weights.to(dtype) for weights in (keep, own_keep))
    if compiles(table):
        return _SharedRowSum.apply(table, keep, own_keep, own, row, target)
    return _weighted(table, own, own_keep).index_add(0, target, _weighted(table, row, keep))


def _weighted(table: Tensor, index: Tensor, weights: Tensor | None) -> Tensor:
    return rows(table, index) if weights is None else rows(table, index) * weights.unsqueeze(1)


class _SharedRowSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, table: Tensor, keep: Tensor | None, own_keep: Tensor | None, own: Tensor, row: Tensor, target: Tensor
    ) -> Tensor:
        inputs = [None if part is None else part.contiguous() for part in (table, keep, own_keep, own, row, target)]
        ctx.save_for_backward(*inputs)
        out = torch.empty(len(own), table.shape[1])
        _add_rows(*_place(inputs, out))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        table, keep, own_keep, *_ = ctx.saved_tensors
        place = _place(ctx.saved_tensors, grad := grad.contiguous())
        of_table = of_keep = of_own = None
        if ctx.needs_input_grad[0]:
            of_table = torch.zeros_like(table)
            _add_rows_backward(of_table.data_ptr(), *place)
        if ctx.needs_input_grad[1]:
            of_keep = torch.empty_like(keep)
            _dot_rows(of_keep.data_ptr(), *place)
        if ctx.needs_input_grad[2]:
            of_own = torch.empty_like(own_keep)
            _dot_own(of_own.data_ptr(), *place)
        return of_table, of_keep, of_own, None, None, None


def _place(inputs: Any, at_nodes: Tensor) -> tuple[int, ...]:
    """The arguments of every loop: addresses and sizes."""
    table, _, _, own, row, _ = inputs
    return *addresses(*inputs, at_nodes), len(own), len(row), *table.shape


@callable_in_loops
def _arrays(
    table_at: int, keep_at: int, own_keep_at: int, own_at: int, row_at: int, target_at: int, nodes_at: int,
    num_nodes: int, num_edges: int, num_rows: int, width: int,
) -> Any:  # fmt: skip
    table, at_nodes = floats(table_at, (num_rows, width)), floats(nodes_at, (num_nodes, width))
    own, row, target = ints(own_at, (num_nodes,)), ints(row_at, (num_edges,)), ints(target_at, (num_edges,))
    keep, own_keep = floats(keep_at, (num_edges,)), floats(own_keep_at, (num_nodes,))
    return table, at_nodes, own, row, target, keep, keep_at != 0, own_keep, own_keep_at != 0


@compiled
def _add_rows(*place: int) -> None:
    table, out, own, row, target, keep, weighted, own_keep, own_weighted = _arrays(*place)
    e = 0
    for i in range(len(own)):
        mine: Any = np.uint64(own[i])
        weight = own_keep[i] if own_weighted else np.float32(1)
        for j in range(table.shape[1]):
            out[i, j] = weight * table[mine, j]
        # While its row is in the cache. Edges in another order than that of their targets wait until both are there.
        while e < len(row) and target[e] <= i:
            source, node = np.uint64(row[e]), np.uint64(target[e])
            weight = keep[e] if weighted else np.float32(1)
            for j in range(table.shape[1]):
                out[node, j] += weight * table[source, j]
            e += 1


@compiled
def _add_rows_backward(of_table_at: int, *place: int) -> None:
    table, grad, own, row, target, keep, weighted, own_keep, own_weighted = _arrays(*place)
    of_table = floats(of_table_at, table.shape)
    e = 0
    for i in range(len(own)):
        mine: Any = np.uint64(own[i])
        weight = own_keep[i] if own_weighted else np.float32(1)
        for j in range(table.shape[1]):
            of_table[mine, j] += weight * grad[i, j]
        while e < len(row) and target[e] <= i:
            source, node = np.uint64(row[e]), np.uint64(target[e])
            weight = keep[e] if weighted else np.float32(1)
            for j in range(table.shape[1]):
                of_table[source, j] += weight * grad[node, j]
            e += 1


@compiled
def _dot_rows(dots_at: int, *place: int) -> None:
    """The gradient of each edge's weight: its row times the gradient at its target."""
    table, grad, _, row, target, _, _, _, _ = _arrays(*place)
    dots = floats(dots_at, (len(row),))
    for e in range(len(row)):
        source, node = np.uint64(row[e]), np.uint64(target[e])
        dot = np.float32(0)
        for j in range(table.shape[1]):
            dot += grad[node, j] * table[source, j]
        dots[e] = dot


@compiled
def _dot_own(dots_at: int, *place: int) -> None:
    """The gradient of each node's own weight."""
    table, grad, own, _, _, _, _, _, _ = _arrays(*place)
    dots = floats(dots_at, (len(own),))
    for i in range(len(own)):
        mine: Any = np.uint64(own[i])
        dot = np.float32(0)
        for j in range(table.shape[1]):
            dot += grad[i, j] * table[mine, j]
        dots[i] = dot
