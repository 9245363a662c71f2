"""Learnable edge dropping: a GNN that says of every edge how likely it is kept (Eq. 7 of the paper)."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.augmentations.base import AUGMENTATIONS, Augmentation, Augmented
from adgcl.augmentations.gates import logistic_noise, relaxed_bernoulli
from adgcl.core.config import Config
from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import initialise
from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.ops import edge_scores, graph_mean_of_edges, rows
from adgcl.graphs.view import View


class GateConfig(Config):
    """How keep weights are drawn from logits."""

    temperature: float = Field(1.0, gt=0.0, le=10.0, description="softness of the keep weights; the authors fix 1")
    hard: bool = Field(False, description="round weights to 0 or 1, gradient straight through")
    tied: bool = Field(False, description="keep or drop both directions of an edge together")
    mlp_dim: int = Field(64, ge=1, description="width of the network that scores an edge")


@AUGMENTATIONS.register("edge_drop")
class EdgeDrop(Augmentation):
    """An encoder of its own, and an MLP on the two ends of each edge: `edge_logits` are for keeping.

    `p_e = sigmoid((logit_e + noise) / temperature)` with `logit_e = mlp([h_source, h_target])`.
    """

    def __init__(self, encoder: EncoderConfig, gate: GateConfig, spec: FeatureSpec) -> None:
        super().__init__()
        self.gate = gate
        self.encoder = make_encoder(encoder.model_copy(update={"layers": "last"}), spec)
        # The first layer of the edge MLP, split in its two halves: it is applied per node, not per edge.
        self.from_source = nn.Linear(self.encoder.node_dim, gate.mlp_dim)
        self.from_target = nn.Linear(self.encoder.node_dim, gate.mlp_dim, bias=False)
        self.score = nn.Linear(gate.mlp_dim, 1)
        initialise(self)
        self._initialise_halves()

    def edge_logits(self, batch: GraphBatch) -> Tensor:
        """How much the augmenter wants to keep each edge."""
        node_emb = self.encoder(batch).node_emb
        ends = self.from_source(node_emb), self.from_target(node_emb)
        logits = edge_scores(*ends, self.score.weight[0], batch) + self.score.bias
        if self.gate.tied and batch.reverse is not None:
            logits = (logits + rows(logits, batch.reverse)) / 2
        return logits

    def forward(self, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        noise = self._noise(batch, generator)
        edge_keep = relaxed_bernoulli(self.edge_logits(batch), noise, self.gate.temperature, self.gate.hard)
        return Augmented(View(edge_keep=edge_keep), drop_ratio(edge_keep, batch))

    def _noise(self, batch: GraphBatch, generator: torch.Generator) -> Tensor:
        noise = logistic_noise(batch.num_edges, generator)
        if self.gate.tied and batch.reverse is not None:
            first = torch.minimum(batch.reverse, torch.arange(batch.num_edges, device=batch.device))
            noise = rows(noise, first)
        return noise

    def _initialise_halves(self) -> None:
        """Xavier bounds of the joined matrix, not of its halves."""
        bound = (6 / (2 * self.encoder.node_dim + self.gate.mlp_dim)) ** 0.5
        for half in (self.from_source, self.from_target):
            nn.init.uniform_(half.weight, -bound, bound)


def drop_ratio(edge_keep: Tensor, batch: GraphBatch) -> Tensor:
    """The regulariser: mean over graphs of the mean of `1 - edge_keep`; edgeless graphs are left out."""
    ratio, has_edges = graph_mean_of_edges(1 - edge_keep, batch)
    return ratio.sum() / has_edges.sum().clamp(min=1)
