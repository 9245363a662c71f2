"""Messages with edge features: the sum over a node's edges of `relu(x[source] + what the edge carries)`, weighted."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.kernels.compiled import addresses, callable_in_loops, compiled, compiles, floats, ints
from adgcl.graphs.kernels.matrix import rows


class Edges(Protocol):
    """Edges from `col` to `target`, of which there are `num_nodes`: a batch, or a block of its quotient."""

    @property
    def col(self) -> Tensor: ...
    @property
    def target(self) -> Tensor: ...
    @property
    def num_nodes(self) -> int: ...


def edge_message_sum(
    x: Tensor,
    edge_table: Tensor,
    edge_code: Tensor,
    edges: Edges,
    edge_keep: Tensor | None = None,
    relu: bool = True,
) -> Tensor:
    """`out[i] = sum over e = (j -> i) of edge_keep[e] * relu(x[j] + edge_table[edge_code[e]])`, or without the relu."""
    dtype = torch.promote_types(x.dtype, torch.float32)
    x, table, keep = x.to(dtype), edge_table.to(dtype), None if edge_keep is None else edge_keep.to(dtype)
    if compiles(x):
        return _MessageSum.apply(x.contiguous(), table.contiguous(), keep, edge_code.contiguous(), edges, relu)
    message = rows(x, edges.col) + rows(table, edge_code)
    message = message.relu() if relu else message
    message = message if keep is None else message * keep.unsqueeze(1)
    return x.new_zeros(edges.num_nodes, x.shape[1]).index_add(0, edges.target, message)


class _MessageSum(torch.autograd.Function):
    """Nothing as large as the edges is stored: the backward pass recomputes each message."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, table: Tensor, keep: Tensor | None, code: Tensor, edges: Edges, relu: bool
    ) -> Tensor:
        keep = None if keep is None else keep.contiguous()
        # A message that is not above the floor counts as the floor; no number is below minus infinity.
        ctx.edges, ctx.floor = edges, 0.0 if relu else -math.inf
        ctx.save_for_backward(x, table, keep, code)
        out = torch.zeros(edges.num_nodes, x.shape[1])
        _add_messages(ctx.floor, *_place(x, table, keep, code, edges, out))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, table, keep, code = ctx.saved_tensors
        place = _place(x, table, keep, code, ctx.edges, grad := grad.contiguous())
        of_x = of_table = of_keep = None
        if ctx.needs_input_grad[2]:
            of_keep = torch.empty(len(code))
            _dot_messages(ctx.floor, *addresses(of_keep), *place)
        if ctx.needs_input_grad[0] or ctx.needs_input_grad[1]:
            of_x, of_table = torch.zeros_like(x), torch.zeros_like(table)
            _add_messages_backward(ctx.floor, *addresses(of_x, of_table), *place)
        return of_x, of_table, of_keep, None, None, None


def _place(
    x: Tensor, table: Tensor, keep: Tensor | None, code: Tensor, edges: Edges, at_nodes: Tensor
) -> tuple[Any, ...]:
    """The arguments of every loop: addresses and sizes."""
    sizes = len(x), len(table), len(code), len(at_nodes), x.shape[1]
    return *addresses(x, table, code, edges.col, edges.target, at_nodes, keep), *sizes


@callable_in_loops
def _arrays(
    x_at: int, table_at: int, code_at: int, col_at: int, target_at: int, nodes_at: int, keep_at: int,
    num_x: int, num_codes: int, num_edges: int, num_nodes: int, width: int,
) -> Any:  # fmt: skip
    """The arrays at these addresses: rows of sources, bonds and targets, and the three row numbers of each edge."""
    x, table, at_nodes = (
        floats(x_at, (num_x, width)), floats(table_at, (num_codes, width)), floats(nodes_at, (num_nodes, width))
    )  # fmt: skip
    code, col, target = ints(code_at, (num_edges,)), ints(col_at, (num_edges,)), ints(target_at, (num_edges,))
    return x, table, at_nodes, code, col, target, floats(keep_at, (num_edges,)), keep_at != 0


@compiled
def _add_messages(floor: float, *place: int) -> None:
    least = np.float32(floor)
    x, table, out, code, col, target, keep, weighted = _arrays(*place)
    for e in range(len(col)):
        source, bond, node = np.uint64(col[e]), np.uint64(code[e]), np.uint64(target[e])
        weight = keep[e] if weighted else np.float32(1)
        for j in range(x.shape[1]):
            message = x[source, j] + table[bond, j]
            out[node, j] += weight * (least if message <= least else message)


@compiled
def _dot_messages(floor: float, dots_at: int, *place: int) -> None:
    """The gradient of each edge's weight: its message times the gradient at its target."""
    least = np.float32(floor)
    x, table, grad, code, col, target, _, _ = _arrays(*place)
    dots = floats(dots_at, (len(col),))
    for e in range(len(col)):
        source, bond, node = np.uint64(col[e]), np.uint64(code[e]), np.uint64(target[e])
        dot = np.float32(0)
        for j in range(x.shape[1]):
            message = x[source, j] + table[bond, j]
            dot += grad[node, j] * (least if message <= least else message)
        dots[e] = dot


@compiled
def _add_messages_backward(floor: float, of_x_at: int, of_table_at: int, *place: int) -> None:
    least = np.float32(floor)
    x, table, grad, code, col, target, keep, weighted = _arrays(*place)
    of_x, of_table = floats(of_x_at, x.shape), floats(of_table_at, table.shape)
    width = x.shape[1]
    passed = np.empty(width, np.float32)
    for e in range(len(col)):
        source, bond, node = np.uint64(col[e]), np.uint64(code[e]), np.uint64(target[e])
        weight = keep[e] if weighted else np.float32(1)
        # Several loops, because the compiler gives up if too many arrays might overlap.
        for j in range(width):
            slope = weight * grad[node, j]
            passed[j] = np.float32(0) if x[source, j] + table[bond, j] <= least else slope
        for j in range(width):
            of_x[source, j] += passed[j]
        for j in range(width):
            of_table[bond, j] += passed[j]
