"""Learnable node dropping: a GNN that predicts how likely each node stays in the graph."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.augmentations.base import AUGMENTATIONS, Augmented, mean_over_graphs
from adgcl.augmentations.gates import logistic_noise
from adgcl.augmentations.learnable import NodeScores
from adgcl.graphs.kernels.ops import graph_max, rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View


@AUGMENTATIONS.register("node_drop")
class NodeDrop(NodeScores):
    """`p_i = sigmoid((logit_i + noise) / temperature)` weights node i; the regulariser is the mean of `1 - p`.

    With hard weights, a graph that would lose all its nodes keeps the most likely one: an empty graph has no embedding.
    """

    def draw(self, node_emb: Tensor, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        noise = batch.drawn("nodes", lambda count: logistic_noise(count, generator))
        logits = self.node_logits(node_emb)
        node_keep = self.gated(logits, noise)
        if self.gate.hard:
            node_keep = one_left(node_keep, logits.detach() + noise, batch)
        return Augmented(View(node_keep=node_keep), mean_over_graphs(1 - node_keep, batch.batch, batch.num_graphs))


def one_left(node_keep: Tensor, scores: Tensor, batch: GraphBatch) -> Tensor:
    """The same weights, but 1 for the highest score of a graph whose weights are all 0; gradients stay as they are."""
    most = rows(graph_max(torch.stack((node_keep.detach(), scores), 1), batch), batch.batch)
    saved = (most[:, 0] == 0) & (most[:, 1] == scores)
    return node_keep + saved.to(node_keep.dtype)
