"""An encoder by itself, as encoders are passed on: it embeds graphs, and other runs start from it."""

from __future__ import annotations

import torch

from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import Method, MethodConfig, Metrics


class EncoderAlone(Method):
    """What is left of a method once everything that was only needed for training is gone.

    It is not registered: `config` is still that of the method that trained the encoder.
    """

    trains = False

    def __init__(self, config: MethodConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        return {}
