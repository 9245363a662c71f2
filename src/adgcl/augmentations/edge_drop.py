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
from adgcl.graphs.ops import edge_scores, rows
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
        # The first layer of the edge MLP, its halves for source and target side by side, applied per node.
        self.ends = nn.Linear(self.encoder.node_dim, 2 * gate.mlp_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(gate.mlp_dim))
        self.score = nn.Linear(gate.mlp_dim, 1)
        initialise(self)
        # Xavier bounds of the MLP's real first layer, which sees both ends of an edge.
        bound = (6 / (2 * self.encoder.node_dim + gate.mlp_dim)) ** 0.5
        nn.init.uniform_(self.ends.weight, -bound, bound)

    def edge_logits(self, batch: GraphBatch) -> Tensor:
        """How much the augmenter wants to keep each edge."""
        ends = self.ends(self.encoder.node_emb(batch))
        logits = edge_scores(ends, self.bias, self.score.weight[0], batch) + self.score.bias
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


def drop_ratio(edge_keep: Tensor, batch: GraphBatch) -> Tensor:
    """The regulariser: mean over graphs of the mean of `1 - edge_keep`; edgeless graphs are left out."""
    return torch.dot(1 - edge_keep, batch.edge_share)
