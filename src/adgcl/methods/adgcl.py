"""AD-GCL: an encoder learns to recognise a graph from a copy that an augmenter learns to spoil (Algorithm 1)."""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.optim import Optimizer

from adgcl.augmentations.edge_drop import EdgeDrop, GateConfig
from adgcl.augmentations.reversal import reversed_gradient
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import ProjectionHead, initialise
from adgcl.graphs.batch import GraphBatch
from adgcl.graphs.view import View
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, frozen, switch
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.info_nce import Directions, info_nce


class ADGCLConfig(MethodConfig):
    """Settings of AD-GCL; the defaults are AD-GCL-FIX as the authors run it."""

    name: str = "adgcl"
    reg_lambda: float = Field(5.0, ge=0.0, description="price of dropping edges (lambda_reg, Eq. 8)")
    temperature: float = Field(0.2, gt=0.0, description="temperature of the contrastive loss")
    directions: Directions = Field("both", description="contrast rows only, or rows and columns")
    update: Literal["alternating", "simultaneous"] = Field(
        "alternating", description="two passes a step (the authors' code) or one with gradient reversal (Algorithm 1)"
    )
    encoder_lr: float = Field(1e-3, gt=0.0, description="learning rate of encoder and projection head")
    augmenter_lr: float = Field(1e-3, gt=0.0, description="learning rate of the augmenter")
    gate: GateConfig = Field(GateConfig(), description="how edges are dropped")


@METHODS.register("adgcl")
class ADGCL(Method):
    """`min over encoder, max over augmenter of InfoNCE(G, t(G)) - reg_lambda * drop_ratio` (Eq. 8)."""

    Config = ADGCLConfig
    title = "AD-GCL"
    config: ADGCLConfig

    def __init__(self, config: ADGCLConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        self.head = ProjectionHead(self.encoder.node_dim)
        initialise(self)
        self.augmenter = EdgeDrop(encoder, config.gate, spec)

    def make_optimizers(self) -> dict[str, Optimizer]:
        learner = nn.ModuleList([self.encoder, self.head])
        return {
            "encoder": PlayerAdam(learner.parameters(), self.config.encoder_lr),
            "augmenter": PlayerAdam(self.augmenter.parameters(), self.config.augmenter_lr),
        }

    def step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        if self.config.update == "simultaneous":
            return self._simultaneous_step(batch, generator)
        spoiling = self._augmenter_step(batch, generator)
        return {**self._encoder_step(batch, generator), **spoiling}

    def project(self, batch: GraphBatch, view: View | None = None) -> Tensor:
        """`z`: the projected embedding that the loss compares."""
        z: Tensor = self.head(self.encoder(batch, view).graph_emb)
        return z

    def project_pair(self, batch: GraphBatch, view: View) -> tuple[Tensor, Tensor]:
        """`z` of the graphs and of their View, from one pass."""
        z, z_view = self.head(self.encoder.stacked(batch, [View(), view]).graph_emb).chunk(2)
        return z, z_view

    def _loss(self, z: Tensor, z_view: Tensor) -> Tensor:
        return info_nce(z, z_view, self.config.temperature, self.config.directions)

    def _augmenter_step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """The augmenter makes the pair hard to match; the encoder stands still, in evaluation mode."""
        switch(self.augmenter, training=True)
        switch(self.encoder, training=False)
        with frozen(self.optimizers["encoder"]):
            with torch.no_grad():
                z = self.project(batch)
            view, drop_ratio = self.augmenter(batch, generator)
            loss = self._loss(z, self.project(batch, view))
            self.update(self.config.reg_lambda * drop_ratio - loss, "augmenter")
        return {"drop_ratio": drop_ratio.detach()}

    def _encoder_step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """The encoder matches the pair again; the augmenter stands still, with fresh noise."""
        switch(self.augmenter, training=False)
        switch(self.encoder, training=True)
        with torch.no_grad():
            view, _ = self.augmenter(batch, generator)
        loss = self._loss(*self.project_pair(batch, view))
        self.update(loss, "encoder")
        return {"loss": loss.detach()}

    def _simultaneous_step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """Both players from one sample and one backward pass."""
        switch(self.augmenter, training=True)
        switch(self.encoder, training=True)
        view, drop_ratio = self.augmenter(batch, generator)
        loss = self._loss(*self.project_pair(batch, reversed_gradient(view)))
        self.update(loss + self.config.reg_lambda * drop_ratio, "encoder", "augmenter")
        return {"loss": loss.detach(), "drop_ratio": drop_ratio.detach()}
