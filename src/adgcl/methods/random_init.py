"""RU-GIN: the encoder as it was initialised, the baseline of every table."""

from __future__ import annotations

import torch
from pydantic import Field

from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics


class RandomInitConfig(MethodConfig):
    """Settings of the untrained encoder."""

    name: str = "random_init"
    statistics: bool = Field(
        False, description="let the normalisation see the data once (one epoch), without any learning"
    )


@METHODS.register("random_init")
class RandomInit(Method):
    """An encoder that never learns.

    Most published figures of the linear probe match an encoder whose normalisation has never seen the data either; with
    `statistics` it has.
    """

    Config = RandomInitConfig
    title = "RU-GIN"
    config: RandomInitConfig

    def __init__(self, config: RandomInitConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        self.trains = config.statistics
        initialise(self)

    @torch.no_grad()
    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        if self.config.statistics:
            self.encoder.train()
            self.encoder(batch)
        return {}
