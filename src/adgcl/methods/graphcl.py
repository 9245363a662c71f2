"""GraphCL: recognise a graph from a copy changed by an augmentation picked at random (You et al. 2020)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field, field_validator

from adgcl.augmentations.random_base import RandomConfig
from adgcl.augmentations.random_choice import RandomChoice, checked_pool
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Metrics
from adgcl.methods.contrastive import Contrastive, ContrastiveConfig


class GraphCLConfig(RandomConfig, ContrastiveConfig):
    """Settings of GraphCL; the defaults are those of its unsupervised experiments ("random2"), with a real walk."""

    name: str = "graphcl"
    pool: tuple[str, ...] = Field(
        ("random_node_drop", "random_subgraph"), description="augmentations to pick from, separately for each graph"
    )
    views: Literal["one", "two"] = Field(
        "one", description="compare a graph with one augmented copy of it, or two such copies with each other"
    )

    _pool = field_validator("pool")(checked_pool)


@METHODS.register("graphcl")
class GraphCL(Contrastive):
    """`min over encoder of InfoNCE(G, t(G))`, or of `InfoNCE(t(G), t'(G))`, with `t` uniform over a pool."""

    Config = GraphCLConfig
    title = "GraphCL"
    config: GraphCLConfig

    def __init__(self, config: GraphCLConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.augmenter = RandomChoice(config.pool, config)

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        view, drop_ratio = self.augmenter(batch, generator)
        if self.config.views == "one":
            pair = self.embed_pair(batch, view)
        else:
            other = self.augmenter(batch, generator).view
            pair = self.embed_view(batch, other), self.embed_view(batch, view)
        return {**self.learn(self.loss(*pair)), "drop_ratio": drop_ratio}
