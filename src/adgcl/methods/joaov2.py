"""JOAOv2: JOAO with a projection head for every augmentation (You et al. 2021)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig
from adgcl.encoders.heads import ProjectionHead
from adgcl.graphs.store.batch import GraphBatch
from adgcl.methods.base import METHODS, Metrics
from adgcl.methods.joao import JOAO, JOAOConfig

_UNDRAWN = -1


class JOAOv2Config(JOAOConfig):
    """Settings of JOAOv2."""

    name: str = "joaov2"
    head_per: Literal["graph", "epoch"] = Field(
        "graph",
        description="for each graph its augmentation's head, or one head for all Views of an epoch (the authors' code)",
    )


@METHODS.register("joaov2")
class JOAOv2(JOAO):
    """JOAO whose Views go through one of several projection heads, `z = head_k(graph_emb)`.

    `head_per = "graph"` is the idea: the head belongs to the augmentation that changed the graph, and the original
    graph goes through that of `identity`. `head_per = "epoch"` is the authors' unsupervised code: graphs are augmented
    one by one as in JOAO, but the head of all Views is drawn from `q` once per epoch; the originals, and everything
    when losses are estimated, go through the first head.
    """

    Config = JOAOv2Config
    title = "JOAOv2"
    unlike_published_transfer = JOAO.unlike_published_transfer.replace("JOAO", "JOAOv2")
    config: JOAOv2Config
    head: nn.ModuleList
    drawn_head: Tensor

    def __init__(self, config: JOAOv2Config, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.register_buffer("drawn_head", torch.tensor(_UNDRAWN))

    def make_head(self) -> nn.Module:
        return nn.ModuleList(ProjectionHead(self.encoder.graph_dim) for _ in self.config.pool)

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        self.draw_head(generator)
        return super().step(batch, generator)

    def draw_head(self, generator: torch.Generator) -> None:
        """Draw the head of the epoch, if that is still to be done."""
        if self.drawn_head == _UNDRAWN:
            self.drawn_head.copy_(torch.multinomial(self.q, 1, generator=generator)[0])

    def choice_loss(self, graph_emb: Tensor, view_emb: Tensor, choice: Tensor, estimating: bool = False) -> Tensor:
        if self.config.head_per == "epoch":
            drawn = 0 if estimating else int(self.drawn_head)
            return self.contrast(self.head[0](graph_emb), self.head[drawn](view_emb))
        z_view = torch.stack([head(view_emb) for head in self.head])
        every_graph = torch.arange(len(choice), device=choice.device)
        return self.contrast(self.head[self.original](graph_emb), z_view[choice, every_graph])

    @property
    def original(self) -> int:
        """The head of graphs that nothing changed."""
        return self.config.pool.index("identity") if "identity" in self.config.pool else 0

    def end_epoch(self) -> None:
        super().end_epoch()
        self.drawn_head.fill_(_UNDRAWN)
