"""GraphMAE: rebuild the categories of hidden nodes from the codes of the others (Hou et al. 2022)."""

from __future__ import annotations

from typing import cast

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.dense import Dense
from adgcl.encoders.stack import Stack
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Metrics
from adgcl.methods.masking import Masked, Masking, MaskingConfig
from adgcl.objectives.cosine_error import cosine_error


class GraphMAEConfig(MaskingConfig):
    """Settings of GraphMAE; the defaults are those of its authors' code for molecules."""

    name: str = "graphmae"
    mask_rate: float = Field(
        0.25, ge=0.0, lt=1.0, description="share of nodes to hide; one more than this share, rounded down, is hidden"
    )
    gamma: float = Field(
        1.0,
        ge=1.0,
        description="power of the cosine error; above 1 easy nodes count less",
        json_schema_extra=searched(1.0, 4.0),
    )


@METHODS.register("graphmae")
class GraphMAE(Masking):
    """`min over encoder, decoder of mean (1 - cos(decoder(codes)_i, category_i))^gamma` over the hidden nodes i.

    The codes are the encoder's rows; those of hidden nodes are set to 0, so that only their neighbours reveal what
    they are. The decoder is a linear map, one layer of the encoder's own kind, and a linear map to the categories.

    Deviation: in the authors' code the layer itself outputs the categories, without the last map.
    """

    Config = GraphMAEConfig
    title = "GraphMAE"
    config: GraphMAEConfig

    def __init__(self, config: GraphMAEConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        # Nothing after this single layer needs normalised rows.
        one_layer = {"num_layers": 1, "layers": "last", "batch_norm": False, "dropout": 0.0}
        self.decoder = make_encoder(self.encoder.config.model_copy(update=one_layer), spec)
        self.activation = nn.PReLU()
        self.to_decoder = Dense(self.encoder.node_dim, cast(int, self.decoder.inputs.width), bias=False)
        # Its rows come from the encoder, not from node features.
        self.decoder.inputs = nn.Identity()
        self.head = Dense(self.decoder.node_dim, self.num_categories)

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        masked = self.mask(batch, generator)
        rebuilt = self._decoded(self.states(masked), masked)
        loss = cosine_error(self.head(rows(rebuilt, masked.nodes)), masked.codes, self.config.gamma)
        self.update(loss, "encoder")
        return {"loss": loss.detach()}

    def _decoded(self, node_emb: Tensor, masked: Masked) -> Tensor:
        """The decoder's rows of all nodes."""
        codes = self.to_decoder(self.activation(node_emb)).masked_fill(masked.hidden.unsqueeze(1), 0.0)
        edges = self.decoder.edge_inputs(masked.batch)
        return self.decoder.states(codes, masked.batch, Stack((None,), (None,)), edges)[-1]
