"""Edge scores: a small network on the two ends of every edge, with its backward pass written by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.matrix import rows, weighted_rows
from adgcl.graphs.precision import wide_products


def edge_scores(
    node_emb: Tensor, ends: Tensor, bias: Tensor, score: Tensor, score_bias: Tensor, batch: GraphBatch
) -> Tensor:
    """`score . relu(W [h_source(e), h_target(e)] + bias) + score_bias` for every edge e.

    The upper half of the rows of `ends` is W's part for a source, the lower half that for a target: the product with W
    is taken once per node, not once per edge.
    """
    with wide_products(node_emb.device):
        return _EdgeScores.apply(node_emb.to(ends.dtype), ends, bias, score, score_bias, batch)


class _EdgeScores(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, node_emb: Tensor, ends: Tensor, bias: Tensor, score: Tensor, score_bias: Tensor, batch: GraphBatch
    ) -> Tensor:
        shares = torch.addmm(torch.cat((torch.zeros_like(bias), bias)), node_emb, ends.t())
        # The shares of a node stand one after the other: an edge adds up two rows.
        hidden = weighted_rows(shares.view(2 * len(shares), -1), *batch.end_pairs).relu_()
        ctx.batch = batch
        ctx.save_for_backward(node_emb, ends, score, hidden)
        # Not addmv: it would give edgeless graphs an edge, the bias.
        return (hidden @ score[0]).add_(score_bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        node_emb, ends, score, hidden = ctx.saved_tensors
        batch: GraphBatch = ctx.batch
        grad = grad.contiguous()
        # Where the relu lets through; `score` is the same for all edges and comes in when they are summed.
        through = hidden.sign()
        crow, _, position = batch.transposed
        in_order = torch.arange(batch.num_edges, device=grad.device)
        as_source = weighted_rows(through, crow[:-1], position, rows(grad, position))
        as_target = weighted_rows(through, batch.crow[:-1], in_order, grad)
        of_shares = torch.stack((as_source, as_target), 1).mul_(score).view(len(node_emb), -1)
        of_bias = of_shares[:, score.shape[1] :].sum(0)
        of_node_emb = of_shares @ ends if ctx.needs_input_grad[0] else None
        of_score, of_score_bias = (grad @ hidden).unsqueeze(0), grad.sum().unsqueeze(0)
        return of_node_emb, of_shares.t() @ node_emb, of_bias, of_score, of_score_bias, None
