"""GAE: nodes that are joined get rows with a large inner product, all other pairs do not (Kipf and Welling 2016)."""

from __future__ import annotations

import torch
from pydantic import Field
from torch.optim import Optimizer

from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, switch
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.adjacency import adjacency_loss
from adgcl.parallel.collectives import average_count


class GAEConfig(MethodConfig):
    """Settings of GAE."""

    name: str = "gae"
    lr: float = Field(1e-3, gt=0.0, description="learning rate", json_schema_extra=searched(1e-4, 1e-2, log=True))


@METHODS.register("gae")
class GAE(Method):
    """`min over encoder of the cross-entropy of sigmoid(<h_i, h_j>)` against the adjacency of every graph.

    All pairs of different nodes count, unlike in EdgePred, which draws as many non-edges as there are edges. Layers
    after the readout, if the encoder has any, learn nothing here.
    """

    Config = GAEConfig
    title = "GAE"
    parallel = True
    config: GAEConfig

    def __init__(self, config: GAEConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        initialise(self)

    def make_optimizers(self) -> dict[str, Optimizer]:
        return {"encoder": PlayerAdam(self.parameters(), self.config.lr)}

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        if not average_count(int((batch.node_counts > 1).sum())):
            # No pairs, nothing to learn: neither the normalisation nor Adam's averages may change.
            return {"loss": torch.zeros((), device=batch.device)}
        switch(self.encoder, training=True)
        loss = adjacency_loss(self.encoder.node_emb(batch), batch)
        self.update(loss, "encoder")
        return {"loss": loss.detach()}
