"""Learnable feature masking: a GNN that predicts how likely each node's features stay visible."""

from __future__ import annotations

import torch
from torch import Tensor

from adgcl.augmentations.base import AUGMENTATIONS, Augmented, mean_over_graphs
from adgcl.augmentations.gates import logistic_noise
from adgcl.augmentations.learnable import NodeScores
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View


@AUGMENTATIONS.register("feature_mask")
class FeatureMask(NodeScores):
    """`p_i = sigmoid((logit_i + noise) / temperature)` fades the features of node i to a mask that the encoder learns.

    The node keeps its edges. The regulariser is the mean of `1 - p`.
    """

    def draw(self, node_emb: Tensor, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        noise = batch.drawn("nodes", lambda count: logistic_noise(count, generator))
        keep = self.gated(self.node_logits(node_emb), noise)
        return Augmented(View(feature_keep=keep), mean_over_graphs(1 - keep, batch.batch, batch.num_graphs))
