"""GraphMAE: rebuild the categories of hidden nodes from the codes of the others (Hou et al. 2022)."""

from __future__ import annotations

from dataclasses import replace

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.schema import Features, FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.dense import Dense
from adgcl.graphs.kernels.ops import rows
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View
from adgcl.methods.base import METHODS, Metrics, switch
from adgcl.methods.masking import Masked, Masking, MaskingConfig
from adgcl.objectives.cosine_error import cosine_error


class GraphMAEConfig(MaskingConfig):
    """Settings of GraphMAE; the defaults are those of its authors' code for molecules."""

    name: str = "graphmae"
    mask_rate: float = Field(
        0.25, ge=0.0, lt=1.0, description="share of nodes to hide; one more than this share, rounded down, is hidden"
    )
    gamma: float = Field(1.0, ge=1.0, description="power of the cosine error; above 1 easy nodes count less")


@METHODS.register("graphmae")
class GraphMAE(Masking):
    """`min over encoder, decoder of mean (1 - cos(decoder(codes)_i, category_i))^gamma` over the hidden nodes i.

    The decoder is one layer of the encoder's own kind, on the same graphs, whose nodes now carry the encoder's rows.
    Those of hidden nodes are hidden again, behind a learned row: their neighbours alone tell what they are.

    Deviation: the authors' code for molecules has zeros in place of the learned row, which their paper describes. Their
    layer ends in the categories; ours ends in a row as wide as the encoder's, and a linear map takes it to them.
    """

    Config = GraphMAEConfig
    title = "GraphMAE"
    config: GraphMAEConfig

    def __init__(self, config: GraphMAEConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        # One layer has nothing after it that would want normal rows.
        one_layer = {"num_layers": 1, "layers": "last", "batch_norm": False, "dropout": 0.0}
        carried = FeatureSpec(Features(num_dim=self.encoder.node_dim), spec.edge)
        self.activation = nn.PReLU()
        self.decoder = make_encoder(self.encoder.config.model_copy(update=one_layer), carried)
        self.head = Dense(self.decoder.node_dim, self.num_categories)

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        masked = self.mask(batch, generator)
        rebuilt = self._decoded(self.states(masked), masked)
        loss = cosine_error(self.head(rows(rebuilt, masked.nodes)), masked.codes, self.config.gamma)
        self.update(loss, "encoder")
        return {"loss": loss.detach()}

    def _decoded(self, node_emb: Tensor, masked: Masked) -> Tensor:
        switch(self.decoder, training=True)
        graphs = replace(masked.batch, x=None, x_num=self.activation(node_emb))
        return self.decoder(graphs, View(feature_keep=1.0 - masked.hidden.float())).node_emb
