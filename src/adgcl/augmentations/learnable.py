"""Learnable augmentations: an encoder, a small network on its rows that scores nodes or edges, and a gate."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from adgcl.augmentations.base import Augmentation, Augmented
from adgcl.augmentations.gates import GateConfig, relaxed_bernoulli
from adgcl.core.schema import FeatureSpec
from adgcl.encoders.base import Encoder, EncoderConfig, make_encoder
from adgcl.encoders.heads import initialise
from adgcl.graphs.store.batch import GraphBatch


class Learnable(Augmentation):
    """A subclass adds its network in `__init__` and draws a View from node rows in `draw`.

    On its own it has its own encoder; as a `guest` it has none and uses the rows of a Mixture's shared encoder.
    """

    encoder: Encoder | None

    def __init__(self, encoder: EncoderConfig, gate: GateConfig, spec: FeatureSpec, guest: bool = False) -> None:
        super().__init__()
        self.gate, self.width = gate, encoder.hidden_dim
        self.encoder = None if guest else make_trunk(encoder, spec)

    def draw(self, node_emb: Tensor, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        """A View from the rows of an encoder."""
        raise TypeError(f"{type(self).__name__} must define draw")

    def node_emb(self, batch: GraphBatch) -> Tensor:
        """The rows of its own encoder."""
        assert self.encoder is not None
        return self.encoder.node_emb(batch)

    def forward(self, batch: GraphBatch, generator: torch.Generator) -> Augmented:
        return self.draw(self.node_emb(batch), batch, generator)

    def parts(self, batch: GraphBatch, generator: torch.Generator) -> list[Augmented]:
        """What each of its augmentations draws: here there is only one."""
        return [self(batch, generator)]

    def gated(self, logits: Tensor, noise: Tensor) -> Tensor:
        """Keep weights from logits and noise, as the gate's settings say."""
        return relaxed_bernoulli(logits, noise, self.gate.temperature, self.gate.hard)


class NodeScores(Learnable):
    """One logit per node: `logit_i = mlp(h_i)`."""

    def __init__(self, encoder: EncoderConfig, gate: GateConfig, spec: FeatureSpec, guest: bool = False) -> None:
        super().__init__(encoder, gate, spec, guest)
        self.first = nn.Linear(self.width, gate.mlp_dim)
        self.score = nn.Linear(gate.mlp_dim, 1)
        initialise(self)

    def node_logits(self, node_emb: Tensor) -> Tensor:
        """How much the augmenter wants to keep each node."""
        logits: Tensor = self.score(self.first(node_emb).relu())
        return logits.squeeze(1).float()


class EdgeScores(Learnable):
    """One logit per pair of nodes: `logit_e = mlp([h_source, h_target])`."""

    def __init__(self, encoder: EncoderConfig, gate: GateConfig, spec: FeatureSpec, guest: bool = False) -> None:
        super().__init__(encoder, gate, spec, guest)
        # The first layer of the edge MLP, with its halves for source and target concatenated, applied per node.
        self.ends = nn.Linear(self.width, 2 * gate.mlp_dim, bias=False)
        self.bias = nn.Parameter(torch.zeros(gate.mlp_dim))
        self.score = nn.Linear(gate.mlp_dim, 1)
        initialise(self)
        # Xavier bounds of the MLP's real first layer, which sees both ends of an edge.
        bound = (6 / (2 * self.width + gate.mlp_dim)) ** 0.5
        nn.init.uniform_(self.ends.weight, -bound, bound)


def make_trunk(encoder: EncoderConfig, spec: FeatureSpec) -> Encoder:
    """The encoder of an augmenter, whose scores use only the last layer."""
    return make_encoder(encoder.model_copy(update={"layers": "last"}), spec)
