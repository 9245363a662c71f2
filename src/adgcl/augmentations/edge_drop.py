"""Learnable edge dropping: a GNN that predicts how likely each edge is kept (Eq. 7 of the paper)."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.augmentations.base import AUGMENTATIONS, Augmented
from adgcl.augmentations.gates import logistic_noise
from adgcl.augmentations.learnable import EdgeScores
from adgcl.graphs.kernels.edge_scores import edge_scores
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View


@AUGMENTATIONS.register("edge_drop")
class EdgeDrop(EdgeScores):
    """Its own encoder, and an MLP on the two ends of each edge: `edge_logits` are for keeping.

    `p_e = sigmoid((logit_e + noise) / temperature)` with `logit_e = mlp([h_source, h_target])`.
    """

    def edge_logits(self, batch: GraphBatch, node_emb: Tensor | None = None) -> Tensor:
        """How much the augmenter wants to keep each edge."""
        node_emb = self.node_emb(batch) if node_emb is None else node_emb
        logits = edge_scores(node_emb, self.ends.weight, self.bias, self.score.weight, self.score.bias, batch)
        if self.gate.tied and batch.reverse is not None:
            logits = (logits + rows(logits, batch.reverse)) / 2
        return logits

    def draw(self, node_emb: Tensor, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        edge_keep = self.gated(self.edge_logits(batch, node_emb), self.noise(batch, generator))
        return Augmented(View(edge_keep=edge_keep), drop_ratio(edge_keep, batch))

    def noise(self, batch: GraphBatch, generator: torch.Generator) -> Tensor:
        """Random noise for each edge, to be added to its logit."""
        noise = batch.drawn("edges", lambda count: logistic_noise(count, generator))
        if self.gate.tied and batch.reverse is not None:
            first = torch.minimum(batch.reverse, torch.arange(batch.num_edges, device=batch.device))
            noise = rows(noise, first)
        return noise


def drop_ratio(edge_keep: Tensor, batch: GraphBatch) -> Tensor:
    """The regulariser: mean over graphs of the mean of `1 - edge_keep`; edgeless graphs are left out."""
    return torch.dot(1 - edge_keep, batch.edge_share)
