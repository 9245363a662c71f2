"""SS-GCN-A: labelled graphs and augmented copies of them, which keep the labels (You et al. 2020)."""

from __future__ import annotations

import torch
from pydantic import Field, field_validator
from torch import Tensor

from adgcl.augmentations.random_base import RandomConfig
from adgcl.augmentations.random_choice import RandomChoice, checked_pool
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig
from adgcl.graphs.kernels.induced import induced
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS
from adgcl.methods.supervised import Supervised, SupervisedConfig


class SSGCNAConfig(RandomConfig, SupervisedConfig):
    """Settings of the supervised encoder, and how copies of labelled graphs are changed."""

    name: str = "ss_gcn_a"
    ratio: float = Field(
        0.2,
        ge=0.0,
        lt=1.0,
        description="share of nodes dropped, edges perturbed or nodes masked",
        json_schema_extra=searched(0.05, 0.4),
    )
    subgraph_ratio: float = Field(0.8, gt=0.0, le=1.0, description="share of nodes that a subgraph keeps")
    pool: tuple[str, ...] = Field(
        ("random_node_drop", "random_subgraph"), description="augmentations to pick from, separately for each graph"
    )

    _pool = field_validator("pool")(checked_pool)


@METHODS.register("ss_gcn_a")
class SSGCNA(Supervised):
    """`min over encoder, W, b of (loss(G, y) + loss(t(G), y)) / 2`, with `t` uniform over a pool, drawn in every step.

    Deviation: there is no published code for it; that a copy counts as much as its original is our reading.
    """

    Config = SSGCNAConfig
    title = "SS-GCN-A"
    config: SSGCNAConfig

    def __init__(self, config: SSGCNAConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.augmenter = RandomChoice(config.pool, config)

    def label_loss(self, batch: GraphBatch, y: Tensor, generator: torch.Generator) -> Tensor:
        original = super().label_loss(batch, y, generator)
        copies = self.outputs(*induced(batch, self.augmenter(batch, generator).view))
        return (original + self.outputs_loss(copies, y)) / 2
