"""Edge scores: a small network on the two ends of every edge, with its backward pass written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.kernels.compiled import RUN, addresses, compiled, compiles, floats, ints
from adgcl.graphs.kernels.matrix import rows
from adgcl.graphs.kernels.precision import wide_products
from adgcl.graphs.store.batch import GraphBatch


def edge_scores(
    node_emb: Tensor, ends: Tensor, bias: Tensor, score: Tensor, score_bias: Tensor, batch: GraphBatch
) -> Tensor:
    """`score . relu(W [h_source(e), h_target(e)] + bias) + score_bias` for every edge e.

    The upper half of the rows of `ends` is W's part for a source, the lower half that for a target: the product with W
    is taken once per node, not once per edge.
    """
    with wide_products(node_emb.device):
        node_emb = node_emb.to(ends.dtype)
        if compiles(node_emb, ends):
            return _EdgeScores.apply(node_emb, ends, bias, score, score_bias, batch)
        as_source, as_target = (node_emb @ ends.t()).chunk(2, 1)
        hidden = (rows(as_source, batch.col) + rows(as_target, batch.target) + bias).relu()
        return hidden @ score[0] + score_bias


class _EdgeScores(torch.autograd.Function):
    """Nothing per edge is stored; the backward pass adds the two shares of each edge again."""

    @staticmethod
    def forward(
        ctx: Any, node_emb: Tensor, ends: Tensor, bias: Tensor, score: Tensor, score_bias: Tensor, batch: GraphBatch
    ) -> Tensor:
        # A row has the node's share as a source, then as a target.
        shares = torch.addmm(torch.cat((torch.zeros_like(bias), bias)), node_emb, ends.t())
        scores = torch.empty(batch.num_edges)
        _score(*_place(shares, batch), *addresses(score, scores))
        ctx.batch = batch
        ctx.save_for_backward(node_emb, ends, score, shares)
        return scores.add_(score_bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        node_emb, ends, score, shares = ctx.saved_tensors
        grad = grad.contiguous()
        passed, of_score = torch.zeros_like(shares), torch.zeros_like(score)
        _score_backward(*_place(shares, ctx.batch), *addresses(grad, passed, of_score))
        # `score` is the same for all edges: it comes in where sums over edges are multiplied.
        twice = score.repeat(1, 2).t()
        of_node_emb = passed @ (ends * twice) if ctx.needs_input_grad[0] else None
        of_ends = (passed.t() @ node_emb).mul_(twice)
        of_bias = passed[:, score.shape[1] :].sum(0).mul_(score[0])
        return of_node_emb, of_ends, of_bias, of_score, grad.sum().unsqueeze(0), None


def _place(shares: Tensor, batch: GraphBatch) -> tuple[int, ...]:
    """The arguments of both loops: shares and edges."""
    return *addresses(shares, batch.crow, batch.col), len(shares), shares.shape[1] // 2


@compiled
def _score(
    shares_at: int, crow_at: int, col_at: int, num_nodes: int, width: int, score_at: int, scores_at: int
) -> None:
    shares, crow = floats(shares_at, (num_nodes, 2, width)), ints(crow_at, (num_nodes + 1,))
    col, scores = ints(col_at, (crow[num_nodes],)), floats(scores_at, (crow[num_nodes],))
    score = floats(score_at, (width,))
    for i in range(num_nodes):
        for e in range(crow[i], crow[i + 1]):
            source: Any = np.uint64(col[e])
            total = np.float32(0)
            for j in range(width):
                hidden = shares[source, 0, j] + shares[i, 1, j]
                total += score[j] * (np.float32(0) if hidden <= 0 else hidden)
            scores[e] = total


@compiled
def _score_backward(
    shares_at: int, crow_at: int, col_at: int, num_nodes: int, width: int, grad_at: int, passed_at: int, score_at: int
) -> None:
    """`passed` sums, for each share of each node, the gradients of the edges whose relu lets through."""
    shares, crow = floats(shares_at, (num_nodes, 2, width)), ints(crow_at, (num_nodes + 1,))
    col, grad = ints(col_at, (crow[num_nodes],)), floats(grad_at, (crow[num_nodes],))
    passed, of_score = floats(passed_at, (num_nodes, 2, width)), floats(score_at, (width,))
    part, as_target = np.zeros(width, np.float32), np.zeros(width, np.float32)
    for i in range(num_nodes):
        for e in range(crow[i], crow[i + 1]):
            source: Any = np.uint64(col[e])
            slope = grad[e]
            # Two loops, because the compiler gives up if too many arrays might overlap.
            for j in range(width):
                hidden = shares[source, 0, j] + shares[i, 1, j]
                through = np.float32(0) if hidden <= 0 else slope
                part[j] += through * hidden
                as_target[j] += through
            for j in range(width):
                hidden = shares[source, 0, j] + shares[i, 1, j]
                passed[source, 0, j] += np.float32(0) if hidden <= 0 else slope
        for j in range(width):
            passed[i, 1, j] = as_target[j]
            as_target[j] = 0
        # A sum of sums: one long sum in 32 bits would lose digits.
        if i % RUN == RUN - 1 or i == num_nodes - 1:
            for j in range(width):
                of_score[j] += part[j]
                part[j] = 0
