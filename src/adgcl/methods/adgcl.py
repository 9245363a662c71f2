"""AD-GCL: an encoder learns to recognise a graph from a copy that an augmenter learns to spoil (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from adgcl.core.ranges import searched
from adgcl.core.schema import FeatureSpec, Task
from adgcl.encoders.base import EncoderConfig, make_encoder
from adgcl.encoders.heads import ProjectionHead, initialise
from adgcl.graphs.store.batch import GraphBatch
from adgcl.graphs.store.view import View, combined
from adgcl.methods.base import METHODS, Method, MethodConfig, Metrics, frozen, switch
from adgcl.methods.drop_budget import DropBudget
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
        5.0,
        ge=0.0,
        description="price of dropping edges, or of any other change (lambda_reg, Eq. 8)",
        json_schema_extra=searched(0.1, 10.0, log=True),
    )
    reg_weights: dict[str, Annotated[float, Field(ge=0.0)]] = Field(
        {}, description="price of individual augmentations in units of reg_lambda; 1 by default"
    )
    drop_budget: float | None = Field(
        None,
        gt=0.0,
        lt=1.0,
        description="share of a graph to drop on average; lambda starts at reg_lambda and moves until this is met",
        json_schema_extra=searched(0.1, 0.9),
    )
    budget_rate: float = Field(0.06, gt=0.0, description="how fast lambda moves when a drop budget is missed")
    temperature: float = Field(
        0.2,
        ge=0.005,
        description="temperature of the contrastive loss",
        json_schema_extra=searched(0.05, 1.0, log=True),
    )
    directions: Directions = Field("both", description="contrast rows only, or rows and columns")
    update: Literal["alternating", "simultaneous"] = Field(
        "alternating", description="two passes a step (the authors' code) or one with gradient reversal (Algorithm 1)"
    )
    encoder_lr: float = Field(
        1e-3,
        gt=0.0,
        description="learning rate of encoder and projection head",
        json_schema_extra=searched(1e-4, 1e-2, log=True),
    )
    augmenter_lr: float = Field(
        1e-3,
        gt=0.0,
        description="learning rate of the augmenter",
        json_schema_extra=searched(1e-4, 1e-2, log=True),
    )
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

    @property
    def idle(self) -> frozenset[str]:
        return frozenset() if self.drop_budget is None else frozenset({"reg_lambda"})


@METHODS.register("adgcl")
class ADGCL(Method):
    """`min over encoder, max over augmenter of InfoNCE(G, t(G)) - reg_lambda * drop_ratio` (Eq. 8).

    Beyond the paper, `t` may also drop nodes, mask features and add edges. Each has its own regulariser, the mean
    share of a graph that it changes; the augmenter pays `reg_lambda` times the sum of `reg_weights` times these. With
    a `drop_budget` this sum is what meets the budget, and lambda is whatever that takes.
    """

    Config = ADGCLConfig
    title = "AD-GCL"
    parallel = True
    config: ADGCLConfig

    def __init__(self, config: ADGCLConfig, encoder: EncoderConfig, spec: FeatureSpec, task: Task) -> None:
        super().__init__(config, encoder, spec, task)
        self.encoder = make_encoder(encoder, spec)
        self.head = ProjectionHead(self.encoder.graph_dim)
        initialise(self)
        self.augmenter = make_augmenter(config.augmentations, encoder, config.gate, spec)
        self.weights = [config.reg_weights.get(name, 1.0) for name in config.augmentations]
        self.budget: DropBudget | None = None
        if config.drop_budget is not None:
            self.budget = DropBudget(config.drop_budget, config.reg_lambda, config.budget_rate)

    @classmethod
    def kept(cls, config: MethodConfig) -> tuple[str, ...]:
        assert isinstance(config, ADGCLConfig)
        held = () if config.drop_budget is None else ("reg_lambda",)
        return ("loss", *_ratio_names(config), *held)

    @classmethod
    def advice(cls, config: MethodConfig, row: Mapping[str, Any]) -> str:
        assert isinstance(config, ADGCLConfig)
        ratios = [float(row[name]) for name in _ratio_names(config) if name in row]
        if not ratios or max(ratios) >= _GIVEN_UP or config.drop_budget is not None:
            return ""
        return (
            f"The augmenter has stopped changing graphs (drop ratio {max(ratios):.3f}): from here on there is no "
            f"adversary. Make dropping cheaper with --set reg_lambda={config.reg_lambda / 5:g} or lower, or say how "
            "much it is to drop with --set drop_budget=0.3."
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
        change = self.change(ratios)
        shares = {name: ratio.detach() for name, ratio in zip(_ratio_names(self.config), ratios)}
        return combined(views), self.price(change) * change, shares

    def change(self, ratios: Sequence[Tensor]) -> Tensor:
        """What the augmenter pays for: the shares that its augmentations change, weighted and added up."""
        return reduce(add, (weight * ratio for weight, ratio in zip(self.weights, ratios)))

    def price(self, change: Tensor) -> Tensor | float:
        """What the augmenter pays for each unit of `change`."""
        return self.config.reg_lambda if self.budget is None else self.budget.price(change)

    def balance(self, ratios: Metrics) -> Metrics:
        """Move lambda after a step that changed these shares, where a budget is to be held; what there is to show."""
        if self.budget is None:
            return ratios
        self.budget.move(self.change(list(ratios.values())))
        return {**ratios, "reg_lambda": self.budget.reg_lambda.clone()}

    def _augmenter_step(self, batch: GraphBatch, generator: torch.Generator) -> Metrics:
        """The augmenter makes the pair hard to match; the encoder is frozen, in evaluation mode."""
        switch(self.augmenter, training=True)
        switch(self.encoder, training=False)
        with frozen(self.optimizers["encoder"]):
            view, price, ratios = self._draw(batch, generator)
            loss = self._loss(*self.project_pair(batch, view))
            self.update(price - loss, "augmenter")
        return self.balance(ratios)

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
        return {"loss": loss.detach(), **self.balance(ratios)}


def _ratio_names(config: ADGCLConfig) -> list[str]:
    """The names of the metrics for the shares that augmentations change."""
    return ["drop_ratio" if name == "edge_drop" else f"{name}_ratio" for name in config.augmentations]
