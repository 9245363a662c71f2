"""RU-GIN: the encoder as it was initialised, the floor under every table."""

from __future__ import annotations

import torch

from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import initialise
from adgcl.graphs.batch import GraphBatch
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics


class RandomInitConfig(MethodConfig):
    """An untrained encoder has no settings."""

    name: str = "random_init"


@METHODS.register("random_init")
class RandomInit(Method):
    """An encoder that never learns."""

    Config = RandomInitConfig
    title = "RU-GIN (untrained)"
    trains = False

    def __init__(self, config: RandomInitConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        initialise(self)

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        return {}
