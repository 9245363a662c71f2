"""NAD-GCL: AD-GCL without its adversary; edges are dropped uniformly at random."""

from __future__ import annotations

import torch
from pydantic import Field

from adgcl.augmentations.random_base import RandomConfig
from adgcl.augmentations.random_edges import RandomEdgeDrop
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Metrics
from adgcl.methods.contrastive import Contrastive, ContrastiveConfig


class NADGCLConfig(ContrastiveConfig):
    """Settings of NAD-GCL."""

    name: str = "nadgcl"
    drop_ratio: float = Field(
        0.2,
        ge=0.0,
        lt=1.0,
        description="share of each graph's edges that is dropped",
        json_schema_extra=searched(0.05, 0.6),
    )
    tied: bool = Field(False, description="drop both directions of an edge together")


@METHODS.register("nadgcl")
class NADGCL(Contrastive):
    """`min over encoder of InfoNCE(G, t(G))` where `t` drops `floor(drop_ratio * E)` edges of each graph, uniformly."""

    Config = NADGCLConfig
    title = "NAD-GCL"
    config: NADGCLConfig

    def __init__(self, config: NADGCLConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.augmenter = RandomEdgeDrop(RandomConfig(ratio=config.drop_ratio, tied=config.tied))

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        view, drop_ratio = self.augmenter(batch, generator)
        loss = self.loss(*self.embed_pair(batch, view))
        return {**self.learn(loss), "drop_ratio": drop_ratio}
