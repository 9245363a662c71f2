"""AD-GCL: an encoder learns to recognise a graph from a copy that an augmenter learns to spoil (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Annotated, Any, Literal

import torch
from pydantic import Field, ValidationInfo, field_validator
from torch import Tensor, nn
from torch.optim import Optimizer

from adgcl.augmentations.gates import GateConfig
from adgcl.augmentations.mixture import checked_names, make_augmenter
from adgcl.augmentations.reversal import reversed_gradient
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import ProjectionHead, initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View, combined
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, frozen, switch
from adgcl.methods.optimizer import PlayerAdam
from adgcl.objectives.info_nce import Directions, info_nce

# Below this share of changed edges (or nodes) the augmenter no longer plays a part.
_GIVEN_UP = 0.01


class ADGCLConfig(MethodConfig):
    """Settings of AD-GCL; the defaults are AD-GCL-FIX as the authors run it."""

    name: str = "adgcl"
    augmentations: tuple[str, ...] = Field(
        ("edge_drop",),
        description="what the augmenter may do: edge_drop (the paper's), node_drop, feature_mask, edge_add",
    )
    reg_lambda: float = Field(
        5.0, ge=0.0, description="price of dropping edges, or of any other change (lambda_reg, Eq. 8)"
    )
    reg_weights: dict[str, Annotated[float, Field(ge=0.0)]] = Field(
        {}, description="price of individual augmentations in units of reg_lambda; 1 by default"
    )
    temperature: float = Field(0.2, ge=0.005, description="temperature of the contrastive loss")
    directions: Directions = Field("both", description="contrast rows only, or rows and columns")
    update: Literal["alternating", "simultaneous"] = Field(
        "alternating", description="two passes a step (the authors' code) or one with gradient reversal (Algorithm 1)"
    )
    encoder_lr: float = Field(1e-3, gt=0.0, description="learning rate of encoder and projection head")
    augmenter_lr: float = Field(1e-3, gt=0.0, description="learning rate of the augmenter")
    gate: GateConfig = Field(GateConfig(), description="how weights of edges and nodes are drawn")

    _known = field_validator("augmentations")(checked_names)

    @field_validator("augmentations", mode="before")
    @classmethod
    def _listed(cls, names: object) -> object:
        """`edge_drop,node_drop` is a list too: quotes are a nuisance on a command line."""
        return tuple(part.strip() for part in names.split(",")) if isinstance(names, str) else names

    @field_validator("reg_weights")
    @classmethod
    def _priced(cls, weights: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        for name in weights:
            if name not in info.data.get("augmentations", weights):
                raise ValueError(f"{name!r} has a price but is not among the augmentations")
        return weights


@METHODS.register("adgcl")
class ADGCL(Method):
    """`min over encoder, max over augmenter of InfoNCE(G, t(G)) - reg_lambda * drop_ratio` (Eq. 8).

    Beyond the paper, `t` may also drop nodes, mask features and add edges. Each has its own regulariser, the mean
    share of a graph that it changes; the augmenter pays `reg_lambda` times the sum of `reg_weights` times these.
    """

    Config = ADGCLConfig
    title = "AD-GCL"
    config: ADGCLConfig

    def __init__(self, config: ADGCLConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        self.head = ProjectionHead(self.encoder.graph_dim)
        initialise(self)
        self.augmenter = make_augmenter(config.augmentations, encoder, config.gate, spec)
        self.ratio_names = self.kept(config)[1:]
        self.prices = [config.reg_lambda * config.reg_weights.get(name, 1.0) for name in config.augmentations]

    @classmethod
    def kept(cls, config: MethodConfig) -> tuple[str, ...]:
        assert isinstance(config, ADGCLConfig)
        return ("loss", *map(_ratio_name, config.augmentations))

    @classmethod
    def advice(cls, config: MethodConfig, row: Mapping[str, Any]) -> str:
        assert isinstance(config, ADGCLConfig)
        ratios = [float(row[name]) for name in cls.kept(config)[1:] if name in row]
        if not ratios or max(ratios) >= _GIVEN_UP:
            return ""
        return (
            f"The augmenter has stopped changing graphs (drop ratio {max(ratios):.3f}): from here on there is no "
            f"adversary. Make dropping cheaper with --set reg_lambda={config.reg_lambda / 5:g} or lower."
        )

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

    def _draw(self, batch: GraphBatch, generator: torch.Generator) -> tuple[View, Tensor, Metrics]:
        """A View of the batch, what the augmenter pays for it, and the share that each augmentation changes."""
        views, ratios = zip(*self.augmenter.parts(batch, generator))
        price = reduce(add, (price * ratio for price, ratio in zip(self.prices, ratios)))
        return combined(views), price, {name: ratio.detach() for name, ratio in zip(self.ratio_names, ratios)}

    def _augmenter_step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """The augmenter makes the pair hard to match; the encoder is frozen, in evaluation mode."""
        switch(self.augmenter, training=True)
        switch(self.encoder, training=False)
        with frozen(self.optimizers["encoder"]):
            view, price, ratios = self._draw(batch, generator)
            loss = self._loss(*self.project_pair(batch, view))
            self.update(price - loss, "augmenter")
        return ratios

    def _encoder_step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """The encoder matches the pair again; the augmenter is frozen, with fresh noise."""
        switch(self.augmenter, training=False)
        switch(self.encoder, training=True)
        with torch.no_grad():
            view, _, _ = self._draw(batch, generator)
        loss = self._loss(*self.project_pair(batch, view))
        self.update(loss, "encoder")
        return {"loss": loss.detach()}

    def _simultaneous_step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """Both players from one sample and one backward pass."""
        switch(self.augmenter, training=True)
        switch(self.encoder, training=True)
        view, price, ratios = self._draw(batch, generator)
        loss = self._loss(*self.project_pair(batch, reversed_gradient(view)))
        self.update(loss + price, "encoder", "augmenter")
        return {"loss": loss.detach(), **ratios}


def _ratio_name(augmentation: str) -> str:
    """The name of the metric for the share that an augmentation changes."""
    return "drop_ratio" if augmentation == "edge_drop" else f"{augmentation}_ratio"
